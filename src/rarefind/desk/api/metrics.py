"""What Prometheus reads of the decision process."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

# Seconds: the limit of a decision is 0.01.
_SECONDS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class Metrics:
    """The figures of one decision process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry, "namespace": "rarefind"}
        self.decisions = Counter(
            "decisions", "Transactions that were decided and stored.", ["decision"], **own
        )
        self.alerts = Counter("alerts", "Alerts raised.", ["kind"], **own)
        self.refused = Counter(
            "refused", "Requests and transactions that were not stored.", ["type"], **own
        )
        self.rule_errors = Gauge("rule_errors", "Times that a rule could not be run.", **own)
        self.model_errors = Gauge(
            "model_errors", "Transactions that the model could not score.", **own
        )
        self.labels_waiting = Gauge(
            "labels_waiting", "Labels that are found and not learnt yet.", **own
        )
        self.revision = Gauge("revision", "The revision of the settings in force.", **own)
        self.snapshot_age = Gauge(
            "snapshot_age_seconds", "Seconds since the last snapshot was made.", **own
        )
        self.waiting = Gauge("waiting", "Transactions that wait for their decision.", **own)
        self.sequence = Gauge("sequence", "The last arrival number in the ledger.", **own)
        self.ready = Gauge("ready", "1 when transactions are decided.", **own)
        self.seconds = Histogram(
            "decision_seconds",
            "From the arrival of a request to its answer, the commit included.",
            buckets=_SECONDS,
            **own,
        )
        self.batch = Histogram(
            "commit_transactions",
            "Transactions that were committed together.",
            buckets=(1, 2, 4, 8, 16, 32, 64),
            **own,
        )

    def response(self) -> Response:
        """The figures as Prometheus reads them."""
        return Response(
            generate_latest(self.registry), headers={"content-type": CONTENT_TYPE_LATEST}
        )

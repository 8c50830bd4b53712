"""What Prometheus reads of the web process."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class WebMetrics:
    """The figures of the web process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry, "namespace": "rarefind_web"}
        self.requests = Counter(
            "requests", "Requests that were answered.", ["method", "route", "status"], **own
        )
        self.seconds = Histogram("request_seconds", "From a request to its answer.", **own)
        self.queue = Gauge("queue_cases", "Cases to check now.", **own)
        self.waiting = Gauge("waiting_cases", "Cases beyond the budget.", **own)
        self.done = Gauge("done_cases", "Cases decided in this period.", **own)
        self.hits = Gauge("hits", "Cases of this period that were fraud.", **own)

    def response(self) -> Response:
        """The figures as Prometheus reads them."""
        return Response(
            generate_latest(self.registry), headers={"content-type": CONTENT_TYPE_LATEST}
        )


class Counted:
    """Counts the requests of an app by route, never by what strangers write in an address."""

    def __init__(self, app: ASGIApp, metrics: WebMetrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begin, status = perf_counter(), "500"

        async def count(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, count)
        finally:
            route = getattr(scope.get("route"), "path", "")
            method = scope["method"] if route else ""
            self.metrics.requests.labels(method, route, status).inc()
            self.metrics.seconds.observe(perf_counter() - begin)

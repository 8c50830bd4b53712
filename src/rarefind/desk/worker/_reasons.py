"""Why a transaction was proposed, by the model that decided and what was known then."""

from __future__ import annotations

from pathlib import Path

from rarefind.desk.alerts import ERASED, Alert, Cases
from rarefind.desk.explained import Explanation, OpenModels, explain_record, write_parts
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry

__all__ = ["Reasons"]

#: So many alerts are explained at a time.
_AT_ONCE = 20


class Reasons:
    """Writes the probability and the reason of alerts.

    Both are computed from the body and the features as they are stored in the ledger, by the model
    whose digest is stored there: what is said is what was true when it was decided.

    Parameters
    ----------
    ledger : Ledger
        Opened to be read.
    cases : Cases
    intake : Intake
    models : Path
        The folder of model files, named by their digests.
    """

    def __init__(self, ledger: Ledger, cases: Cases, intake: Intake, models: Path) -> None:
        self._ledger, self._cases, self._intake = ledger, cases, intake
        self._names = intake.schema.features.names
        self._models = OpenModels(models)

    def run(self) -> bool:
        """Explain the next alerts, those of the highest priority first; True if there are more."""
        erasures = self._ledger.erasures
        alerts = self._cases.without_reason(_AT_ONCE)
        entries = self._ledger.find([alert.transaction for alert in alerts]) if alerts else {}
        found = [
            (alert.sequence, self._explain(alert, entries.get(alert.transaction)))
            for alert in alerts
        ]
        if self._ledger.erasures != erasures:
            return True  # somebody was erased meanwhile: read again
        if found:
            self._cases.set_reasons(
                [
                    (sequence, None, why)
                    if isinstance(why, str)
                    else (sequence, why.probability, why.sentence)
                    for sequence, why in found
                ],
                because={
                    sequence: write_parts(why.parts)
                    for sequence, why in found
                    if not isinstance(why, str)
                },
            )
        return len(alerts) == _AT_ONCE

    def _explain(self, alert: Alert, entry: Entry | None) -> Explanation | str:
        """What the model says; a sentence where it cannot."""
        if entry is None or not entry.body:
            return ERASED
        if not entry.outcome.model:
            return _without_model(alert)
        if len(entry.features) != 8 * len(self._names):
            return "Its features are those of an older desk.toml, and cannot be explained."
        model = self._models.get(entry.outcome.model)
        if model is None:
            short = entry.outcome.model[:12]
            return f"The model that decided ({short}…) is not among the models any more."
        try:
            return explain_record(model, self._intake.record(entry))
        except ValueError:
            # Its columns are those of the desk, which it was tried with; what is left is odd data.
            return "The model that decided cannot explain this transaction."


def _without_model(alert: Alert) -> str:
    if alert.kind == "random":
        return "It was drawn at random; no model has scored it."
    return f"Rules alone, without a model: {', '.join(alert.rules) or 'none has a name'}."

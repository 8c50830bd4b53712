"""Why a transaction was proposed, by the model that decided and what was known then."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rarefind.desk.alerts import ERASED, Alert, Cases
from rarefind.desk.control import digest_of, model_path
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry

if TYPE_CHECKING:
    from rarefind.tables import TableModel

__all__ = ["Reasons"]

#: So many alerts are explained at a time, and so many models are kept open.
_AT_ONCE, _MODELS = 20, 3


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
        self._ledger, self._cases, self._intake, self._folder = ledger, cases, intake, models
        self._names = intake.schema.features.names
        self._models: OrderedDict[str, TableModel | None] = OrderedDict()

    def run(self) -> bool:
        """Explain the next alerts, those of the highest priority first; True if there are more."""
        erasures = self._ledger.erasures
        alerts = self._cases.without_reason(_AT_ONCE)
        entries = self._ledger.find([alert.transaction for alert in alerts]) if alerts else {}
        found = [
            (alert.sequence, *self._explain(alert, entries.get(alert.transaction)))
            for alert in alerts
        ]
        if self._ledger.erasures != erasures:
            return True  # somebody was erased meanwhile: read again
        if found:
            self._cases.set_reasons(found)
        return len(alerts) == _AT_ONCE

    def _explain(self, alert: Alert, entry: Entry | None) -> tuple[float | None, str]:
        if entry is None or not entry.body:
            return None, ERASED
        if not entry.outcome.model:
            return None, _without_model(alert)
        if len(entry.features) != 8 * len(self._names):
            return None, "Its features are those of an older desk.toml, and cannot be explained."
        model = self._model(entry.outcome.model)
        if model is None:
            short = entry.outcome.model[:12]
            return None, f"The model that decided ({short}…) is not among the models any more."
        try:
            return explain_record(model, self._intake.record(entry))
        except ValueError:
            # Its columns are those of the desk, which it was tried with; what is left is odd data.
            return None, "The model that decided cannot explain this transaction."

    def _model(self, digest: str) -> TableModel | None:
        """The model of a digest; None where its file is gone or cannot be read."""
        if digest in self._models:
            self._models.move_to_end(digest)
            return self._models[digest]
        found = _open(model_path(self._folder, digest), digest)
        if found is not None:  # one that is gone may come back
            self._models[digest] = found
            if len(self._models) > _MODELS:
                self._models.popitem(last=False)
        return found


def _open(path: Path, digest: str) -> TableModel | None:
    """A model file, if it is there and is the one that decided."""
    from rarefind.tables import open_model

    try:
        return open_model(path) if digest.isalnum() and digest_of(path) == digest else None
    except (OSError, ValueError):
        return None


def explain_record(model: TableModel, record: dict[str, Any]) -> tuple[float, str]:
    """The calibrated probability of a transaction, and its reason as a sentence."""
    column = list(model.classes_).index(model.positive_)
    probability = float(model.predict_proba(record)[0, column])
    (reason,) = model.explain(record)
    return probability, str(reason)


def _without_model(alert: Alert) -> str:
    if alert.kind == "random":
        return "It was drawn at random; no model has scored it."
    return f"Rules alone, without a model: {', '.join(alert.rules) or 'none has a name'}."

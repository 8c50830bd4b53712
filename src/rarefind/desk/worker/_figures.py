"""The jobs that count: days, labels, cases, scores of all models, and drift."""

from __future__ import annotations

from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.database import Database
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures.comparisons import Comparisons
from rarefind.desk.measures.day_cases import CaseCounter
from rarefind.desk.measures.day_counts import DayCounter
from rarefind.desk.measures.day_labels import LabelCounter
from rarefind.desk.measures.drift import DriftMeasure
from rarefind.desk.measures.shadow_scores import ShadowScores
from rarefind.desk.worker._jobs import Job
from rarefind.desk.worker._sparingly import Sparingly

__all__ = ["figure_jobs"]


def figure_jobs(
    folder: DeskFolder, database: Database, ledger: Ledger, clock: DeskClock
) -> list[Job]:
    """The jobs that count what the pages show, none of which is urgent."""
    schema = folder.schema
    models, intake = Control(database, schema, folder.models, clock).models, Intake(schema)
    days = DayCounter(database, ledger, schema)
    labels = LabelCounter(database, ledger, LabelHistory(database, schema, clock), schema)
    cases = CaseCounter(database, schema, clock)
    scores = ShadowScores(database, ledger, models, folder.models, intake, clock)
    compared = Comparisons(database, ledger, models, schema, clock)
    drift = DriftMeasure(database, ledger, models, folder.models, intake, clock)

    def forget() -> bool:
        labels.forget(ledger.deleted().sequence)
        return False

    return [
        Job("days", Sparingly(days.run, wait=5.0).run, every=1.0),
        Job("day-labels", Sparingly(labels.run, wait=5.0).run, every=1.0),
        Job("day-cases", cases.run, every=20.0),
        Job("scores", Sparingly(scores.run).run, every=0.2),
        Job("comparisons", Sparingly(compared.run).run, every=1.0),
        Job("drift", Sparingly(drift.run, wait=600.0).run, every=60.0),
        Job("old-labels", forget, every=3600.0),
    ]

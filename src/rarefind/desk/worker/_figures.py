"""The jobs that count: days, labels, cases, scores of all models, and drift."""

from __future__ import annotations

from collections.abc import Callable

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
from rarefind.desk.worker._sparingly import WAIT, Sparingly

__all__ = ["figure_jobs"]


def figure_jobs(
    folder: DeskFolder,
    database: Database,
    ledger: Ledger,
    clock: DeskClock,
    *,
    sparingly: bool = True,
) -> list[Job]:
    """The jobs that count what the pages show, none of which is urgent.

    They pause for longer than they work, unless nothing is decided beside them.
    """
    schema = folder.schema
    models, intake = Control(database, folder.declared, folder.models, clock).models, Intake(schema)
    days = DayCounter(database, ledger, schema)
    labels = LabelCounter(database, ledger, LabelHistory(database, schema, clock), schema)
    cases = CaseCounter(database, schema, clock)
    scores = ShadowScores(database, ledger, models, folder.models, intake, clock)
    compared = Comparisons(database, ledger, models, schema, clock)
    drift = DriftMeasure(database, ledger, models, folder.models, intake, clock)

    def forget() -> bool:
        labels.forget(ledger.deleted().sequence)
        return False

    def step(run: Callable[[], bool], wait: float = WAIT) -> Callable[[], bool]:
        return Sparingly(run, wait=wait).run if sparingly else run

    return [
        Job("days", step(days.run, 5.0), every=1.0),
        Job("day-labels", step(labels.run, 5.0), every=1.0),
        Job("day-cases", cases.run, every=20.0),
        Job("scores", step(scores.run), every=0.2),
        Job("comparisons", step(compared.run), every=1.0),
        Job("drift", step(drift.run, 600.0), every=60.0),
        Job("old-labels", forget, every=3600.0),
    ]

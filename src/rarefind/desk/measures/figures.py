"""All that pages show of days and models, at hand for the web process."""

from __future__ import annotations

from rarefind.desk.alerts import CaseLists, Cases
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Models
from rarefind.desk.database import Database
from rarefind.desk.latency import LatencyDays
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures.comparisons import Comparisons
from rarefind.desk.measures.days import Days
from rarefind.desk.measures.search import DeskSearch
from rarefind.desk.schema import Schema

__all__ = ["Figures"]


class Figures:
    """What the worker has counted, and what is found by looking for it.

    Parameters
    ----------
    database : Database
        That of the desk.
    ledger : Ledger
        Opened to be read.
    models : Models
    cases : Cases
    schema : Schema
    clock : DeskClock
    """

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        models: Models,
        cases: Cases,
        schema: Schema,
        clock: DeskClock,
    ) -> None:
        self.days = Days(database, schema, clock)
        self.comparisons = Comparisons(database, ledger, models, schema, clock)
        self.latency = LatencyDays(database)
        self.search = DeskSearch(database, ledger, cases, CaseLists(database, clock), schema)

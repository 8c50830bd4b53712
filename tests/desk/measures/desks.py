"""A small desk that has decided some transactions, and its history as columns."""

import io
import json
from datetime import UTC, datetime

from desk_running import new_database

from rarefind.desk import Schema
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control
from rarefind.desk.decision import Decider
from rarefind.desk.features import FeatureState
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import LabelHistory
from rarefind.desk.measures import History, HistoryKeeper, RipeLabels

START = datetime(2026, 1, 1, 22, 30, tzinfo=UTC)
DECLARED = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
time_zone = "Europe/Paris"
[transaction.columns]
country = "text"
ecommerce = "boolean"
distance = "number"
opened = "time"
[entities.card]
column = "card"
windows = ["1D", "7D"]
statistics = ["count", "mean"]
[entities.terminal]
column = "terminal"
windows = ["1D"]
statistics = ["count"]
[alerts]
entity = "card"
random_share = 0.0
[labels]
delay = "10D"
"""
SCHEMA = Schema.from_text(DECLARED)
SECOND, DAY = 10**9, 86_400 * 10**9


def nanoseconds(time):
    return int(time.timestamp()) * SECOND


class HistoryDesk:
    """Transactions an hour apart; the clock is set to their own time."""

    def __init__(self, path, schema=SCHEMA, kind="sqlite"):
        self.schema, self.intake = schema, Intake(schema)
        url = new_database() if kind == "postgresql" else None
        self.folder = DeskFolder.create(path, schema, url)
        self.clock = ManualClock(nanoseconds(START))
        self.database, self.ledger = self.folder.open_desk(), self.folder.open_ledger()
        self.control = Control(self.database, schema, self.folder.models, self.clock)
        self.labels = LabelHistory(self.database, schema, self.clock)
        self.decider = Decider(
            FeatureState(schema), self.ledger, secret=self.folder.secret, clock=self.clock
        )
        self.log = io.StringIO()
        self.reader = self.folder.read_ledger()
        self.history = History(
            self.folder.history, schema, self.reader, RipeLabels(self.labels), self.clock
        )
        self.keeper = self.new_keeper()
        self.count = 0

    def new_keeper(self):
        return HistoryKeeper(
            self.folder.history,
            self.reader,
            self.intake,
            self.clock,
            Log("worker", self.log),
            grows=0.0,
        )

    def decide(self, **values):
        """Decide a transaction, an hour after the last one; returns its id."""
        self.decider.rules = self.control.in_force().rules
        self.count += 1
        self.clock.advance("1h")
        at = datetime.fromtimestamp(self.clock.now() // SECOND, UTC)
        sent = {"amount": 10, "card": "c1", "terminal": "t1"} | values
        sent |= {"id": f"p{self.count}", "time": at.isoformat()}
        (answer,) = self.decider.decide(self.intake.decode(json.dumps(sent).encode()).transactions)
        return answer.id

    def label(self, ids, verdict="fraud", source="verdict"):
        with self.database.write() as writer:
            self.labels.add(writer, ids, verdict, source)

    def keep(self):
        """Let the history follow, until there is nothing to do."""
        while self.keeper.run():
            continue
        return self.history.rows()

"""Small desks with a ledger, cases and labels, for what is counted from them."""

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from desk.databases import opener

from rarefind.desk import Schema
from rarefind.desk.alerts import Cases
from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.labels import LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry, Outcome

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
time_zone = "Europe/Paris"
[entities.card]
column = "card"
windows = ["7D"]
[entities.terminal]
column = "terminal"
windows = ["7D"]
[alerts]
entity = "card"
budget = 2
[labels]
delay = "10D"
"""
)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z
DAY = 86_400 * 10**9


def row(number, time, **about):
    """A transaction of a ledger."""
    known = {
        "decision": "accept",
        "by": "",
        "rules": (),
        "score": 0.25,
        "priority": 0.25,
        "alert": "",
        "propensity": 0.01,
        "rule_book": "rules",
        "model": "model",
    }
    card = about.pop("card", f"card {number % 3}")
    amount = about.pop("amount", number)
    body = about.pop("body", b'{"id": "%d"}' % number)
    features = about.pop("features", b"")
    outcome = Outcome(**(known | about))
    return Entry(
        number, f"t{number}", time, time + 5, amount, (card, "terminal"), body, features, outcome
    )


class SmallDesk:
    """Two databases of their own: files in a folder, or schemas of a real PostgreSQL."""

    def __init__(self, schema=SCHEMA, kind="sqlite"):
        self._place = TemporaryDirectory()
        self.folder = Path(self._place.name)
        self.schema, self.clock = schema, ManualClock(NOON)
        if kind == "sqlite":
            self.database = SqliteDatabase(self.folder / "desk.db")
            ledger = SqliteDatabase(self.folder / "ledger.db", journal="wal")
            reader = SqliteDatabase(self.folder / "ledger.db", read_only=True)
        else:
            self.database = opener(kind, self.folder)()
            ledgers = opener(kind, self.folder)
            ledger, reader = ledgers(sole=True), None
        self.writer = Ledger(ledger, writes=True)
        self.ledger = Ledger(reader or ledgers(read_only=True), writes=False)
        self.labels = LabelHistory(self.database, schema, self.clock)
        self.cases = Cases(self.database, schema, self.labels, self.clock)
        self._numbers = count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.writer.close()
        self.ledger.close()
        self.database.close()
        self._place.cleanup()

    def append(self, *rows):
        """Add transactions, given by their time and what was decided."""
        entries = [row(next(self._numbers), time, **about) for time, about in rows]
        self.writer.append(entries)
        self.cases.add(entries, self.writer.last.sequence)
        return entries

    def label(self, ids, verdict, source="verdict"):
        with self.database.write() as writer:
            self.labels.add(writer, ids, verdict, source)


def run(*jobs):
    """Run jobs to their ends."""
    for job in jobs:
        while job.run():
            continue

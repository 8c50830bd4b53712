"""What people and time have found about transactions; it only grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rarefind.data.clock import nanoseconds
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, Row, Writer, migrate
from rarefind.desk.labels._tables import STEPS
from rarefind.desk.schema import Schema

__all__ = ["Label", "LabelHistory", "RipeLabel"]

_FRAUD = {"fraud": True, "genuine": False, "unclear": None}


@dataclass(frozen=True, slots=True)
class Label:
    """A label as it was given; ``fraud`` is None where an earlier one was taken back."""

    number: int
    transaction: str
    fraud: bool | None
    source: str
    at: int


@dataclass(frozen=True, slots=True)
class RipeLabel:
    """What is known of a transaction by now.

    Attributes
    ----------
    fraud : bool or None
        None while it is not ripe.
    source : {"verdict", "claim", "correction", "silence", "not ripe"}
    """

    fraud: bool | None
    source: str


class LabelHistory:
    """The labels of a desk, from all sources.

    A verdict counts at once, a claim when it is confirmed, and silence for as long as the schema's
    ``labels.delay`` means genuine. A later label of a transaction replaces an earlier one; both
    stay stored.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    schema : Schema
    clock : DeskClock
    """

    def __init__(self, database: Database, schema: Schema, clock: DeskClock) -> None:
        migrate(database, "labels", STEPS)
        self._database, self._clock = database, clock
        self._delay = nanoseconds("labels.delay", schema.labels.delay)

    def add(self, transaction: Writer, ids: Sequence[str], verdict: str, source: str) -> None:
        """Add labels within a transaction of the desk's database.

        ``unclear`` is not a label; it takes back one that was given before.
        """
        fraud, now = _FRAUD[verdict], self._clock.now()
        if fraud is None:
            labelled = {label.transaction for label in _latest(transaction, ids)}
            ids = [each for each in ids if each in labelled]
        transaction.executemany(
            "INSERT INTO labels (transaction_id, fraud, source, at) "
            "VALUES (:id, :fraud, :source, :now)",
            [
                {"id": each, "fraud": None if fraud is None else int(fraud)}
                | {"source": source, "now": now}
                for each in ids
            ],
        )

    def after(self, number: int, limit: int = 1_000) -> list[Label]:
        """Return labels in the order in which they were given, those after a number."""
        rows = self._database.read(
            "SELECT number, transaction_id, fraud, source, at FROM labels WHERE number > :number "
            "ORDER BY number LIMIT :limit",
            number=number,
            limit=limit,
        )
        return [_as_label(row) for row in rows]

    def ripe(self, transactions: Sequence[tuple[str, int]]) -> list[RipeLabel]:
        """Return what is known by now of transactions, given by their id and their own time."""
        latest = {
            label.transaction: label
            for label in _latest(self._database, [each for each, _ in transactions])
        }
        silent_before = self.silent_before
        return [
            _ripe(latest.get(each), is_silent=time <= silent_before) for each, time in transactions
        ]

    @property
    def silent_before(self) -> int:
        """The time up to which a transaction that has no label is genuine by now."""
        return self._clock.now() - self._delay


def _ripe(label: Label | None, *, is_silent: bool) -> RipeLabel:
    if label is not None and label.fraud is not None:
        return RipeLabel(label.fraud, label.source)
    return RipeLabel(False, "silence") if is_silent else RipeLabel(None, "not ripe")


def _latest(door: Database | Writer, ids: Sequence[str]) -> list[Label]:
    """Return the last label of each transaction that has any."""
    if not ids:
        return []
    rows = door.read(
        "SELECT number, transaction_id, fraud, source, at FROM labels WHERE number IN "
        "(SELECT max(number) FROM labels WHERE transaction_id IN :ids GROUP BY transaction_id)",
        ids=list(ids),
    )
    return [_as_label(row) for row in rows]


def _as_label(row: Row) -> Label:
    number, transaction, fraud, source, at = row
    return Label(number, transaction, None if fraud is None else bool(fraud), source, at)

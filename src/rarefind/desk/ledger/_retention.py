"""Rows that are too old are deleted for good; what they add up to stays."""

from __future__ import annotations

from collections import defaultdict
from itertools import takewhile
from typing import NamedTuple

from rarefind.desk.database import Database, Row, Writer
from rarefind.desk.ledger import _tables as tables
from rarefind.desk.records import Entry

__all__ = ["Day", "delete_before", "oldest_before", "read_days"]

_DAY = 86_400 * 10**9

_OLDEST = """
SELECT sequence, time, arrived, id, decision, alert, amount, entities, chain
FROM entries ORDER BY sequence LIMIT :limit
"""
_OLDEST_WHOLE = f"SELECT {tables.ENTRY} FROM entries ORDER BY sequence LIMIT :limit"
_ADD_DAY = """
INSERT INTO days (day, transactions, denied, alerts, frauds, amount)
VALUES (:day, :transactions, :denied, :alerts, :frauds, :amount)
ON CONFLICT (day) DO UPDATE SET
    transactions = days.transactions + excluded.transactions,
    denied = days.denied + excluded.denied,
    alerts = days.alerts + excluded.alerts,
    frauds = days.frauds + excluded.frauds,
    amount = days.amount + excluded.amount
"""


class Day(NamedTuple):
    """What the deleted transactions of a day added up to.

    ``day`` counts from 1970 in UTC; ``amount`` is in minor units; ``frauds`` are those that were
    known when the transactions were deleted.
    """

    day: int
    transactions: int
    denied: int
    alerts: int
    frauds: int
    amount: float


def read_days(database: Database) -> list[Day]:
    """Return what is left of the days whose transactions were deleted."""
    rows = database.read(
        "SELECT day, transactions, denied, alerts, frauds, amount FROM days ORDER BY day"
    )
    return [Day(*row) for row in rows]


def oldest_before(database: Database, before: int, limit: int) -> list[Entry]:
    """Return the oldest rows up to the first one that is young."""
    first = database.read("SELECT time, arrived FROM entries ORDER BY sequence LIMIT 1")
    if not first or min(first[0]) >= before:
        return []
    rows = map(tables.to_entry, database.read(_OLDEST_WHOLE, limit=limit))
    return list(takewhile(lambda row: min(row.time, row.arrived) < before, rows))


def delete_before(database: Database, before: int, now: int, limit: int) -> int:
    """Delete the oldest rows, and leave an anchor for the chain of those that stay.

    Only rows from the beginning up to the first one that is young are deleted, so that one clock
    that was wrong cannot delete the present. A row is old when it was made or arrived before the
    time: a machine that was a century ahead for a minute does not keep its rows for ever.
    """

    def is_old(row: Row) -> bool:
        return bool(min(row[1], row[2]) < before)

    with database.write() as writer:
        rows = list(takewhile(is_old, writer.read(_OLDEST, limit=limit)))
        if not rows:
            return 0
        cut = rows[-1][0]
        writer.executemany(_ADD_DAY, [day._asdict() for day in _days(writer, rows)])
        tables.delete_members(writer, [(row[0], row[7]) for row in rows])
        writer.execute("DELETE FROM entries WHERE sequence <= :cut", cut=cut)
        writer.execute("DELETE FROM labels WHERE sequence <= :cut", cut=cut)
        writer.execute("DELETE FROM erased WHERE sequence <= :cut", cut=cut)
        newest = [time for (time,) in writer.read("SELECT newest FROM anchors")]
        writer.execute("DELETE FROM anchors")
        writer.execute(
            "INSERT INTO anchors (sequence, chain, arrived, newest) "
            "VALUES (:cut, :chain, :now, :newest)",
            cut=cut,
            chain=bytes(rows[-1][8]),
            now=now,
            newest=max([*newest, *(row[1] for row in rows)]),
        )
    return len(rows)


def _days(writer: Writer, rows: list[Row]) -> list[Day]:
    """Add up the rows of each day."""
    labels = writer.read(
        "SELECT id, fraud FROM labels WHERE id IN :ids ORDER BY sequence",
        ids=[row[3] for row in rows],
    )
    fraud: dict[str, int | None] = dict(labels)  # the last one counts
    by_day: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_day[row[1] // _DAY].append(row)
    return [
        Day(
            day=day,
            transactions=len(own),
            denied=sum(row[4] == "deny" for row in own),
            alerts=sum(row[5] != "" for row in own),
            frauds=sum(fraud.get(row[3]) or 0 for row in own),
            amount=float(sum(row[6] for row in own)),
        )
        for day, own in by_day.items()
    ]

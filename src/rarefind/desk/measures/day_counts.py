"""What was decided on each day: counted once, from the ledger, in the order of arrival."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.ledger import Ledger, OutcomeRow
from rarefind.desk.measures._day_names import days_of
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.measures._figures_read import read_place, save_place
from rarefind.desk.schema import Schema

__all__ = ["DayCounter"]

_NAME = "days"
_ROWS = 5_000
#: What has to be counted anew when the ledger is not the one that was counted.
_COUNTED = (
    "figures_read",
    "day_counts",
    "day_rules",
    "day_models",
    "labelled_rows",
    "day_labels",
    "day_labels_of",
    "row_times",
    "row_scores",
    "model_periods",
)
_ADD_DAY = """
INSERT INTO day_counts
    (day, transactions, denied, risk, drawn, cannot_be_drawn, least_propensity)
VALUES (:day, :transactions, :denied, :risk, :drawn, :cannot_be_drawn, :least_propensity)
ON CONFLICT (day) DO UPDATE SET
    transactions = day_counts.transactions + excluded.transactions,
    denied = day_counts.denied + excluded.denied,
    risk = day_counts.risk + excluded.risk,
    drawn = day_counts.drawn + excluded.drawn,
    cannot_be_drawn = day_counts.cannot_be_drawn + excluded.cannot_be_drawn,
    least_propensity = CASE
        WHEN excluded.least_propensity < day_counts.least_propensity THEN excluded.least_propensity
        ELSE day_counts.least_propensity END
"""


def _add_of(table: str, what: str, count: str) -> str:
    return (
        f"INSERT INTO {table} (day, {what}, {count}, alerts) "
        "VALUES (:day, :name, :count, :alerts) "
        f"ON CONFLICT (day, {what}) DO UPDATE SET {count} = {table}.{count} + excluded.{count}, "
        f"alerts = {table}.alerts + excluded.alerts"
    )


class DayCounter:
    """Counts transactions, alerts, rules that fired and models that scored, by day.

    A day is that of a transaction's own time, by the clocks of the desk's time zone. How far the
    ledger was counted is stored with the counts: what is counted is counted once.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    ledger : Ledger
        Opened to be read.
    schema : Schema
    rows : int
        So many rows are counted at a time.
    """

    def __init__(
        self, database: Database, ledger: Ledger, schema: Schema, *, rows: int = _ROWS
    ) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._ledger, self._rows = database, ledger, rows
        self._zone = schema.transaction.time_zone
        self._is_checked = False

    def run(self) -> bool:
        """Count the next rows; True if there are more."""
        if not self._is_checked:
            self._check_place()
            self._is_checked = True
        before, _ = read_place(self._database, _NAME) or (0, "")
        found = self._ledger.read_outcomes(before, self._rows)
        if not found:
            return False
        last = found[-1].sequence
        chain = self._ledger.chain_at(last) or b""
        with self._database.write() as writer:
            _add(writer, found, days_of(np.array([row.time for row in found]), self._zone))
            save_place(writer, _NAME, last, chain.hex())
        return len(found) == self._rows

    def _check_place(self) -> None:
        """Begin anew if the ledger was cut off since: others have its last numbers then."""
        place, chain = read_place(self._database, _NAME) or (0, "")
        known = self._ledger.chain_at(place) if place else None
        is_deleted = known is None and place <= self._ledger.deleted().sequence
        if not place or is_deleted or (known is not None and known.hex() == chain):
            return
        with self._database.write() as writer:
            for table in _COUNTED:
                writer.execute(f"DELETE FROM {table}")


def _add(writer: Writer, rows: Sequence[OutcomeRow], days: Sequence[str]) -> None:
    by_day: dict[str, list[OutcomeRow]] = defaultdict(list)
    for day, row in zip(days, rows, strict=True):
        by_day[day].append(row)
    writer.executemany(_ADD_DAY, [_counts(day, own) for day, own in by_day.items()])
    by_rule: list[dict[str, str | int]] = [
        {"day": day, "name": name, "count": count, "alerts": alerts}
        for day, own in by_day.items()
        for name, count, alerts in _named([(row.rules, row) for row in own])
    ]
    by_model: list[dict[str, str | int]] = [
        {"day": day, "name": name, "count": count, "alerts": alerts}
        for day, own in by_day.items()
        for name, count, alerts in _named([((row.model,), row) for row in own if row.model])
    ]
    writer.executemany(_add_of("day_rules", "rule", "fired"), by_rule)
    writer.executemany(_add_of("day_models", "model", "scored"), by_model)


def _counts(day: str, rows: Sequence[OutcomeRow]) -> dict[str, Any]:
    quiet = [row.propensity for row in rows if row.alert != "risk"]
    possible = [each for each in quiet if each > 0]
    return {
        "day": day,
        "transactions": len(rows),
        "denied": sum(row.decision == "deny" for row in rows),
        "risk": sum(row.alert == "risk" for row in rows),
        "drawn": sum(row.alert == "random" for row in rows),
        "cannot_be_drawn": len(quiet) - len(possible),
        "least_propensity": min(possible, default=1.0),
    }


def _named(
    rows: Sequence[tuple[tuple[str, ...], OutcomeRow]],
) -> list[tuple[str, int, int]]:
    """How often each name is there, and how often with an alert of risk."""
    all_rows = Counter(name for names, _ in rows for name in names)
    alerts = Counter(name for names, row in rows for name in names if row.alert == "risk")
    return [(name, count, alerts[name]) for name, count in all_rows.items()]

"""What people have found, by the day of the transactions: counted anew when a label changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.labels import Label, LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures._day_names import days_of
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.measures._figures_read import read_place, save_place
from rarefind.desk.records import Entry
from rarefind.desk.schema import Schema

__all__ = ["LabelCounter"]

_NAME = "labels"
_LABELS = 500
#: The share of labels that came within the longer of the two times that are shown.
_MOST = 0.9
#: Labels of people who have looked; a claim is a customer's word.
_CHECKS = frozenset({"verdict", "correction"})
_COLUMNS = "sequence, day, time, at, amount, kind, propensity, rules, model, fraud, checked"
_SAVE = f"""
INSERT INTO labelled_rows ({_COLUMNS})
VALUES (:sequence, :day, :time, :at, :amount, :kind, :propensity, :rules, :model, :fraud, :checked)
ON CONFLICT (sequence) DO UPDATE SET at = excluded.at, fraud = excluded.fraud, checked =
    CASE WHEN excluded.fraud IS NULL THEN 0
    WHEN excluded.checked > labelled_rows.checked THEN excluded.checked
    ELSE labelled_rows.checked END
"""
_OF_DAY = f"SELECT {_COLUMNS} FROM labelled_rows WHERE day = :day AND fraud IS NOT NULL"


class _Row(NamedTuple):
    """A transaction with the last label that it was given."""

    sequence: int
    day: str
    time: int
    at: int
    amount: int
    kind: str
    propensity: float
    rules: str
    model: str
    fraud: int
    checked: int


class LabelCounter:
    """Follows the labels, and counts by day what they say.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    ledger : Ledger
        Opened to be read.
    labels : LabelHistory
    schema : Schema
    """

    def __init__(
        self, database: Database, ledger: Ledger, labels: LabelHistory, schema: Schema
    ) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._ledger, self._labels = database, ledger, labels
        self._zone = schema.transaction.time_zone

    def run(self) -> bool:
        """Count the next labels; True if there are more."""
        before, _ = read_place(self._database, _NAME) or (0, "")
        labels = self._labels.after(before, _LABELS)
        if not labels:
            return False
        known = self._ledger.find(list({label.transaction for label in labels}))
        times = np.array([entry.time for entry in known.values()], dtype=np.int64)
        day = dict(zip(known, days_of(times, self._zone) if known else [], strict=True))
        with self._database.write() as writer:
            writer.executemany(
                _SAVE,
                [
                    _parameters(label, known[label.transaction], day[label.transaction])
                    for label in labels
                    if label.transaction in known
                ],
            )
            for each in sorted(set(day.values())):
                _count(writer, each)
            _forget_periods(writer, times)
            save_place(writer, _NAME, labels[-1].number)
        return len(labels) == _LABELS

    def forget(self, upto: int) -> None:
        """Delete the rows that retention has deleted from the ledger; what they add up to stays."""
        with self._database.write() as writer:
            writer.execute("DELETE FROM labelled_rows WHERE sequence <= :upto", upto=upto)


def _parameters(label: Label, entry: Entry, day: str) -> dict[str, str | int | float | None]:
    outcome = entry.outcome
    return {
        "sequence": entry.sequence,
        "day": day,
        "time": entry.time,
        "at": label.at,
        "amount": entry.amount,
        "kind": outcome.alert,
        "propensity": outcome.propensity,
        "rules": "\n".join(outcome.rules),
        "model": outcome.model,
        "fraud": None if label.fraud is None else int(label.fraud),
        "checked": int(label.source in _CHECKS and label.fraud is not None),
    }


def _forget_periods(writer: Writer, times: Sequence[int] | np.ndarray) -> None:
    """Let models be compared again where a label has changed."""
    writer.executemany(
        "DELETE FROM model_periods WHERE begins <= :time AND ends > :time",
        [{"time": int(time)} for time in times],
    )


def _count(writer: Writer, day: str) -> None:
    rows = [_Row(*row) for row in writer.read(_OF_DAY, day=day)]
    raised = [row for row in rows if row.kind == "risk" and row.checked]
    drawn = [row for row in rows if row.kind == "random" and row.checked]
    weights = [1 / row.propensity for row in drawn if row.fraud]
    lags = np.array([row.at - row.time for row in rows], dtype=np.int64)
    writer.execute("DELETE FROM day_labels WHERE day = :day", day=day)
    writer.execute("DELETE FROM day_labels_of WHERE day = :day", day=day)
    writer.execute(
        "INSERT INTO day_labels VALUES (:day, :labelled, :checked, :hits, :frauds, :amount, "
        ":drawn_checked, :drawn_hits, :weight, :squares, :median, :most)",
        day=day,
        labelled=len(rows),
        checked=len(raised),
        hits=sum(row.fraud for row in raised),
        frauds=sum(row.fraud for row in rows),
        amount=sum(row.amount for row in rows if row.fraud),
        drawn_checked=len(drawn),
        drawn_hits=len(weights),
        weight=float(sum(weights)),
        squares=float(sum(each**2 for each in weights)),
        median=int(np.median(lags)) if rows else None,
        most=int(np.quantile(lags, _MOST)) if rows else None,
    )
    for kind, names in (
        ("rule", [(name, row) for row in rows for name in row.rules.split("\n") if name]),
        ("model", [(row.model, row) for row in raised if row.model]),
    ):
        checked = Counter(name for name, row in names if row.checked)
        hits = Counter(name for name, row in names if row.checked and row.fraud)
        writer.executemany(
            "INSERT INTO day_labels_of VALUES (:day, :kind, :name, :checked, :hits)",
            [
                {"day": day, "kind": kind, "name": name, "checked": count, "hits": hits[name]}
                for name, count in checked.items()
            ],
        )

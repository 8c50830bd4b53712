"""How far columns and scores have gone: the last week beside the fit of the model that decides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from rarefind.data.clock import nanoseconds
from rarefind.data.drift import DriftReference
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Models, digest_of, model_path
from rarefind.desk.database import Database, migrate
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.records import Entry

__all__ = ["DriftFigures", "DriftMeasure", "read_drift"]

#: The rows that are compared, how many are read at a time, and how often.
_WEEK, _EVERY = "7D", "6h"
_ROWS, _PIECE = 10_000, 500
_NAME = "drift"


class ColumnDrift(msgspec.Struct, frozen=True):
    """How far a column has gone; see :meth:`rarefind.data.DriftCounter.table`."""

    column: str
    drift: float
    verdict: str
    text: str
    importance: float | None = None


class DriftFigures(msgspec.Struct, frozen=True):
    """What the last week is beside what it is compared with.

    Attributes
    ----------
    begins, ends : int
        The week.
    rows : int
        Rows of it that were looked at, spread over the week.
    model : str
        The digest of the model whose fit it is compared with; empty for the weeks before.
    columns : list of ColumnDrift
        Those that have moved most first.
    score : ColumnDrift or None
        That of the model's score.
    """

    begins: int
    ends: int
    rows: int
    model: str
    columns: list[ColumnDrift]
    score: ColumnDrift | None


class DriftMeasure:
    """Measures drift a few times a day, from rows that are spread over the last week.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    ledger : Ledger
        Opened to be read.
    models : Models
    folder : Path
        Where model files are.
    intake : Intake
    clock : DeskClock
    """

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        models: Models,
        folder: Path,
        intake: Intake,
        clock: DeskClock,
    ) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._ledger, self._models = database, ledger, models
        self._folder, self._intake, self._clock = folder, intake, clock
        schema = intake.schema
        self._length = 8 * len(schema.features.names)
        # When a transaction was made says nothing of what it is like.
        self._left_out = {schema.transaction.id, schema.transaction.time} | {
            entity.column for entity in schema.entities.values()
        }
        self._week, self._every = nanoseconds("week", _WEEK), nanoseconds("every", _EVERY)

    def run(self) -> bool:
        """Measure if it is time to; there is never more to do."""
        champion = self._models.champion()
        digest = "" if champion is None else champion.digest
        before, now = read_drift(self._database), self._clock.now()
        if before is not None and before.model == digest and now - before.ends < self._every:
            return False
        found = self._measure(digest, now)
        if found is not None:
            with self._database.write() as writer:
                writer.execute("DELETE FROM saved_figures WHERE name = :name", name=_NAME)
                writer.execute(
                    "INSERT INTO saved_figures (name, at, figures) VALUES (:name, :at, :figures)",
                    name=_NAME,
                    at=now,
                    figures=msgspec.json.encode(found).decode(),
                )
        return False

    def _measure(self, digest: str, now: int) -> DriftFigures | None:
        last = self._ledger.last.sequence
        _, first = self._ledger.arrived_since(now - self._week)
        rows = self._rows(first, last)
        if rows.empty:
            return None
        found = self._beside_fit(digest, rows) if digest else None
        if found is None:
            _, start = self._ledger.arrived_since(now - 5 * self._week)
            before = self._rows(start, first)
            if before.empty:
                return None
            digest, found = "", (_columns(_beside(before, rows)), None)
        columns, score = found
        return DriftFigures(now - self._week, now, len(rows), digest, columns, score)

    def _rows(self, after: int, upto: int) -> pd.DataFrame:
        """Rows that arrived between two places of the ledger, a few pieces spread evenly."""
        pieces = max(1, min(_ROWS // _PIECE, -(-(upto - after) // _PIECE)))
        records = []
        for piece in range(pieces):
            begin = after + (upto - after) * piece // pieces
            end = min(begin + _PIECE, after + (upto - after) * (piece + 1) // pieces)
            if end <= begin:
                continue
            for row in self._ledger.read(begin, end - begin):
                if not isinstance(row, Entry) or not row.body or row.sequence > end:
                    continue
                if len(row.features) == self._length:
                    records.append(self._intake.record(row))
        frame = pd.DataFrame(records)
        return frame.drop(columns=[name for name in frame if name in self._left_out])

    def _beside_fit(
        self, digest: str, rows: pd.DataFrame
    ) -> tuple[list[ColumnDrift], ColumnDrift | None] | None:
        """Columns and score beside the rows that a model was fitted to; None if it is gone."""
        from rarefind.tables import monitor, open_model

        path = model_path(self._folder, digest)
        try:
            if digest_of(path) != digest:
                return None
            model = open_model(path)
            if model.target in rows:
                rows = rows.drop(columns=model.target)
            report = monitor(model, [rows])
        except (OSError, ValueError):
            return None
        score = None if report.score is None else _as_drift({"column": ""} | report.score)
        return _columns(report.columns), score


def read_drift(database: Database) -> DriftFigures | None:
    """Return what was measured last; None before the first time."""
    rows = database.read("SELECT figures FROM saved_figures WHERE name = :name", name=_NAME)
    return msgspec.json.decode(rows[0][0], type=DriftFigures) if rows else None


def _beside(before: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    names = [str(name) for name in before if name in now and before[name].notna().any()]
    table = DriftReference.of(before, names).counter().update(now).table()
    order = table["verdict"].map({"changed": 0, "moved": 1, "stable": 2})
    return table.assign(order=order, beyond=table["noise"] - table["drift"]).sort_values(
        ["order", "beyond"], kind="stable"
    )


def _columns(table: pd.DataFrame) -> list[ColumnDrift]:
    return [_as_drift(row) for row in table.to_dict("records")]


def _as_drift(row: Mapping[Any, Any]) -> ColumnDrift:
    importance = row.get("importance")
    return ColumnDrift(
        column=str(row["column"]),
        drift=float(row["drift"]),
        verdict=str(row["verdict"]),
        text=str(row["text"]),
        importance=None if importance is None or importance != importance else float(importance),
    )

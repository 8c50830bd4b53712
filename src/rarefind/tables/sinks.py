"""What may be kept of a table in one pass: scores, times, verdicts, columns, drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rarefind._core.types import Floats, Label
from rarefind.data.clock import Clock, Times, has_dates
from rarefind.data.frames import as_frame, column_names, part_of
from rarefind.data.row_numbers import RowError
from rarefind.data.target import check_column, same_label
from rarefind.tables.scoring import ScoredPiece

if TYPE_CHECKING:
    from rarefind.data import DriftCounter, DriftReference
    from rarefind.tables._model import TableModel


class ScoreSink:
    """Keeps the scores of all rows."""

    def __init__(self) -> None:
        self._parts: list[tuple[Floats, Floats | None]] = []

    def take(self, piece: ScoredPiece) -> tuple[Floats, Floats | None]:
        """The scores of a piece."""
        return piece.priority, piece.probability

    def add(self, taken: tuple[Floats, Floats | None]) -> None:
        """Keep those of the next piece."""
        self._parts.append(taken)

    def priority(self) -> Floats:
        """Priorities of all rows."""
        return np.concatenate([np.empty(0), *(priority for priority, _ in self._parts)])

    def probability(self) -> Floats:
        """Probabilities of all rows, of a pass that gave them."""
        known = [probability for _, probability in self._parts if probability is not None]
        return np.concatenate([np.empty(0), *known])


class DriftSink:
    """Counts rows by the bins of the fit; nothing for a model without a reference.

    Parameters
    ----------
    model : TableModel
        Fitted.
    most : int, default=None
        Rows of a piece that are counted at most, drawn at random; by default all.
    """

    def __init__(self, model: TableModel, most: int | None = None) -> None:
        self._reference: DriftReference | None = getattr(model, "drift_reference_", None)
        self._counter = None if self._reference is None else self._reference.counter()
        self._most = most

    def take(self, piece: ScoredPiece) -> DriftCounter | None:
        """The rows of a piece, counted."""
        if self._reference is None:
            return None
        table, rows = piece.table, None
        if self._most is not None and len(table) > self._most:
            drawn = np.random.default_rng(piece.start).permutation(len(table))[: self._most]
            rows = np.sort(drawn)
        names = [column.column for column in self._reference.columns]
        return self._reference.counter().update(part_of(table, names, rows, piece.start))

    def add(self, taken: DriftCounter | None) -> None:
        """Add what was counted in the next piece."""
        if self._counter is not None and taken is not None:
            self._counter.add(taken)

    def table(self) -> pd.DataFrame | None:
        """As of :meth:`rarefind.data.DriftCounter.table`."""
        return None if self._counter is None else self._counter.table()

    def unseen(self) -> list[str]:
        """What many rows have that hardly a row had at the fit, as clauses."""
        return [] if self._counter is None else self._counter.unseen()["text"].tolist()


class ColumnSink:
    """Keeps a column, where the table has it."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._parts: list[pd.Series[Any]] = []

    def take(self, piece: ScoredPiece) -> pd.Series[Any] | None:
        """The column of a piece."""
        if self._name is None or self._name not in column_names(piece.table):
            return None
        return part_of(piece.table, [self._name])[self._name]

    def add(self, taken: pd.Series[Any] | None) -> None:
        """Keep that of the next piece."""
        if taken is not None:
            self._parts.append(taken)

    def column(self) -> pd.Series[Any] | None:
        """The whole column; None where the table does not have it."""
        return pd.concat(self._parts, ignore_index=True) if self._parts else None


class TimeSink(ColumnSink):
    """Keeps the times of rows, which may be missing; none of a column of numbers."""

    def __init__(self, name: str | None) -> None:
        super().__init__(name)
        self._clock = Clock()
        self._times: list[Times] = []
        #: Whether the column has numbers, which are not times.
        self.has_numbers = False

    def add(self, taken: pd.Series[Any] | None) -> None:
        """Read those of the next piece."""
        if taken is None:
            return
        if has_dates(taken):
            self._times.append(self._clock.read(taken, allow_missing=True))
        else:
            self.has_numbers = True

    def times(self) -> Times | None:
        """When all rows were; None where that is not known."""
        if self.has_numbers or not self._times:
            return None
        return Times(*map(np.concatenate, zip(*self._times, strict=True)))


class VerdictSink:
    """Keeps the verdict on each row: 1 for a positive, 0 for a negative, -1 where there is none.

    Parameters
    ----------
    model : TableModel
        Fitted.
    column : str or None
        Column with the verdicts; by default the target, where the table has it.
    """

    def __init__(self, model: TableModel, column: str | None = None) -> None:
        self._model, self._column = model, column
        self._parts: list[NDArray[np.int8]] = []

    def take(self, piece: ScoredPiece) -> NDArray[np.int8]:
        """The verdicts of a piece."""
        name, names = self._column, column_names(piece.table)
        if name is None:
            if self._model.target not in names:
                return np.full(len(piece.table), -1, dtype=np.int8)
            name = self._model.target
        if name not in names:
            check_column(as_frame(piece.table), name)
        classes, positive = self._model.classes_.tolist(), self._model.positive_
        negative = next(label for label in classes if label != positive)
        codes, values = pd.factorize(part_of(piece.table, [name])[name])
        found = [_code(value, positive, negative) for value in values]
        if None in found:
            wrong = found.index(None)
            raise RowError(
                f"Column {name!r} has the verdict {values[wrong]!r} in",
                piece.start + int((codes == wrong).argmax()),
                f", where the target's values are {positive!r} and {negative!r}: write one of "
                "them, or nothing where it is not known.",
            )
        return np.array([*found, -1], dtype=np.int8)[codes]  # -1 is the last, of a missing value

    def add(self, taken: NDArray[np.int8]) -> None:
        """Keep those of the next piece."""
        self._parts.append(taken)

    def verdict(self) -> NDArray[np.int8]:
        """The verdicts on all rows."""
        return np.concatenate([np.empty(0, dtype=np.int8), *self._parts])


def _code(value: Any, positive: Label, negative: Label) -> int | None:
    """1 for the positive label, 0 for the negative one, None for any other value."""
    value = value.item() if isinstance(value, np.generic) else value
    for code, label in ((1, positive), (0, negative)):
        if same_label(label, value):
            return code
    return None

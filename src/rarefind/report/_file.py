"""The rows of a file or table, scored in one pass, and what the report needs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rarefind._core.budget import budget_share
from rarefind._core.types import Array, Bools, Floats, Ints, Table
from rarefind.data import read_chunks
from rarefind.data.clock import Times
from rarefind.data.frames import as_frame, entity_codes
from rarefind.data.read import with_progress
from rarefind.data.table_file import TableFile
from rarefind.tables.lists import Groups, ListRequest, checks_of, on_list, top_rows
from rarefind.tables.scoring import ScoredPiece, Sink, pieces_of, score_pieces
from rarefind.tables.sinks import ColumnSink, DriftSink, ScoreSink, TimeSink, VerdictSink

if TYPE_CHECKING:
    from rarefind.tables import TableModel

#: Rows and values kept at most for the profile of the columns.
_SAMPLE, _SAMPLE_VALUES = 200_000, 12_000_000
_CHUNK, _CHUNK_VALUES = 100_000, 5_000_000


class Labels(NamedTuple):
    """Which rows have a label, and which of them are positive."""

    known: Bools
    positive: Bools


class ScoredFile(NamedTuple):
    """What a report needs of a file; arrays have one entry for each of its rows."""

    priority: Floats
    probability: Floats | None
    group: Ints
    owner: Ints | None
    labels: Labels | None
    times: Times | None
    amount: Floats | None
    sample: pd.DataFrame
    candidates: pd.DataFrame  # rows that may be among the first of the list
    drift: pd.DataFrame | None
    known_ids: int  # rows with the identifier of a positive that the model learned from

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return int(self.priority.size)

    def listed(self, budget: int | float | str) -> Bools:
        """The rows that a budget checks."""
        return on_list(self.priority, budget, self.group, self.owner)

    def checks(self, budget: int | float | str) -> Floats:
        """The checks of the group of each row."""
        numbers, sizes = np.unique(self.group, return_counts=True)
        return checks_of(budget, dict(zip(numbers.tolist(), sizes.tolist(), strict=True)))(
            self.group
        )

    def top(self, listed: Bools, count: int) -> pd.DataFrame:
        """The first rows of the list, the highest priority ahead."""
        rows = np.flatnonzero(listed)
        first = rows[np.argsort(-self.priority[rows], kind="stable")[:count]]
        return self.candidates.loc[first]


def score_file(
    model: TableModel,
    data: Table | TableFile,
    request: ListRequest,
    top: int,
    *,
    probability: bool = False,
) -> ScoredFile:
    """Score a table, or a file piece by piece."""
    if not isinstance(data, TableFile):
        frame = as_frame(data).reset_index(drop=True)
        return score_chunks(model, [frame], request, top, probability=probability)
    width = max(1, len(model.encoder_.columns_))
    size = min(_CHUNK, max(1000, _CHUNK_VALUES // width))
    chunks = read_chunks(data, size, like=model.types_ or None)
    return score_chunks(model, with_progress(chunks, data), request, top, probability=probability)


def score_chunks(
    model: TableModel,
    chunks: Iterable[pd.DataFrame],
    request: ListRequest,
    top: int,
    *,
    probability: bool = False,
) -> ScoredFile:
    """Score the pieces of a table."""
    scores, groups, sample = ScoreSink(), _Groups(), _Sample()
    best, drift, verdicts = _Candidates(model, request, top), DriftSink(model), VerdictSink(model)
    times, ids, amount = TimeSink(model.time), ColumnSink(model.id), ColumnSink(model.amount)
    owner = ColumnSink(model.entity if request.one_per is True else request.one_per or None)
    sinks: list[Sink] = [scores, groups, sample, best, drift, verdicts, times, ids, amount, owner]
    pieces = pieces_of(chunks, Groups(request.per, model.time))
    if not score_pieces(model, pieces, sinks, probability=probability):
        raise ValueError("There are no rows to report on.")
    labels = _labels(verdicts.verdict())
    return ScoredFile(
        priority=scores.priority(),
        probability=scores.probability() if probability else None,
        group=np.concatenate(groups.parts),
        owner=_of(owner, entity_codes),
        labels=labels,
        times=times.times(),
        amount=_of(amount, lambda column: pd.to_numeric(column, errors="coerce").to_numpy(float)),
        sample=pd.concat(sample.parts),
        candidates=best.rows,
        drift=drift.table(),
        known_ids=_known_ids(model, ids.column(), labels),
    )


def _of(sink: ColumnSink, read: Callable[[pd.Series[Any]], Array]) -> Array | None:
    column = sink.column()
    return None if column is None else read(column)


def _labels(verdict: Array) -> Labels | None:
    return Labels(verdict >= 0, verdict == 1) if (verdict >= 0).any() else None


def _known_ids(model: TableModel, ids: pd.Series[Any] | None, labels: Labels | None) -> int:
    """Rows with the identifier of a positive of the fit, but for those labelled negative."""
    if ids is None:
        return 0
    known = ids.astype(str).isin(set(model.known_names_.values())).to_numpy()
    if labels is not None:
        known = known & (labels.positive | ~labels.known)
    return int(known.sum())


class _Groups:
    """The group of each row."""

    def __init__(self) -> None:
        self.parts: list[Ints] = []

    def take(self, piece: ScoredPiece) -> Ints:
        return piece.group

    def add(self, taken: Ints) -> None:
        self.parts.append(taken)


class _Sample:
    """Every so many-th row; fewer of them as the file goes on."""

    def __init__(self) -> None:
        self.parts: list[pd.DataFrame] = []
        self._step = 1

    def take(self, piece: ScoredPiece) -> pd.DataFrame:
        return piece.table

    def add(self, taken: pd.DataFrame) -> None:
        self.parts.append(self._thin(taken))
        limit = min(_SAMPLE, max(1000, _SAMPLE_VALUES // max(1, taken.shape[1])))
        while sum(map(len, self.parts)) > limit:
            self._step *= 2
            self.parts = [self._thin(part) for part in self.parts]

    def _thin(self, part: pd.DataFrame) -> pd.DataFrame:
        return part[part.index.to_numpy() % self._step == 0]


class _Candidates:
    """The rows that may be among the first of the list, indexed by their place in the file."""

    def __init__(self, model: TableModel, request: ListRequest, top: int) -> None:
        self._model, self._request, self._top = model, request, top
        is_share = budget_share(request.budget) is not None
        # Of a share it is not known before the end how many rows of a group are on the list.
        self._most = None if is_share and request.per is not None else top
        checks = top if is_share else min(top, int(float(request.budget)))
        self._checks = lambda group: np.full(group.size, float(checks))
        self._priority, self._group = np.empty(0), np.empty(0, dtype=np.int64)
        self.rows = pd.DataFrame()

    def take(self, piece: ScoredPiece) -> ScoredPiece:
        return piece

    def add(self, taken: ScoredPiece) -> None:
        first = self._first(taken.priority, taken.group, taken.table)
        rows = taken.table.iloc[first].set_axis(first + taken.start)
        # Earlier rows stand first, and stay so among equals.
        rows = pd.concat([self.rows, rows]) if len(self.rows) else rows
        priority = np.concatenate([self._priority, taken.priority[first]])
        group = np.concatenate([self._group, taken.group[first]])
        chosen = self._first(priority, group, rows)
        self.rows = rows.iloc[chosen]
        self._priority, self._group = priority[chosen], group[chosen]

    def _first(self, priority: Floats, group: Ints, table: pd.DataFrame) -> Ints:
        name = self._request.owner_column(self._model.entity, table.columns)
        owner = None if name is None else entity_codes(table[name])
        rows = np.sort(top_rows(priority, group, self._checks, owner))
        if self._most is not None:
            rows = np.sort(rows[np.argsort(-priority[rows], kind="stable")[: self._most]])
        return rows

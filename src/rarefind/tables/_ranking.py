"""The rows to check first, of tables of any size: lists of chunks merge into the list of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import local
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rarefind._core.budget import PERIODS as _PERIODS
from rarefind._core.budget import budget_share
from rarefind._core.types import Array, Floats, Ints, Table
from rarefind.data.frames import as_piece, column_names, entity_codes, part_of
from rarefind.metrics import budget as checks_bought

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

Budget: TypeAlias = int | float | str
Chunks: TypeAlias = Iterable[Table] | Callable[[], Iterable[Table]]

# Rows kept of past chunks that are on the list no more, before they are let go.
_SPARE_ROWS = 20_000


class Wanted(NamedTuple):
    """What a list is asked for: how many checks, of what, and each of whom once."""

    budget: Budget
    per: str | None = None
    one_per: str | bool | None = None

    def column_of_one(self, model: TableModel, names: Iterable[str]) -> str | None:
        """The column of which each value is listed once."""
        if not self.one_per:
            return None
        name = model.entity if self.one_per is True else self.one_per
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"one_per={self.one_per!r} names no column of the table.")
        return name


class _Best(NamedTuple):
    """The rows of a chunk that may come on the list, the first ahead."""

    priority: Floats
    period: Array  # int64, the number of the period
    entity: Array | None  # whose row it is, as the table says; missing values stand alone
    position: Array  # int64, among the rows of all chunks
    rows: pd.DataFrame  # what is kept of them, in the same order

    def merged(self, later: _Best, chosen: Ints) -> _Best:
        """Some rows of this list and a later one, by their places in both together; no tables."""
        entity = None
        if self.entity is not None and later.entity is not None:
            entity = np.concatenate([self.entity, later.entity])[chosen]
        return _Best(
            np.concatenate([self.priority, later.priority])[chosen],
            np.concatenate([self.period, later.period])[chosen],
            entity,
            np.concatenate([self.position, later.position])[chosen],
            self.rows,
        )


class _Kept:
    """The tables of the rows on the list, from as many chunks; rows that fell off go now and then.

    To leave them out after each chunk would copy the whole list each time.
    """

    def __init__(self) -> None:
        self._parts: list[pd.DataFrame] = []
        self._position = np.empty(0, dtype=np.int64)

    def add(self, rows: pd.DataFrame, position: Array) -> None:
        self._parts.append(rows)
        self._position = np.concatenate([self._position, position])

    def let_go(self, but: Array) -> None:
        """Leave out all rows but those at the positions, if there are many others."""
        if self._position.size > 2 * but.size + _SPARE_ROWS:
            self._parts, self._position = [self.at(but)], but

    def at(self, position: Array) -> pd.DataFrame:
        """The rows at the positions, in their order."""
        whole = self._parts[0] if len(self._parts) == 1 else pd.concat(self._parts)
        order = np.argsort(self._position)
        return whole.iloc[order[np.searchsorted(self._position, position, sorter=order)]]


class Chunk(NamedTuple):
    """Some rows of the table, how many came before them, and the period that each falls in."""

    table: Table
    start: int
    period: Array


def rank_chunks(
    model: TableModel, chunks: Chunks, wanted: Wanted, rows: int | None, reasons: bool
) -> pd.DataFrame:
    """The list of all chunks together."""
    share = budget_share(wanted.budget)
    again = chunks if callable(chunks) else lambda: chunks
    if share is None:
        counts = None
    elif rows is not None and wanted.per is None:
        counts = {0: rows}
    elif not callable(chunks) and iter(chunks) is chunks:
        raise ValueError(
            f"A budget of {wanted.budget} is a share of rows that are not counted yet: give "
            "chunks that can be read twice (a list, or a function that opens them)"
            + (", or rows=." if wanted.per is None else ".")
        )
    else:
        counts = period_counts(pieces(again(), Periods(model, wanted.per)))
    scorer = Scorer(model, wanted, counts)
    scored = map(scorer, pieces(again(), Periods(model, wanted.per)))
    return merged_list(model, scorer, scored, reasons)


def pieces(chunks: Iterable[Table], periods: Periods) -> Iterator[Chunk]:
    """The chunks in order; those without rows are passed over."""
    start = 0
    for chunk in chunks:
        table = as_piece(chunk, start)
        if len(table):
            yield Chunk(table, start, periods.of(table))
            start += len(table)


class Periods:
    """In which period each row falls.

    pandas reads a column of text by its first value: here that is the first of all chunks.
    """

    def __init__(self, model: TableModel, per: str | None) -> None:
        if per is not None and per not in _PERIODS:
            raise ValueError(f"per= is one of {', '.join(_PERIODS)}, not {per!r}.")
        self._time, self._per = model.time, per
        self._first: pd.Series[Any] | None = None

    def of(self, table: Table) -> Array:
        """The number of the period of each row: 0 for all without periods."""
        if self._per is None:
            return np.zeros(len(table), dtype=np.int64)
        name = self.column(column_names(table))
        return self._numbers(part_of(table, [name])[name])

    def column(self, names: Iterable[str]) -> str:
        """The column with the time, which has to be there."""
        if self._time is None or self._time not in names:
            raise ValueError(
                f"per={self._per!r} needs the column with the time, and there is none."
            )
        return self._time

    def _numbers(self, column: pd.Series[Any]) -> Array:
        if pd.api.types.is_numeric_dtype(column):
            raise ValueError(
                f"{column.name} holds numbers; turn it into dates (pandas.to_datetime)."
            )
        if column.isna().any():
            raise ValueError(f"{column.name} is missing in {int(column.isna().sum())} rows.")
        if pd.api.types.is_datetime64_any_dtype(column):
            times = column
        else:
            if self._first is None:
                self._first = column.iloc[:1]
            times = pd.to_datetime(pd.concat([self._first, column])).iloc[1:]
        if times.dt.tz is not None:
            times = times.dt.tz_localize(None)
        return np.asarray(pd.PeriodIndex(times.dt.to_period(_PERIODS[str(self._per)])).asi8)

    def texts(self, numbers: Array) -> Array:
        """What the periods are called."""
        freq = _PERIODS[str(self._per)]
        return np.array([str(pd.Period(ordinal=int(n), freq=freq)) for n in numbers], dtype=object)


def period_counts(chunks: Iterable[Chunk]) -> dict[int, int]:
    """How many rows each period has."""
    counts: Counter[int] = Counter()
    for chunk in chunks:
        numbers, found = np.unique(chunk.period, return_counts=True)
        counts.update(dict(zip(numbers.tolist(), found.tolist(), strict=True)))
    return counts


class _Memory(local):
    """Memory of each thread for the chunk that it scores, and for the next one."""

    def __init__(self) -> None:
        self._held = np.empty(0)

    def empty(self, shape: tuple[int, int], order: Literal["C", "F"]) -> Floats:
        """An array, of use until the next one is asked for."""
        size = shape[0] * shape[1]
        if self._held.size < size:
            self._held = np.empty(size)
        return self._held[:size].reshape(shape, order=order)


class Scorer:
    """Scores chunks, and keeps of each the rows that may come on the list.

    Rows that do not come before ``least``, the end of a full list, are not kept.
    """

    def __init__(self, model: TableModel, wanted: Wanted, counts: Mapping[int, int] | None) -> None:
        self._model, self.wanted = model, wanted
        self.checks = _checks(wanted.budget, counts)
        self._memory = _Memory()
        self.least = np.nan  # nothing is lower than no number

    def __call__(self, chunk: Chunk) -> _Best:
        """The best rows of a chunk."""
        table, period = chunk.table, chunk.period
        names = column_names(table)
        name = self.wanted.column_of_one(self._model, names)
        owner = None if name is None else part_of(table, [name])[name]
        priority = self._model._priority(table, self._memory.empty)
        codes = None if owner is None else entity_codes(owner)
        best = _first_rows(priority, period, codes, self.checks)
        # An equal row of a later chunk comes after; what is no number comes last.
        best = best[~(priority[best] <= self.least)]
        model = self._model
        kept = [*model.encoder_.columns_, model.id, model.entity, model.time, model.amount]
        columns = dict.fromkeys(column for column in kept if column in names)
        return _Best(
            priority[best],
            period[best],
            None if owner is None else owner.iloc[best].to_numpy(dtype=object),
            best + chunk.start,
            part_of(table, list(columns), best, chunk.start),
        )


def merged_list(
    model: TableModel,
    scorer: Scorer,
    scored: Iterable[_Best],
    reasons: bool,
) -> pd.DataFrame:
    """The list of all chunks from the best rows of each, which come in the order of the chunks."""
    wanted, checks, kept = scorer.wanted, scorer.checks, _Kept()
    top: _Best | None = None
    for best in scored:
        kept.add(best.rows, best.position)
        if top is None:
            top = best
            continue
        # Of equal rows those of earlier chunks stay ahead.
        both = top.merged(best, np.arange(top.priority.size + best.priority.size))
        codes = None if both.entity is None else entity_codes(pd.Series(both.entity))
        top = top.merged(best, _first_rows(both.priority, both.period, codes, checks))
        kept.let_go(but=top.position)
        if wanted.per is None and top.priority.size >= checks(top.period[:1])[0]:
            scorer.least = float(top.priority[-1])
    if top is None:
        return pd.DataFrame(columns=["rank", "priority", "probability"])
    return _listed(model, top._replace(rows=kept.at(top.position)), wanted.per, reasons)


def _checks(budget: Budget, counts: Mapping[int, int] | None) -> Callable[[Array], Floats]:
    """How many checks each of some periods has, by the rows of each where a share is asked for."""
    if counts is None:
        return lambda period: np.full(period.size, float(budget))

    def checks(period: Array) -> Floats:
        different, place = np.unique(period, return_inverse=True)
        bought = [checks_bought(budget, counts[number]) for number in different.tolist()]
        return np.array(bought, dtype=np.float64)[place]

    return checks


def _first_rows(
    priority: Floats, period: Array, entity: Array | None, checks: Callable[[Array], Floats]
) -> Ints:
    """The rows to check, by period and then the highest first; of equal rows the earlier one."""
    order = np.lexsort((-priority, period))
    if entity is not None:
        seen = pd.DataFrame({"period": period[order], "entity": entity[order]}).duplicated()
        order = order[~seen.to_numpy()]
    return order[_places(period[order]) <= checks(period[order])]


def _places(period: Array) -> Array:
    """The place of each row among those of its period, from 1; periods are in order."""
    return np.arange(period.size) - np.searchsorted(period, period) + 1


def _listed(model: TableModel, top: _Best, per: str | None, reasons: bool) -> pd.DataFrame:
    """The rows in the order of the list, with what people need to know of each."""
    rows = top.rows
    listed = pd.DataFrame({"rank": _places(top.period)}, index=rows.index)
    if per is not None:
        listed[per] = Periods(model, per).texts(top.period)
    for name in (model.id, model.entity, model.time, model.amount):
        if name is not None and name in rows.columns:
            listed[name] = rows[name]
    listed["priority"] = top.priority
    column = list(model.classes_).index(model.positive_)
    listed["probability"] = model.predict_proba(rows)[:, column]
    if reasons and len(rows):
        listed["reason"] = [str(reason) for reason in model.explain(rows)]
    return listed

"""The rows to check first, of tables of any size: lists of pieces merge into the list of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rarefind._core.budget import budget_share
from rarefind._core.types import Array, Floats, Ints, Table
from rarefind.data.frames import column_names, entity_codes, part_of
from rarefind.tables.lists import Checks, Groups, ListRequest, checks_of, places, top_rows
from rarefind.tables.scoring import Piece, ScoredPiece, pieces_of, score_pieces

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

Chunks: TypeAlias = Iterable[Table] | Callable[[], Iterable[Table]]

# Rows kept of past pieces that are on the list no more, before they are let go.
_SPARE_ROWS = 20_000


class _Best(NamedTuple):
    """The rows of a piece that may come on the list, the first ahead."""

    priority: Floats
    group: Ints
    owner: Array | None  # as the table says; rows without an owner stand alone
    position: Ints  # among the rows of all pieces
    rows: pd.DataFrame  # what is kept of them, in the same order

    def at(self, chosen: Ints) -> _Best:
        """Some of the rows, in another order; without their tables."""
        owner = None if self.owner is None else self.owner[chosen]
        return _Best(
            self.priority[chosen], self.group[chosen], owner, self.position[chosen], self.rows
        )

    def then(self, later: _Best) -> _Best:
        """The rows of this list and those of a later one; without their tables."""
        owner = None
        if self.owner is not None and later.owner is not None:
            owner = np.concatenate([self.owner, later.owner])
        return _Best(
            np.concatenate([self.priority, later.priority]),
            np.concatenate([self.group, later.group]),
            owner,
            np.concatenate([self.position, later.position]),
            self.rows,
        )


class _Kept:
    """The tables of the rows on the list, from as many pieces; rows that fell off go now and then.

    To leave them out after each piece would copy the whole list each time.
    """

    def __init__(self) -> None:
        self._parts: list[pd.DataFrame] = []
        self._position = np.empty(0, dtype=np.int64)

    def add(self, rows: pd.DataFrame, position: Array) -> None:
        self._parts.append(rows)
        self._position = np.concatenate([self._position, position])

    def keep_only(self, position: Array) -> None:
        """Keep the rows at the positions only, if there are many others."""
        if self._position.size > 2 * position.size + _SPARE_ROWS:
            self._parts, self._position = [self.at(position)], position

    def at(self, position: Array) -> pd.DataFrame:
        """The rows at the positions, in their order."""
        whole = self._parts[0] if len(self._parts) == 1 else pd.concat(self._parts)
        order = np.argsort(self._position)
        return whole.iloc[order[np.searchsorted(self._position, position, sorter=order)]]


class ListSink:
    """Keeps of each piece the rows that may come on the list.

    Parameters
    ----------
    model : TableModel
        Fitted.
    request : ListRequest
        What the list is asked for.
    groups : Groups
        Those of the pieces.
    sizes : dict of int to int or None
        Rows of each group, which a share is one of; None for a number of checks.
    """

    def __init__(
        self,
        model: TableModel,
        request: ListRequest,
        groups: Groups,
        sizes: dict[int, int] | None,
    ) -> None:
        self._model, self._request, self._groups = model, request, groups
        self._checks: Checks = checks_of(request.budget, sizes)
        self._kept = _Kept()
        self._top: _Best | None = None
        # The end of a full list; nothing is lower than NaN.
        self._least = np.nan

    def take(self, piece: ScoredPiece) -> _Best:
        """The best rows of a piece."""
        table, model = piece.table, self._model
        names = column_names(table)
        name = self._request.owner_column(model.entity, names)
        owner = None if name is None else part_of(table, [name])[name]
        codes = None if owner is None else entity_codes(owner)
        best = top_rows(piece.priority, piece.group, self._checks, codes)
        # An equal row of a later piece comes after; NaN comes last.
        best = best[~(piece.priority[best] <= self._least)]
        kept = [*model.encoder_.columns_, model.id, model.entity, model.time, model.amount]
        columns = dict.fromkeys(column for column in kept if column in names)
        return _Best(
            piece.priority[best],
            piece.group[best],
            None if owner is None else owner.iloc[best].to_numpy(dtype=object),
            best + piece.start,
            part_of(table, list(columns), best, piece.start),
        )

    def add(self, taken: _Best) -> None:
        """Merge the best rows of the next piece into the list."""
        self._kept.add(taken.rows, taken.position)
        if self._top is None:
            self._top = taken
        else:
            # Of equal rows those of earlier pieces stay ahead.
            both = self._top.then(taken)
            codes = None if both.owner is None else entity_codes(pd.Series(both.owner))
            self._top = both.at(top_rows(both.priority, both.group, self._checks, codes))
            self._kept.keep_only(self._top.position)
        top = self._top
        if self._request.per is None and top.group.size >= self._checks(top.group[:1])[0]:
            self._least = float(top.priority[-1])

    def listed(self, reasons: bool) -> pd.DataFrame:
        """The rows in the order of the list, with what people need to know of each."""
        if self._top is None:
            return pd.DataFrame(columns=["rank", "priority", "probability"])
        model, per = self._model, self._request.per
        # Numbers of groups are in the order in which they came.
        order = np.argsort(self._groups.places(self._top.group), kind="stable")
        top = self._top.at(order)
        rows = self._kept.at(top.position)
        listed = pd.DataFrame({"rank": _ranks(top.group)}, index=rows.index)
        if per is not None:
            listed[per] = self._groups.names(top.group)
        for name in (model.id, model.entity, model.time, model.amount):
            if name is not None and name in rows.columns:
                listed[name] = rows[name]
        listed["priority"] = top.priority
        probability, why = model._probability_and_reasons(rows, reasons=reasons)
        listed["probability"] = probability
        if reasons:
            listed["reason"] = [str(reason) for reason in why]
        return listed


def _ranks(group: Ints) -> Ints:
    """The place of each row among those of its group, from 1; rows of a group are together."""
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1])) if group.size else group
    return places(np.repeat(np.arange(first.size), np.diff(np.append(first, group.size))))


def rank_chunks(
    model: TableModel, chunks: Chunks, request: ListRequest, rows: int | None, reasons: bool
) -> pd.DataFrame:
    """The list of all chunks together."""
    groups = Groups(request.per, model.time)
    again = chunks if callable(chunks) else lambda: chunks
    sizes: dict[int, int] | None = None
    if budget_share(request.budget) is not None:
        if rows is not None and request.per is None:
            sizes = {0: rows}
        elif not callable(chunks) and iter(chunks) is chunks:
            raise ValueError(
                f"A budget of {request.budget} is a share of rows that are not counted yet: give "
                "chunks that can be read twice (a list, or a function that opens them)"
                + (", or rows=." if request.per is None else ".")
            )
        else:
            sizes = group_sizes(pieces_of(again(), groups))
    sink = ListSink(model, request, groups, sizes)
    score_pieces(model, pieces_of(again(), groups), [sink])
    return sink.listed(reasons)


def group_sizes(pieces: Iterable[Piece]) -> dict[int, int]:
    """How many rows each group has."""
    counts: Counter[int] = Counter()
    for piece in pieces:
        numbers, found = np.unique(piece.group, return_counts=True)
        counts.update(dict(zip(numbers.tolist(), found.tolist(), strict=True)))
    return counts

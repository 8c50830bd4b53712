"""Distances of rows to points of each class, without themselves: leave-one-out or folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import IntArray, Object, StateError, Whole
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats, Ints
from rarefind.search import NeighborSearch

# Rows are searched this many at a time, so that progress can be shown.
_BLOCK = 2048


# A query takes memory for as many neighbours as it asks for, whether or not there are so many.
MOST_ASKED = 1000


def _check_asked(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if state["k"] > max(MOST_ASKED, sizes["n"]):
        raise StateError(f"'k' asks for {state['k']} of {sizes['n']} points")
    if state["code"] >= 0 and not sizes["n"]:
        raise StateError("a class has no points")


@saved(
    "point-set",
    state=State(
        {
            "search": Object("neighbor-search", n="n", d="d"),
            "k": Whole(1),
            "code": Whole(-1),
            "rows": IntArray("n", low=-1),
        },
        _check_asked,
    ),
)
class PointSet(NamedTuple):
    """Points of one class, and how many of them a query asks for."""

    search: NeighborSearch
    k: int
    code: int  # the class, -1 for synthetic points
    rows: Ints  # the training row of each point, -1 for synthetic points


def query(
    sets: Sequence[PointSet], X: Array, exclude: Sequence[Ints] | None = None
) -> list[Floats]:
    """Distances of each row to the nearest points of each set, and how many it is a copy of.

    An array of shape (n, k) a set, and at the end one of shape (n, sets) with the copies.
    """
    found = [
        s.search.query_and_count(X, s.k, None if exclude is None else exclude[i])
        for i, s in enumerate(sets)
    ]
    return distances_and_copies(found)


def distances_and_copies(found: Sequence[tuple[Floats, Ints, Ints]]) -> list[Floats]:
    """What :func:`query` gives, from what was found in each set."""
    copies = np.column_stack([here for _, _, here in found]).astype(float)
    return [*(distance for distance, _, _ in found), copies]


def blocks(rows: Ints) -> list[Ints]:
    """Cut rows into blocks of the same size, nearly."""
    return np.array_split(rows, max(1, -(-rows.size // _BLOCK)))


# What is measured of rows: their distances to the sets, or scores that need more than these.
Measure = Callable[[Sequence[PointSet], Array, Sequence[Ints] | None], list[Floats]]


def leave_one_out(
    sets: Sequence[PointSet],
    X: Array,
    codes: Ints,
    rows: Ints,
    step: Callable[[], None],
    measure: Measure = query,
) -> list[Floats]:
    """Measure training rows among all the others; ``sets`` hold the classes in row order."""
    place = np.empty(codes.size, dtype=np.intp)
    for s in sets:
        own = codes == s.code
        place[own] = np.arange(own.sum())
    parts = []
    for block in blocks(rows):
        exclude = [np.where(codes[block] == s.code, place[block], -1) for s in sets]
        parts.append(measure(sets, X[block], exclude))
        step()
    return _stack(parts)


def out_of_fold(
    make_sets: Callable[[Ints], Sequence[PointSet]],
    X: Array,
    pairs: Sequence[tuple[Ints, Ints]],
    step: Callable[[], None],
    measure: Measure = query,
) -> list[Floats]:
    """Measure the test rows of each fold, one fold after the other, among its training rows."""
    parts = []
    for train, test in pairs:
        parts.append(measure(make_sets(train), X[test], None))
        step()
    return _stack(parts)


def draw_queries(codes: Ints, most: int, rng: np.random.RandomState) -> Floats:
    """Weights of the rows to hold out: 1, or a sample stands for all rows of a larger class."""
    weight = np.ones(codes.size)
    for code, size in enumerate(np.bincount(codes)):
        if size > most:
            own = np.flatnonzero(codes == code)
            weight[own] = 0.0
            weight[rng.choice(own, most, replace=False)] = size / most
    return weight


def _stack(parts: list[list[Floats]]) -> list[Floats]:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]

"""Neighbourhoods that grow to the k-th positive and on to the next negative, counted unsorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from rarefind._core.kernels import kernel
from rarefind._core.types import Floats, Ints
from rarefind.search import NeighborSearch

# Points that are compared with a row at a time: few enough to stay in the fastest memory.
_BLOCK = 256

# The least sum above 0.
_SMALLEST = float(np.nextafter(0.0, 1.0))

# Sums that order points as their distances do.
_SQUARES, _GAPS, _LARGEST_GAP, _POWERS = range(4)


class Neighbourhoods(NamedTuple):
    """What lies around each row."""

    positives: Floats  # how many the neighbourhood holds
    negatives: Floats
    d_pos: Floats  # distance to the nearest one, inf where there is none
    d_neg: Floats


def neighbourhoods(
    rows: Floats,
    positives: NeighborSearch,
    negatives: NeighborSearch,
    k: int,
    own: Sequence[Ints],
) -> Neighbourhoods:
    """Grow each row's neighbourhood until it holds ``k`` positives and the next is a negative.

    At equal distances positives come first, but for copies of the row itself, which all belong to
    it. ``own`` numbers among the positives and among the
    negatives the point that is the row itself, or -1; it does not count.
    """
    kind, power = _sum_of(positives.distance, positives.p)
    # The searches keep the points as their distance compares them, cosine as directions.
    points = positives._points, negatives._points
    placed = positives._embed(rows)
    jobs = effective_n_jobs(-1 if positives.n_jobs is None else positives.n_jobs)
    jobs = min(jobs, max(1, len(rows) // 16))

    def in_threads(work: Callable[..., Any], *by_row: Floats | Ints) -> tuple[Any, ...]:
        """Arrays of what the kernel finds for rows, the rows shared among threads."""
        parts = np.array_split(np.arange(len(rows)), 1 if jobs == 1 else 4 * jobs)
        done = Parallel(n_jobs=jobs, require="sharedmem")(
            delayed(work)(*(array[i] for array in by_row)) for i in parts
        )
        return tuple(map(np.concatenate, zip(*done, strict=True)))

    first, found = in_threads(
        lambda x, o: smallest(x, points[0], k, o, kind, power), placed, own[0]
    )
    edge = first[np.arange(len(rows)), np.clip(found, 1, k) - 1]
    # Where k positives are copies of the row, its negative copies count too.
    edge = np.where(found > 0, np.maximum(edge, _SMALLEST), 0.0)
    counted = negatives.count_within(placed, edge) if kind == _SQUARES else None
    if counted is None:
        inside, near, beyond = in_threads(
            lambda x, e, o: around(x, points[1], e, o, kind, power), placed, edge, own[1]
        )
    else:
        inside, beyond = counted[0] - ((own[1] >= 0) & (edge > 0)), counted[1]
        near = negatives.query(rows, 1, own[1])[0][:, 0]
        near = 2 * near if negatives.distance == "cosine" else near**2
    # Positives as far as the first negative beyond the edge, and no further, belong to it too.
    upto = np.nextafter(beyond, np.inf)
    inside_positives, _, _ = in_threads(
        lambda x, e, o: around(x, points[0], e, o, kind, power), placed, upto, own[0]
    )
    nearest = np.column_stack([first[:, 0], near])
    if kind == _SQUARES:
        nearest = nearest / 2 if positives.distance == "cosine" else np.sqrt(nearest)
    elif kind == _POWERS:
        nearest = nearest ** (1 / power)
    return Neighbourhoods(inside_positives.astype(float), inside.astype(float), *nearest.T)


def _sum_of(distance: str, p: float) -> tuple[int, float]:
    if distance == "minkowski":
        named = {1.0: _GAPS, 2.0: _SQUARES, np.inf: _LARGEST_GAP}.get(p, _POWERS)
        return named, p
    kinds = {"manhattan": _GAPS, "chebyshev": _LARGEST_GAP}
    return kinds.get(distance, _SQUARES), 2.0


@kernel
def sums(row: Floats, block: Floats, kind: int, power: float, total: Floats) -> None:
    """For each column of the block a number that grows with its distance from the row.

    The features are added one after the other, the columns side by side: the sums have one order,
    and the processor makes several of them at a time.
    """
    total[:] = 0.0
    for f in range(block.shape[0]):
        value, column = row[f], block[f]
        if kind == _SQUARES:
            for j in range(column.size):
                gap = value - column[j]
                total[j] += gap * gap
        elif kind == _GAPS:
            for j in range(column.size):
                total[j] += abs(value - column[j])
        elif kind == _LARGEST_GAP:
            for j in range(column.size):
                total[j] = max(total[j], abs(value - column[j]))
        else:
            for j in range(column.size):
                total[j] += abs(value - column[j]) ** power


@kernel
def smallest(
    rows: Floats, points: Floats, k: int, own: Ints, kind: int, power: float
) -> tuple[Floats, Ints]:
    """The k smallest sums of each row, filled up with inf, and how many points there are."""
    n = rows.shape[0]
    first = np.full((n, k), np.inf)
    found = np.zeros(n, dtype=np.intp)
    for start in range(0, points.shape[0], _BLOCK):
        block = np.ascontiguousarray(points[start : start + _BLOCK].T)
        total = np.empty(block.shape[1])
        for i in range(n):
            sums(rows[i], block, kind, power, total)
            for j in range(total.size):
                if start + j == own[i]:
                    continue
                found[i] += 1
                if total[j] < first[i, k - 1]:
                    at = k - 1
                    while at > 0 and first[i, at - 1] > total[j]:
                        first[i, at] = first[i, at - 1]
                        at -= 1
                    first[i, at] = total[j]
    return first, found


@kernel
def around(
    rows: Floats, points: Floats, edge: Floats, own: Ints, kind: int, power: float
) -> tuple[Ints, Floats, Floats]:
    """How many points are nearer than each row's edge, the nearest, and the first beyond."""
    n = rows.shape[0]
    inside = np.zeros(n, dtype=np.intp)
    nearest, beyond = np.full(n, np.inf), np.full(n, np.inf)
    for start in range(0, points.shape[0], _BLOCK):
        block = np.ascontiguousarray(points[start : start + _BLOCK].T)
        total = np.empty(block.shape[1])
        for i in range(n):
            sums(rows[i], block, kind, power, total)
            if start <= own[i] < start + total.size:
                total[own[i] - start] = np.inf
            count = 0
            for j in range(total.size):
                count += total[j] < edge[i]
            inside[i] += count
            for j in range(total.size):
                if total[j] < nearest[i]:
                    nearest[i] = total[j]
                if edge[i] <= total[j] < beyond[i]:
                    beyond[i] = total[j]
    return inside, nearest, beyond

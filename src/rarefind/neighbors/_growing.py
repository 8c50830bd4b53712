"""Neighbourhoods that grow to the k-th positive and on to the next negative, counted unsorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from rarefind._numba import kernel
from rarefind._typing import Floats, Ints
from rarefind.search import NeighborSearch

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

    At equal distances positives come first. ``own`` numbers among the positives and among the
    negatives the point that is the row itself, or -1; it does not count.
    """
    kind, power = _sum_of(positives.distance, positives.p)
    # The searches keep the points as their distance compares them, cosine as directions.
    points = positives._points, negatives._points
    rows = positives._embed(rows)
    jobs = effective_n_jobs(-1 if positives.n_jobs is None else positives.n_jobs)
    jobs = min(jobs, max(1, len(rows) // 16))
    parts = np.array_split(np.arange(len(rows)), 1 if jobs == 1 else 4 * jobs)
    done = Parallel(n_jobs=jobs, prefer="threads")(
        delayed(grow)(rows[i], *points, k, own[0][i], own[1][i], kind, power) for i in parts
    )
    counts = np.concatenate([c for c, _ in done]).astype(float)
    nearest = np.concatenate([n for _, n in done])
    if kind == _SQUARES:
        nearest = nearest / 2 if positives.distance == "cosine" else np.sqrt(nearest)
    elif kind == _POWERS:
        nearest = nearest ** (1 / power)
    return Neighbourhoods(counts[:, 0], counts[:, 1], nearest[:, 0], nearest[:, 1])


def _sum_of(distance: str, p: float) -> tuple[int, float]:
    if distance == "minkowski":
        named = {1.0: _GAPS, 2.0: _SQUARES, np.inf: _LARGEST_GAP}.get(p, _POWERS)
        return named, p
    kinds = {"manhattan": _GAPS, "chebyshev": _LARGEST_GAP}
    return kinds.get(distance, _SQUARES), 2.0


@kernel
def apart(
    rows: Floats, i: int, points: Floats, j: int, kind: int, power: float, limit: float
) -> float:
    """Sum that orders points as their distances do; left unfinished beyond the limit."""
    total = 0.0
    if kind == _SQUARES:
        for f in range(rows.shape[1]):
            gap = rows[i, f] - points[j, f]
            total += gap * gap
            if total > limit:
                break
    elif kind == _GAPS:
        for f in range(rows.shape[1]):
            total += abs(rows[i, f] - points[j, f])
            if total > limit:
                break
    elif kind == _LARGEST_GAP:
        for f in range(rows.shape[1]):
            total = max(total, abs(rows[i, f] - points[j, f]))
    else:
        for f in range(rows.shape[1]):
            total += abs(rows[i, f] - points[j, f]) ** power
            if total > limit:
                break
    return total


@kernel
def grow(
    rows: Floats,
    positives: Floats,
    negatives: Floats,
    k: int,
    own_positive: Ints,
    own_negative: Ints,
    kind: int,
    power: float,
) -> tuple[Ints, Floats]:
    """Count the positives and the negatives of each neighbourhood, and find the nearest of each."""
    n = rows.shape[0]
    counts = np.zeros((n, 2), dtype=np.intp)
    nearest = np.full((n, 2), np.inf)
    first = np.empty(k)
    for i in range(n):
        first[:] = np.inf
        found = 0
        for j in range(positives.shape[0]):
            if j == own_positive[i]:
                continue
            found += 1
            total = apart(rows, i, positives, j, kind, power, first[k - 1])
            if total < first[k - 1]:
                at = k - 1
                while at > 0 and first[at - 1] > total:
                    first[at] = first[at - 1]
                    at -= 1
                first[at] = total
        if found == 0:
            continue
        nearest[i, 0] = first[0]
        edge = first[min(found, k) - 1]
        beyond = np.inf  # the nearest negative that is not nearer than the edge
        for j in range(negatives.shape[0]):
            if j == own_negative[i]:
                continue
            total = apart(rows, i, negatives, j, kind, power, beyond)
            nearest[i, 1] = min(nearest[i, 1], total)
            if total < edge:
                counts[i, 1] += 1
            elif total < beyond:
                beyond = total
        for j in range(positives.shape[0]):
            if j != own_positive[i]:
                total = apart(rows, i, positives, j, kind, power, beyond)
                if total <= beyond:
                    counts[i, 0] += 1
    return counts, nearest

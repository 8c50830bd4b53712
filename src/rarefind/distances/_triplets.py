"""MLFP's loss over all triplets without going through them: sorted distances and running sums.

The loss (3.1) compares, for every anchor, one distance that moves with M to many that do not. So
the fixed ones are sorted once; an anchor's sum of hinges over all of them is then a search and two
running sums. One evaluation costs O((P² + NP)(d + log N)) for P positives and N negatives.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.metrics.pairwise import euclidean_distances

from rarefind._core.deadline import check_time_left, deadline
from rarefind._core.kernels import kernel
from rarefind._core.types import Floats

# Running sums are kept at every so many distances, and finished by hand in between.
_STRIDE = 32
# Threads pay from about so many searches on.
_WORTH_THREADS = 20_000


class SortedDistances(NamedTuple):
    """Squared distances from each anchor to fixed points, sorted, with running sums.

    ``first[i, s]`` is the distance of rank ``s * _STRIDE``, ``sums[i, s]`` the sum of those before
    it and ``squares[i, s]`` that of their squares.
    """

    sorted: Floats
    first: Floats
    sums: Floats
    squares: Floats

    @classmethod
    def between(cls, anchors: Floats, points: Floats) -> SortedDistances:
        """Sort the distances from each anchor to all points, some anchors at a time."""
        n, m = len(anchors), len(points)
        distances = np.empty((n, m))
        steps = -(-m // _STRIDE)
        first, sums, squares = (np.zeros((n, steps)) for _ in range(3))
        for block in np.array_split(np.arange(n), max(1, n * m // 2**21)):
            check_time_left(deadline())
            part = euclidean_distances(anchors[block], points, squared=True)
            part.sort(axis=1)
            distances[block] = part
            first[block] = part[:, ::_STRIDE]
            at = np.arange(0, m, _STRIDE)
            sums[block, 1:] = np.add.reduceat(part, at, axis=1).cumsum(axis=1)[:, :-1]
            squares[block, 1:] = np.add.reduceat(part**2, at, axis=1).cumsum(axis=1)[:, :-1]
        return cls(distances, first, sums, squares)


def hinges_below(
    fixed: SortedDistances, limit: Floats, smooth: float, n_jobs: int | None = None
) -> tuple[float, Floats]:
    """Sum of h(A − D) over all limits A of each anchor and its fixed distances D, with h′ sums.

    ``limit`` has a row an anchor; h is the hinge, quadratic on (0, ``smooth``). Returns the total
    and for each limit the sum of h′, the number of distances below it where h is straight.
    """
    return _by_threads(_below, fixed, limit, smooth, n_jobs)


def hinges_above(
    fixed: SortedDistances, limit: Floats, smooth: float, n_jobs: int | None = None
) -> tuple[float, Floats]:
    """Sum of h(D − T) over all limits T of each anchor and its fixed distances D, with h′ sums."""
    return _by_threads(_above, fixed, limit, smooth, n_jobs)


def _by_threads(
    part: Callable[..., tuple[float, Floats]],
    fixed: SortedDistances,
    limit: Floats,
    smooth: float,
    n_jobs: int | None,
) -> tuple[float, Floats]:
    """Share the anchors among threads, in parts that do not depend on the number of cores."""
    limit = np.ascontiguousarray(limit)
    cores = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    if limit.size < _WORTH_THREADS or cores == 1:
        return part(*fixed, limit, smooth)
    cuts = np.linspace(0, len(limit), 9).astype(int)

    def work(start: int, stop: int) -> tuple[float, Floats]:
        return part(*(table[start:stop] for table in fixed), limit[start:stop], smooth)

    # joblib looks for results every 10 ms, longer than a part takes.
    with ThreadPoolExecutor(cores) as pool:
        found = list(pool.map(work, cuts[:-1], cuts[1:]))
    return sum(total for total, _ in found), np.concatenate([slope for _, slope in found])


@kernel
def _rank(fixed: Floats, first: Floats, limit: float) -> int:
    """How many of an anchor's sorted distances lie below the limit."""
    low, high = 0, first.size
    while low < high:
        middle = (low + high) // 2
        if first[middle] < limit:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0
    rank = (low - 1) * _STRIDE
    last = min(rank + _STRIDE, fixed.size)
    while rank < last and fixed[rank] < limit:
        rank += 1
    return rank


@kernel
def _rank_from(fixed: Floats, first: Floats, start: int, limit: float) -> int:
    """The rank of a limit whose rank is at least ``start``, most often just behind it."""
    for rank in range(start, min(start + _STRIDE, fixed.size)):
        if fixed[rank] >= limit:
            return rank
    return _rank(fixed, first, limit)


@kernel
def _sum_before(fixed: Floats, sums: Floats, rank: int, power: int) -> float:
    """Sum of the ``rank`` smallest distances, or of their squares."""
    step = min(rank // _STRIDE, sums.size - 1)
    total = sums[step]
    for j in range(step * _STRIDE, rank):
        total += fixed[j] if power == 1 else fixed[j] * fixed[j]
    return total


@kernel
def _bent(
    fixed: Floats, sums: Floats, squares: Floats, low: int, high: int, limit: float, smooth: float
) -> tuple[float, float]:
    """Sums of (D − limit)²/2s and |D − limit|/s over the distances of rank low to high."""
    if high == low:
        return 0.0, 0.0
    if high - low <= 2 * _STRIDE:
        value, slope = 0.0, 0.0
        for j in range(low, high):
            gap = abs(fixed[j] - limit)
            value += gap * gap
            slope += gap
        return value / (2 * smooth), slope / smooth
    n = high - low
    total = _sum_before(fixed, sums, high, 1) - _sum_before(fixed, sums, low, 1)
    square = _sum_before(fixed, squares, high, 2) - _sum_before(fixed, squares, low, 2)
    value = square - 2 * limit * total + n * limit * limit
    return max(value, 0.0) / (2 * smooth), abs(total - n * limit) / smooth


@kernel
def _below(
    fixed: Floats, first: Floats, sums: Floats, squares: Floats, limit: Floats, smooth: float
) -> tuple[float, Floats]:
    slope = np.empty(limit.shape)
    value = 0.0
    for i in range(limit.shape[0]):
        f, g, s, q = fixed[i], first[i], sums[i], squares[i]
        for j in range(limit.shape[1]):
            a = limit[i, j]
            straight = _rank(f, g, a - smooth)
            end = _rank_from(f, g, straight, a)
            bent, bent_slope = _bent(f, s, q, straight, end, a, smooth)
            value += straight * (a - smooth / 2) - _sum_before(f, s, straight, 1) + bent
            slope[i, j] = straight + bent_slope
    return value, slope


@kernel
def _above(
    fixed: Floats, first: Floats, sums: Floats, squares: Floats, limit: Floats, smooth: float
) -> tuple[float, Floats]:
    slope = np.empty(limit.shape)
    value = 0.0
    m = fixed.shape[1]
    for i in range(limit.shape[0]):
        f, g, s, q = fixed[i], first[i], sums[i], squares[i]
        total = _sum_before(f, s, m, 1)
        for j in range(limit.shape[1]):
            t = limit[i, j]
            start = _rank(f, g, t)
            straight = _rank_from(f, g, start, t + smooth)
            bent, bent_slope = _bent(f, s, q, start, straight, t, smooth)
            rest = total - _sum_before(f, s, straight, 1)
            value += rest - (m - straight) * (t + smooth / 2) + bent
            slope[i, j] = (m - straight) + bent_slope
    return value, slope

"""Many points in blocks of neighbours: exact searches that leave out most of the distances.

Points are cut into blocks like the leaves of a kd-tree. A block further away than the neighbours
found so far is left out whole. In the others matrix products in single precision say which points
may be nearer, with an error bound, and only those are measured by the definition: the results are
exact, ties included, and a row's result does not depend on the rows beside it.

With centred rows x and z, ‖x−z‖² = ‖x‖² + ‖z‖² − 2xᵀz. Single precision, of unit ε, gets it wrong
by at most (d+16)·ε·(‖x‖² + ‖z‖²). So with both lengths taken less that share it is never too large,
and with that share more never too small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from rarefind._core.kernels import kernel, read_only, reordering_kernel
from rarefind._core.threads import limit_threads
from rarefind._core.types import Array, Floats, Ints

__all__ = ["PointBlocks"]

# Points of a block, at most; rows that a thread searches for at a time.
_LEAF, _ROWS = 1024, 1024
_FEW_ROWS = 32
# Products that are looked at together.
_LOOK = 64
# Rows by which single precision is tried, and the share of all points that it may leave open.
_TRIED, _LEFT_OPEN = 32, 0.05
# Boxes are measured with other sums than points: by so much they may be further than they seem.
_MARGIN = 1 - 1e-9


class PointBlocks(NamedTuple):
    """Points in blocks, as the kernels read them."""

    order: Ints  # the number of each point
    points: Floats  # (n, d), block after block
    multiplicity: Array  # (n,) how often each point counts, in single precision
    starts: Ints  # (blocks + 1,)
    low: Floats  # (blocks, d), the corners of the boxes around the blocks
    high: Floats
    centre: Floats
    rough: Array  # (n, d) centred, in single precision
    length: Array  # (n,) their squared lengths

    @classmethod
    def of(cls, points: Floats, multiplicity: Ints) -> PointBlocks:
        """Cut points into blocks; each counts as often as its ``multiplicity`` says."""
        order, starts = _cut(points)
        points = points[order]
        centre = points.mean(axis=0)
        centred = points - centre
        parts = (
            order,
            points,
            multiplicity[order].astype(np.float32),
            starts,
            np.minimum.reduceat(points, starts[:-1]),
            np.maximum.reduceat(points, starts[:-1]),
            centre,
            centred.astype(np.float32),
            np.einsum("ij,ij->i", centred, centred).astype(np.float32),
        )
        return cls(*map(read_only, parts))

    def tells_apart(self) -> bool:
        """Whether single precision leaves few points to measure, tried with some of the points."""
        if not np.isfinite(self.length).all():
            return False
        tried = np.linspace(0, len(self.points) - 1, _TRIED).astype(np.intp)
        with limit_threads(1):
            measured = _nearest(self, self.points[tried], 2)[2]
        return bool(measured < _LEFT_OPEN * _TRIED * len(self.points))

    def nearest(self, rows: Floats, k: int, n_jobs: int | None) -> tuple[Floats, Ints]:
        """The k smallest squared distances of each row and their points, nearest first."""
        found = np.empty((len(rows), k))
        at = np.empty((len(rows), k), dtype=np.intp)

        def search(part: Ints) -> None:
            found[part], at[part], _ = _nearest(self, rows[part], k)

        self._share(rows, search, n_jobs)
        return found, np.where(at < 0, -1, self.order[at])

    def count_nearer(self, rows: Floats, edge: Floats, n_jobs: int | None) -> tuple[Ints, Floats]:
        """How many squared distances are below each row's edge, and the smallest that is not."""
        inside = np.empty(len(rows), dtype=np.intp)
        beyond = np.empty(len(rows))

        def search(part: Ints) -> None:
            inside[part], beyond[part] = _count(self, rows[part], edge[part])

        self._share(rows, search, n_jobs)
        return inside, beyond

    def _share(self, rows: Floats, search: Callable[[Ints], None], n_jobs: int | None) -> None:
        """Search for rows that lie together at a time, shared among threads."""
        if len(rows) <= _FEW_ROWS:  # done before threads have started
            search(np.arange(len(rows)))
            return
        order = np.argsort(_homes(self, read_only(rows)), kind="stable")
        jobs = effective_n_jobs(-1 if n_jobs is None else n_jobs)
        size = min(_ROWS, max(32, -(-len(rows) // (4 * jobs)))) if jobs > 1 else _ROWS
        parts = np.array_split(order, max(1, -(-len(rows) // size)))
        # Threads write to arrays that they share, and each makes its own products.
        with limit_threads(1):
            Parallel(n_jobs=min(jobs, len(parts)), require="sharedmem")(
                delayed(search)(part) for part in parts
            )


def _cut(points: Floats) -> tuple[Ints, Ints]:
    """Halve the points at the median of their widest column, again and again."""
    order = np.arange(len(points))
    waiting, starts = [(0, len(points))], []
    while waiting:
        start, stop = waiting.pop()
        part = order[start:stop]
        if part.size <= _LEAF:
            starts.append(start)
            continue
        seen = points[part[:: max(1, part.size // 256)]]
        column = int(np.argmax(seen.max(axis=0) - seen.min(axis=0)))
        half = part.size // 2
        part[:] = part[np.argpartition(points[part, column], half)]
        # The lower half next, so that blocks are listed in order.
        waiting += [(start + half, stop), (start, start + half)]
    return order, np.append(starts, len(points))


@kernel
def _apart(row: Floats, low: Floats, high: Floats) -> float:
    """Squared distance of a row to a box."""
    total = 0.0
    for f in range(row.size):
        gap = max(low[f] - row[f], row[f] - high[f], 0.0)
        total += gap * gap
    return total


@kernel
def _homes(blocks: PointBlocks, rows: Floats) -> Ints:
    """The block whose box is nearest to each row."""
    homes = np.zeros(rows.shape[0], dtype=np.intp)
    for i in range(rows.shape[0]):
        best = np.inf
        for b in range(blocks.low.shape[0]):
            apart = _apart(rows[i], blocks.low[b], blocks.high[b])
            if apart < best:
                best, homes[i] = apart, b
    return homes


@kernel
def _roughly(blocks: PointBlocks, rows: Floats) -> tuple[Array, Floats]:
    """Rows as the products take them, centred times -2, and their squared lengths."""
    n, d = rows.shape
    rough, length = np.empty((n, d), dtype=np.float32), np.zeros(n)
    for i in range(n):
        for f in range(d):
            value = rows[i, f] - blocks.centre[f]
            rough[i, f] = -2 * value
            length[i] += value * value
    return rough, length


@kernel
def _single(value: float) -> Any:
    """Round to single precision, never down."""
    return np.float32(value + abs(value) * 1.2e-7)


@kernel
def _squared(row: Floats, point: Floats, limit: float) -> float:
    """Squared distance by the definition, given up from the limit on."""
    total = 0.0
    for f in range(row.size):
        gap = row[f] - point[f]
        total += gap * gap
        if total >= limit:
            break
    return total


@reordering_kernel
def _below(line: Array, bound: Array, limit: float, times: Array) -> Any:
    """How many of the sums are below the limit, each as often as it counts.

    Whole numbers in single precision: exact in any order.
    """
    total = np.float32(0)
    for j in range(line.size):
        total += times[j] * np.float32(line[j] + bound[j] < limit)
    return total


@reordering_kernel
def _below_two(
    line: Array, low: Array, high: Array, limit: float, certain: float, times: Array
) -> Any:
    """How many sums are below the limit by the lower bound, and certain by the higher one."""
    maybe, surely = np.float32(0), np.float32(0)
    for j in range(line.size):
        maybe += times[j] * np.float32(line[j] + low[j] < limit)
        surely += times[j] * np.float32(line[j] + high[j] < certain)
    return maybe, surely


@kernel
def _nearest_in_block(
    blocks: PointBlocks,
    b: int,
    rows: Floats,
    rough: Array,
    length: Floats,
    chosen: Ints,
    found: Floats,
    at: Ints,
) -> int:
    """Look for nearer points in one block, for the chosen rows; how many were measured."""
    start, stop = blocks.starts[b], blocks.starts[b + 1]
    k, d = found.shape[1], rows.shape[1]
    less = 1 - (d + 16) * 1.2e-7
    products = np.dot(rough[chosen], blocks.rough[start:stop].T)
    bound = blocks.length[start:stop] * np.float32(less)
    one = np.ones(_LOOK, dtype=np.float32)
    measured = 0
    for c in range(chosen.size):
        i = chosen[c]
        line = products[c]
        limit = _single(found[i, k - 1] - less * length[i])
        for first in range(0, line.size, _LOOK):
            last = min(first + _LOOK, line.size)
            if _below(line[first:last], bound[first:last], limit, one) == 0:
                continue
            for j in range(first, last):
                if not line[j] + bound[j] < limit:
                    continue
                measured += 1
                worst = found[i, k - 1]
                total = _squared(rows[i], blocks.points[start + j], worst)
                if total >= worst:
                    continue
                place = k - 1
                while place > 0 and found[i, place - 1] > total:
                    found[i, place], at[i, place] = found[i, place - 1], at[i, place - 1]
                    place -= 1
                found[i, place], at[i, place] = total, start + j
                limit = _single(found[i, k - 1] - less * length[i])
    return measured


@kernel
def _nearest(blocks: PointBlocks, rows: Floats, k: int) -> tuple[Floats, Ints, int]:
    """The k nearest points of each row, and how many were measured for all of them."""
    n, many = rows.shape[0], blocks.low.shape[0]
    found = np.full((n, k), np.inf)
    at = np.full((n, k), -1, dtype=np.intp)
    rough, length = _roughly(blocks, rows)
    apart = np.empty((many, n))
    home = np.zeros(n, dtype=np.intp)
    for i in range(n):
        for b in range(many):
            apart[b, i] = _apart(rows[i], blocks.low[b], blocks.high[b]) * _MARGIN
            if apart[b, i] < apart[home[i], i]:
                home[i] = b
    measured = 0
    chosen = np.empty(n, dtype=np.intp)
    # Every row begins where it lies; then blocks come in one order, whatever the other rows are.
    for turn in range(2):
        for b in range(many):
            size = 0
            for i in range(n):
                if (home[i] == b) == (turn == 0) and apart[b, i] < found[i, k - 1]:
                    chosen[size] = i
                    size += 1
            if size > 0:
                measured += _nearest_in_block(
                    blocks, b, rows, rough, length, chosen[:size], found, at
                )
    return found, at, measured


@kernel
def _furthest(row: Floats, low: Floats, high: Floats) -> float:
    """Squared distance of a row to the furthest corner of a box."""
    total = 0.0
    for f in range(row.size):
        gap = max(row[f] - low[f], high[f] - row[f])
        total += gap * gap
    return total


@kernel
def _count_in_block(
    blocks: PointBlocks,
    b: int,
    rows: Floats,
    rough: Array,
    length: Floats,
    chosen: Ints,
    edge: Floats,
    inside: Ints,
    beyond: Floats,
) -> None:
    """Count the points of one block that are nearer than the edge, for the chosen rows."""
    start, stop = blocks.starts[b], blocks.starts[b + 1]
    share = (rows.shape[1] + 16) * 1.2e-7
    less, more = 1 - share, 1 + share
    products = np.dot(rough[chosen], blocks.rough[start:stop].T)
    low = blocks.length[start:stop] * np.float32(less)
    high = blocks.length[start:stop] * np.float32(more)
    times = blocks.multiplicity[start:stop]
    for c in range(chosen.size):
        i = chosen[c]
        line = products[c]
        certain = -_single(more * length[i] - edge[i])
        limit = _single(beyond[i] - less * length[i])
        for first in range(0, line.size, _LOOK):
            last = min(first + _LOOK, line.size)
            maybe, surely = _below_two(
                line[first:last],
                low[first:last],
                high[first:last],
                limit,
                certain,
                times[first:last],
            )
            inside[i] += int(surely)
            if maybe == surely:
                continue
            for j in range(first, last):
                if line[j] + high[j] < certain or not line[j] + low[j] < limit:
                    continue
                total = _squared(rows[i], blocks.points[start + j], beyond[i])
                if total < edge[i]:
                    inside[i] += int(times[j])
                elif total < beyond[i]:
                    beyond[i] = total
                    limit = _single(beyond[i] - less * length[i])


@kernel
def _count(blocks: PointBlocks, rows: Floats, edge: Floats) -> tuple[Ints, Floats]:
    """How many points are nearer than each row's edge, and the first that is not."""
    n, many = rows.shape[0], blocks.low.shape[0]
    inside = np.zeros(n, dtype=np.intp)
    beyond = np.full(n, np.inf)
    rough, length = _roughly(blocks, rows)
    sizes = np.zeros(many, dtype=np.intp)
    for b in range(many):
        for j in range(blocks.starts[b], blocks.starts[b + 1]):
            sizes[b] += int(blocks.multiplicity[j])
    chosen = np.empty(n, dtype=np.intp)
    for b in range(many):
        size = 0
        for i in range(n):
            apart = _apart(rows[i], blocks.low[b], blocks.high[b]) * _MARGIN
            if apart >= max(edge[i], beyond[i]):
                continue
            if _furthest(rows[i], blocks.low[b], blocks.high[b]) < edge[i] * _MARGIN:
                inside[i] += sizes[b]
                continue
            chosen[size] = i
            size += 1
        if size > 0:
            _count_in_block(blocks, b, rows, rough, length, chosen[:size], edge, inside, beyond)
    return inside, beyond

"""The push of LMNN: rows of other classes inside the margin, found again only when they must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from rarefind._core.kernels import kernel
from rarefind._core.threads import limit_threads
from rarefind._core.types import Array, Floats, Ints

# Distances are computed in blocks of this many cells; pairs are kept up to about 128 MB.
_BLOCK_CELLS, _MOST_PAIRS = 2**21, 2**25

# How much further than the margin a search goes. Measured: in 30 dimensions a little more makes
# many times the pairs, which cost more than the searches saved.
_SLACK = 0.02

_T = TypeVar("_T")


class _Block(NamedTuple):
    """Some anchors, by their number, and the rows of other classes that are near them."""

    numbers: Ints
    start: Ints  # the near rows of the a-th of them are pairs[start[a]:start[a + 1]]
    pairs: Array


class _Found(NamedTuple):
    """What a search found, under which map, and how far from each anchor it looked."""

    blocks: list[list[_Block]]
    components: Floats
    inverse: Floats | None
    reach: Floats


class Impostors:
    """Sum of the hinges over all triplets, exact, from the pairs that can be inside the margin.

    A search keeps for each anchor the rows of other classes that are within a little more than its
    margin. A row left out was further than ``reach`` under the map L of the search, so under a
    later map L' it is further than reach·σ_min(L'L⁻¹), and further than reach less what the two
    rows have moved. While the larger of these is beyond the margin, no impostor is missed.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows, centred.
    codes : ndarray of shape (n,)
        Their classes.
    anchors, weight : ndarray of shape (a,)
        The rows that have targets, and how many rows each stands for.
    targets : ndarray of shape (a, k)
        The targets, -1 for none.
    n_jobs : int, default=None
        Cores; None uses all.
    """

    def __init__(
        self,
        X: Floats,
        codes: Ints,
        anchors: Ints,
        weight: Floats,
        targets: Ints,
        n_jobs: int | None = None,
    ) -> None:
        self.X = X
        self.anchors, self.weight, self.targets = anchors, weight, targets
        self.n_searches = 0
        self._others = [np.flatnonzero(codes != c) for c in range(int(codes.max()) + 1)]
        self._parts = _shares(codes[anchors], self._others)
        self._jobs = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), len(self._parts))
        self._found: _Found | None = None

    def push(self, components: Floats) -> tuple[float, Floats]:
        """Sum the hinges under the map L; half their gradient in the places of the rows."""
        placed = self.X @ components.T
        near = target_distances(placed, self.anchors, self.targets)
        known = self._found
        if known is not None and self._suffices(known, components, near):
            sums = self._on_all_cores(
                partial(self._push_blocks, placed, near, blocks) for blocks in known.blocks
            )
        else:
            sums = self._search(components, placed, near)
        # The parts are always the same, and so is the order of this sum, however many the cores.
        return sum(total for total, _ in sums), np.asarray(sum(force for _, force in sums))

    def _push_blocks(
        self, placed: Floats, near: Floats, blocks: Iterable[_Block]
    ) -> tuple[float, Floats]:
        total, force = 0.0, np.zeros_like(placed)
        for block in blocks:
            total += push_apart(
                placed, self.anchors, self.weight, self.targets, near, *block, force
            )
        return total, force

    def _on_all_cores(self, tasks: Iterable[Callable[[], _T]]) -> list[_T]:
        if self._jobs == 1:
            return [task() for task in tasks]
        # The threads are ours, not those of the matrix products.
        with limit_threads(1):
            found: list[_T] = Parallel(n_jobs=self._jobs, require="sharedmem")(
                delayed(task)() for task in tasks
            )
        return found

    def _suffices(self, found: _Found, components: Floats, near: Floats) -> bool:
        gaps = self.X @ (components - found.components).T
        moved = np.sqrt(np.add.reduce(gaps * gaps, axis=1))
        still = found.reach - moved[self.anchors] - moved.max()
        # A little less than the bound, for what rounding may add.
        inside = _margin(near) <= (1 - 1e-9) * still
        if found.inverse is None or inside.all():
            return bool(inside.all())
        # Only where that bound is not enough: on few rows this one costs more than the push.
        shrunk = np.linalg.svd(components @ found.inverse, compute_uv=False)[-1]
        inside |= _margin(near) <= (1 - 1e-9) * (found.reach * shrunk)
        return bool(inside.all())

    def _search(
        self, components: Floats, placed: Floats, near: Floats
    ) -> list[tuple[float, Floats]]:
        """Push, finding the near rows of all anchors; keep them if they are not too many."""
        self.n_searches += 1
        self._found = None
        reach = (1 + _SLACK) * _margin(near)
        length = np.einsum("ij,ij->i", placed, placed)
        most = _MOST_PAIRS // len(self._parts)
        kept: list[list[_Block]] = [[] for _ in self._parts]

        def blocks(number: int) -> Iterator[_Block]:
            size = 0
            for c, numbers in self._parts[number]:
                others, rows = self._others[c], self.anchors[numbers]
                products = placed[rows] @ placed[others].T
                start, pairs = within(
                    products, length[rows], length[others], reach[numbers] ** 2, others
                )
                size += pairs.size
                if size <= most:
                    kept[number].append(_Block(numbers, start, pairs))
                yield _Block(numbers, start, pairs)

        sums = self._on_all_cores(
            partial(self._push_blocks, placed, near, blocks(number))
            for number in range(len(self._parts))
        )
        if all(len(some) == len(part) for some, part in zip(kept, self._parts, strict=True)):
            self._found = _Found(kept, components.copy(), _inverse(components), reach)
        return sums


def _shares(classes: Ints, others: list[Ints]) -> list[list[tuple[int, Ints]]]:
    """The anchors, by class and in blocks, dealt out to a fixed number of parts.

    One part where there is little to do, else eight: each holds a sum of the size of the table.
    """
    blocks = []
    for c in np.unique(classes):
        numbers = np.flatnonzero(classes == c)
        step = max(1, _BLOCK_CELLS // max(1, others[c].size))
        blocks += [(int(c), numbers[a : a + step]) for a in range(0, numbers.size, step)]
    cells = sum(numbers.size * others[c].size for c, numbers in blocks)
    parts = min(8, len(blocks)) if cells > _BLOCK_CELLS else 1
    return [blocks[part::parts] for part in range(parts)]


def _margin(near: Floats) -> Floats:
    """The distance inside of which a row of another class is an impostor."""
    return np.asarray(np.sqrt(1.0 + near.max(axis=1)))


def _inverse(components: Floats) -> Floats | None:
    """The inverse of a map that has one worth using."""
    square = components.shape[0] == components.shape[1]
    if not square or not np.linalg.cond(components) < 1e6:
        return None
    return np.asarray(np.linalg.inv(components))


@kernel
def target_distances(placed: Floats, anchors: Ints, targets: Ints) -> Floats:
    """Squared distance of each anchor to its targets, -inf where there is none."""
    found = np.full(targets.shape, -np.inf)
    for a in range(anchors.size):
        for j in range(targets.shape[1]):
            if targets[a, j] < 0:
                continue
            total = 0.0
            for f in range(placed.shape[1]):
                gap = placed[anchors[a], f] - placed[targets[a, j], f]
                total += gap * gap
            found[a, j] = total
    return found


@kernel
def within(
    products: Floats, length: Floats, other_length: Floats, reach: Floats, others: Ints
) -> tuple[Ints, Array]:
    """The other rows nearer than a squared reach, from products; never fewer by rounding."""
    n, m = products.shape
    start = np.zeros(n + 1, dtype=np.intp)
    for a in range(n):
        count = 0
        for b in range(m):
            ends = length[a] + other_length[b]
            count += ends - 2 * products[a, b] < reach[a] + 1e-13 * ends
        start[a + 1] = start[a] + count
    pairs = np.empty(start[n], dtype=np.int32)
    for a in range(n):
        at = start[a]
        if at == start[a + 1]:
            continue
        for b in range(m):
            ends = length[a] + other_length[b]
            if ends - 2 * products[a, b] < reach[a] + 1e-13 * ends:
                pairs[at] = others[b]
                at += 1
    return start, pairs


@kernel
def squared_below(placed: Floats, i: int, other: int, limit: float) -> float:
    """The squared distance of two rows, or something that has reached the limit."""
    d = placed.shape[1]
    total, f = 0.0, 0
    while f + 4 <= d:  # four at a time, then a check of the limit
        a = placed[i, f] - placed[other, f]
        b = placed[i, f + 1] - placed[other, f + 1]
        c = placed[i, f + 2] - placed[other, f + 2]
        e = placed[i, f + 3] - placed[other, f + 3]
        total += (a * a + b * b) + (c * c + e * e)
        if total >= limit:
            return total
        f += 4
    while f < d:
        a = placed[i, f] - placed[other, f]
        total += a * a
        f += 1
    return total


@kernel
def push_apart(
    placed: Floats,
    anchors: Ints,
    weight: Floats,
    targets: Ints,
    near: Floats,
    numbers: Ints,
    start: Ints,
    pairs: Array,
    force: Floats,
) -> float:
    """Add up [1 + d²(i, j) − d²(i, l)]₊, and in ``force`` half its gradient in the places."""
    k, d = targets.shape[1], placed.shape[1]
    pulls = np.empty(k)
    whole = 0.0
    for n in range(numbers.size):
        a = numbers[n]
        i = anchors[a]
        pulls[:] = 0.0
        limit = 1.0 + near[a].max()
        for p in range(start[n], start[n + 1]):
            other = pairs[p]
            distance = squared_below(placed, i, other, limit)
            if distance >= limit:
                continue
            active = 0.0
            for j in range(k):
                hinge = 1.0 + near[a, j] - distance
                if hinge > 0.0:
                    whole += weight[a] * hinge
                    active += weight[a]
                    pulls[j] += weight[a]
            for f in range(d):
                change = active * (placed[i, f] - placed[other, f])
                force[i, f] -= change
                force[other, f] += change
        for j in range(k):
            if pulls[j] > 0.0:
                for f in range(d):
                    change = pulls[j] * (placed[i, f] - placed[targets[a, j], f])
                    force[i, f] += change
                    force[targets[a, j], f] -= change
    return whole

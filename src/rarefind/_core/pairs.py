"""Squared Euclidean distances by their definition, one sum in one order for all who need them."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from rarefind._core.kernels import kernel, read_only
from rarefind._core.types import Floats, Ints


def embed(rows: Floats, components: Floats) -> Floats:
    """Rows in the space of a linear map, ``rows @ components.T``.

    Each sum has one order, so that a row's place does not depend on the rows beside it, as it does
    in the last digits of a matrix product.
    """
    return _embed(read_only(rows), read_only(components))


@kernel
def _embed(rows: Floats, components: Floats) -> Floats:
    n, d = rows.shape
    placed = np.zeros((n, components.shape[0]))
    for i in range(n):
        for c in range(components.shape[0]):
            total = 0.0
            for f in range(d):
                total += rows[i, f] * components[c, f]
            placed[i, c] = total
    return placed


def squared_distances(rows: Floats, points: Floats, at: Ints) -> Floats:
    """Squared distance of each row to the points numbered in its row of ``at``."""
    return _squared_distances(read_only(rows), read_only(points), read_only(at))


@kernel
def _squared_distances(rows: Floats, points: Floats, at: Ints) -> Floats:
    n, k = at.shape
    found = np.empty((n, k))
    for i in range(n):
        for j in range(k):
            total = 0.0
            for f in range(rows.shape[1]):
                gap = rows[i, f] - points[at[i, j], f]
                total += gap * gap
            found[i, j] = total
    return found


def nearest_squared(rows: Floats, points: Floats, k: int) -> tuple[Floats, Ints]:
    """The k smallest squared distances of each row and their points, nearest first."""
    return _nearest_squared(read_only(rows), read_only(points), k)


@kernel
def _nearest_squared(rows: Floats, points: Floats, k: int) -> tuple[Floats, Ints]:
    n = rows.shape[0]
    found = np.full((n, k), np.inf)
    at = np.full((n, k), -1, dtype=np.intp)
    for i in range(n):
        for p in range(points.shape[0]):
            worst = found[i, k - 1]
            total = 0.0
            for f in range(rows.shape[1]):
                gap = rows[i, f] - points[p, f]
                total += gap * gap
                if total >= worst:
                    break
            if total >= worst:
                continue
            j = k - 1
            while j > 0 and found[i, j - 1] > total:
                found[i, j], at[i, j] = found[i, j - 1], at[i, j - 1]
                j -= 1
            found[i, j], at[i, j] = total, p
    return found, at


def nearest_on_all_cores(
    rows: Floats, points: Floats, k: int, n_jobs: int | None
) -> tuple[Floats, Ints]:
    """``nearest_squared``, the rows shared among threads."""
    jobs = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), max(1, len(rows) // 16))
    if jobs == 1:
        return nearest_squared(rows, points, k)
    parts = Parallel(n_jobs=jobs, require="sharedmem")(
        delayed(nearest_squared)(part, points, k) for part in np.array_split(rows, 4 * jobs)
    )
    return np.concatenate([d for d, _ in parts]), np.concatenate([a for _, a in parts])

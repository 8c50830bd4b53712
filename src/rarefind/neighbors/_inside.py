"""Distances of rows to what is inside an ellipsoid: the centre, its positives, its negatives."""

from __future__ import annotations

import numpy as np

from rarefind._core.blocks import PointBlocks
from rarefind._core.kernels import kernel
from rarefind._core.types import Floats, Ints

# More than two radii away no negative inside is near enough to lower the ratio of radius to
# distance, by the triangle inequality. The margin is for rounding.
_REACH = 4.001
# So many negatives, and rows that are searched for among them, are worth blocks.
_WORTH_BLOCKS, _WORTH_ROWS = 8_000, 200


def distances_to_rows_inside(
    points: Floats, positives: Floats, negatives: Floats, radius: float, floor: Floats
) -> Floats:
    """Squared distances of points to the centre, the nearest positive and the nearest negative.

    Then how many positives and negatives inside a point is a copy of, where it is one of a
    positive. All are given as :func:`project` places them, so that the centre is the origin. A
    point whose ratio of radius to distance is not above its floor is put infinitely far away, and
    so is a nearest negative that leaves that ratio the smaller one.
    """
    to_negatives = np.empty(0)
    if len(negatives) >= _WORTH_BLOCKS and len(points) >= _WORTH_ROWS:
        to_negatives = _nearest_in_blocks(points, negatives, 1.001 * _REACH * radius)
    return _distances(points, positives, negatives, to_negatives, radius, floor)


def _nearest_in_blocks(points: Floats, others: Floats, reach: float) -> Floats:
    """Squared distance to the nearest of the others, for points within reach of the origin.

    Empty where single precision is too coarse for how the others lie.
    """
    near = np.flatnonzero(np.einsum("ij,ij->i", points, points) <= reach)
    if near.size < _WORTH_ROWS:
        return np.empty(0)
    with np.errstate(over="ignore", invalid="ignore"):
        blocks = PointBlocks.of(others, np.ones(len(others), dtype=np.intp))
    if not blocks.tells_apart():
        return np.empty(0)
    found = np.full(len(points), np.inf)
    found[near] = blocks.nearest(np.ascontiguousarray(points[near]), 1, 1)[0][:, 0]
    return found


@kernel
def project(X: Floats, rows: Ints, centre: Floats, root: Floats) -> Floats:
    """The numbered rows as U(x − centre): plain distances there are those under the matrix."""
    d = centre.size
    found = np.zeros((rows.size, d))
    for k in range(rows.size):
        for i in range(d):
            for j in range(i, d):
                found[k, i] += root[i, j] * (X[rows[k], j] - centre[j])
    return found


@kernel
def _nearest(point: Floats, others: Floats, limit: float) -> float:
    """Squared distance to the nearest of the others, infinite if none is closer than the limit."""
    best = limit
    found = False
    for k in range(others.shape[0]):
        total = 0.0
        for f in range(point.size):
            gap = point[f] - others[k, f]
            total += gap * gap
            if total >= best:
                break
        if total < best:
            best = total
            found = True
    return best if found else np.inf


@kernel
def _count_copies(point: Floats, others: Floats) -> int:
    """How many of the others are at distance 0."""
    count = 0
    for k in range(others.shape[0]):
        total = 0.0
        for f in range(point.size):
            gap = point[f] - others[k, f]
            total += gap * gap
            if total > 0:
                break
        count += total == 0
    return count


@kernel
def _distances(
    points: Floats,
    positives: Floats,
    negatives: Floats,
    to_negatives: Floats,
    radius: float,
    floor: Floats,
) -> Floats:
    """The distances; ``to_negatives`` has those to the nearest negatives, where they are known."""
    found = np.full((5, points.shape[0]), np.inf)
    found[3:] = 0.0
    for k in range(points.shape[0]):
        point = points[k]
        to_centre = 0.0
        for f in range(point.size):
            to_centre += point[f] * point[f]
        if to_centre > 0 and radius / to_centre <= floor[k]:
            continue
        found[0, k] = found[1, k] = to_centre
        if to_centre <= _REACH * radius:
            found[1, k] = _nearest(point, positives, np.inf)
            # Only negatives below this limit make the smaller ratio.
            limit = 1.001 * found[1, k] * radius / to_centre if to_centre > 0 else np.inf
            if to_negatives.size == 0:
                found[2, k] = _nearest(point, negatives, limit)
            elif to_negatives[k] < limit:
                found[2, k] = to_negatives[k]
            if found[1, k] == 0:
                found[3, k] = _count_copies(point, positives)
                found[4, k] = _count_copies(point, negatives)
    return found

"""Nearest neighbours, the one engine: exact, blocked, on all cores."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from rarefind._core.blocks import PointBlocks
from rarefind._core.checks import LARGEST_TO_SQUARE
from rarefind._core.deadline import check_time_left, deadline
from rarefind._core.distinct import DistinctPoints
from rarefind._core.fields import (
    Choice,
    Either,
    FloatArray,
    IntArray,
    Maybe,
    RealNumber,
    StateError,
    Whole,
)
from rarefind._core.pairs import embed, nearest_on_all_cores, nearest_squared, squared_distances
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import tree_of
from rarefind._core.state import State
from rarefind._core.threads import limit_threads
from rarefind._core.types import Array, Bools, Floats, Ints

__all__ = ["DISTANCES", "NeighborSearch", "feature_differences"]

DISTANCES = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "precomputed")

# Rows are checked where they come in; in many small searches a second check takes most of the time.
_CHECKED = partial(config_context, assume_finite=True, skip_parameter_validation=True)

# So many points are cut into blocks; fewer are searched in less time than that takes.
_WORTH_BLOCKS = 20_000

# So few distances are measured one by one before scikit-learn has begun.
_FEW_PAIRS = 20_000
_FEW_ROWS = 64

# Queries are answered in blocks, so that what is held beside the points stays near 128 MB.
_BLOCK_ROWS, _BLOCK_CELLS = 8192, 2**24
_LARGEST_JOBS = 2**31


def _numbers(*shape: str) -> FloatArray:
    """Numbers that distances can be made of."""
    return FloatArray(*shape, low=-LARGEST_TO_SQUARE, high=LARGEST_TO_SQUARE)


def _check_points(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    points, precomputed = state["points"], state["distance"] == "precomputed"
    if precomputed != (points.ndim == 1):
        raise StateError("'points' are not those of the distance")
    if state["components"] is not None and state["distance"] != "euclidean":
        raise StateError("'components' belong to the Euclidean distance")
    if state["components"] is not None and not len(state["components"]):
        raise StateError("'components' lead to a space without columns")
    return {"n": len(points)} if precomputed else {"n": len(points), "d": points.shape[1]}


@saved(
    "neighbor-search",
    state=State(
        {
            "points": Either(_numbers("n", "d"), IntArray("n", low=0)),
            "distance": Choice(*DISTANCES),
            "p": RealNumber(1, inf=True),
            "components": Maybe(_numbers("k", "d")),
            "n_jobs": Maybe(Whole(-_LARGEST_JOBS, _LARGEST_JOBS)),
        },
        _check_points,
    ),
)
class NeighborSearch:
    """Exact nearest neighbours among fixed points.

    Brute force on all cores, or a kd-tree where the points are many and the dimensions few
    (``benchmarks/search.py`` measures where it pays). Brute force finds Euclidean neighbours by
    matrix products, which lose digits when points are close. So points far from the origin are
    centred first, and the distances of the neighbours found are computed again by their definition.
    Where an error bound does not prove that a point is further away it is measured by the
    definition too: in blocks of neighbouring points where there are many
    (:mod:`rarefind._core.blocks`), else by a second search of the row. The result is exact, ties
    and copies included, and does not depend on the other queries of the call.

    Copies are searched as one point and counted. A distance that rounding alone can make, some
    units in the last place of the query's own values, is 0.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points. With ``distance="precomputed"``, the numbers of the columns that stand for them.
    distance : {"euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "precomputed"}
        The distance. Cosine is one minus the cosine of the angle; a row of zeros is at distance 1
        from every other direction.
    p : float, default=2
        Power of the Minkowski distance.
    components : ndarray of shape (d', d), default=None
        A linear map L: points and queries are compared by the Euclidean distance of their images,
        the Mahalanobis distance of the matrix LᵀL.
    n_jobs : int, default=None
        Cores; None leaves it to the libraries, which take all.

    Examples
    --------
    >>> import numpy as np
    >>> from rarefind.search import NeighborSearch
    >>> search = NeighborSearch(np.array([[0.0], [1.0], [3.0]]))
    >>> distances, index = search.query(np.array([[0.9]]), k=2)
    >>> index.tolist(), distances.round(2).tolist()
    ([[1, 0]], [[0.1, 0.9]])
    """

    def __init__(
        self,
        points: Array,
        *,
        distance: str = "euclidean",
        p: float = 2.0,
        components: Floats | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if components is not None and distance != "euclidean":
            raise ValueError(f"A linear map makes a Euclidean distance, not a {distance} one.")
        self.distance = distance
        self.p = p
        self.components = components
        self.n_jobs = n_jobs
        self.size = len(points)
        self.points = points
        self._points = self._embed(points)
        self._copies: DistinctPoints | None = None
        self._centre: Floats | None = None
        self._index: NearestNeighbors | None = None
        self._blocks: PointBlocks | None = None
        if distance != "precomputed" and self.size:
            self._build()

    def get_state(self) -> dict[str, Any]:
        """What a model file keeps: the index is built again."""
        names = ("points", "distance", "p", "components", "n_jobs")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> NeighborSearch:
        """Make it again from what a file kept; its index is built when it is first asked."""
        made = cls.__new__(cls)
        made.__dict__.update(state, size=len(state["points"]))
        return made

    def __getattr__(self, name: str) -> Any:
        # All at once, as several threads may ask.
        if name.startswith("__") or "points" not in self.__dict__ or "_points" in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__.update(vars(type(self)(**self.get_state())))
        return getattr(self, name)

    def query(self, rows: Array, k: int, exclude: Ints | None = None) -> tuple[Floats, Ints]:
        """Find the ``k`` nearest points of each row.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            The queries; with a precomputed distance, their distances to all the columns.
        k : int
            Neighbours wanted.
        exclude : ndarray of shape (m,), default=None
            For each query the number of the one point that is the query itself, and must not be its
            own neighbour; -1 for none. Other points at distance 0 stay.

        Returns
        -------
        distances, index : ndarray of shape (m, k)
            Nearest first, filled up with ``inf`` and ``-1`` where there are fewer than ``k``.
        """
        return self.query_and_count(rows, k, exclude)[:2]

    def query_and_count(
        self, rows: Array, k: int, exclude: Ints | None = None
    ) -> tuple[Floats, Ints, Ints]:
        """Find the ``k`` nearest points of each row, and count those that it is a copy of.

        Parameters
        ----------
        rows, k, exclude
            As in :meth:`query`.

        Returns
        -------
        distances, index : ndarray of shape (m, k)
            As from :meth:`query`.
        here : ndarray of shape (m,)
            How many points are at distance 0, without the one that is the query itself.
        """
        distances = np.full((len(rows), k), np.inf)
        index = np.full((len(rows), k), -1, dtype=np.intp)
        here = np.zeros(len(rows), dtype=np.intp)
        kinds = self.size if self._copies is None else self._copies.first.size
        fetch = min(kinds, k if exclude is None else k + 1)
        if not fetch:
            return distances, index, here
        limit = limit_threads(effective_n_jobs(self.n_jobs)) if self.n_jobs else nullcontext()
        step = max(64, min(_BLOCK_ROWS, _BLOCK_CELLS // (fetch * max(1, rows.shape[1]))))
        with limit, _CHECKED():
            for start in range(0, len(rows), step):
                check_time_left(deadline())
                block = slice(start, start + step)
                own = None if exclude is None else exclude[block]
                found, at, here[block] = self._nearest(rows[block], k, fetch, own)
                distances[block, : found.shape[1]] = found[:, :k]
                index[block, : at.shape[1]] = at[:, :k]
        return distances, index, here

    def count_within(self, rows: Array, squared: Floats) -> tuple[Ints, Floats] | None:
        """Count the points whose squared distance is below each row's own bound.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            The queries, as the search compares them.
        squared : ndarray of shape (m,)
            The bounds.

        Returns
        -------
        inside, beyond : ndarray of shape (m,)
            The counts, and the smallest squared distance that is not below the bound; None where
            the points are too few to be worth blocks, or the distance is not Euclidean.
        """
        if self._blocks is None:
            return None
        return self._blocks.count_nearer(np.ascontiguousarray(rows), squared, self.n_jobs)

    def _build(self) -> None:
        points = self._points
        self._copies = DistinctPoints.of(points)
        if self._copies is not None:
            points = points[self._copies.first]
        n, d = points.shape
        # Measured: a tree wins from about 2,000 points in 4 dimensions or fewer to 32,000 in 8.
        tree = d <= 8 and n >= max(2_000, 125 * 2**d)
        metric, p = _for_sklearn(self.distance, self.p)
        self._by_products = metric == "euclidean" and not tree
        if self._by_products and n >= _WORTH_BLOCKS and self._cut_into_blocks(points):
            return
        self._distinct = points
        if self._by_products and _is_far_from_origin(points):
            self._centre = points.mean(axis=0)
            points = points - self._centre
        # Brute force takes all cores by itself, a tree has to be given n_jobs.
        jobs = (-1 if self.n_jobs is None else self.n_jobs) if tree else None
        index = NearestNeighbors(
            algorithm="kd_tree" if tree else "brute", metric=metric, p=p, n_jobs=jobs
        )
        with _CHECKED():
            self._index = index.fit(points)

    def _cut_into_blocks(self, points: Floats) -> bool:
        """Search in blocks, unless single precision is too coarse for how the points lie."""
        copies = self._copies
        times = np.ones(len(points), np.intp) if copies is None else copies.multiplicity
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = PointBlocks.of(points, times)
        if not blocks.tells_apart():
            return False
        self._blocks = blocks
        return True

    def _nearest(
        self, rows: Array, k: int, fetch: int, exclude: Ints | None
    ) -> tuple[Floats, Ints, Ints]:
        """The nearest points of each row, at least k where there are so many, and its copies."""
        if self.distance == "precomputed":
            table = np.asarray(rows, dtype=float)[:, self._points]
            here = (table == 0).sum(axis=1)
            return *_without(*_smallest(table, fetch), exclude), here - _own_zero(table, exclude)
        rows = self._embed(rows)
        if self._blocks is not None:
            found, at = self._blocks.nearest(rows, fetch, self.n_jobs)
            found = np.sqrt(found)
        elif self._by_products:
            found, at = self._nearest_by_products(rows, fetch)
        else:
            assert self._index is not None
            tree = tree_of(self._index)
            # A few rows are found before threads have started.
            ask = self._index.kneighbors if tree is None or len(rows) > _FEW_ROWS else tree.query
            found, at = ask(rows, fetch)
        found = np.where(found <= _rounding(rows, self.distance)[:, None], 0.0, found)
        if self.distance == "cosine":
            found = found**2 / 2
        if self._copies is not None:
            return self._copies.spread(found, at, k, exclude)
        found, at = _without(found, at, exclude)
        return found, at, (found == 0).sum(axis=1)

    def _nearest_by_products(self, rows: Floats, fetch: int) -> tuple[Floats, Ints]:
        """Euclidean neighbours: candidates by matrix products, then proved or searched again."""
        assert self._index is not None
        if len(rows) * len(self._distinct) <= _FEW_PAIRS:
            found, at = nearest_squared(rows, self._distinct, fetch)
            return np.sqrt(found), at
        centred = rows if self._centre is None else rows - self._centre
        # One more than wanted shows how far away the points are that were not fetched.
        rough, at = self._index.kneighbors(centred, min(fetch + 1, len(self._distinct)))
        at = np.sort(at, axis=1)  # of two at the same distance the first comes first
        found, at = _sorted(squared_distances(rows, self._distinct, at), at)
        found, at = found[:, :fetch], at[:, :fetch]
        if fetch < len(self._distinct):
            doubtful = _is_doubtful(centred, rough[:, -1], found[:, -1])
            if doubtful.any():
                found[doubtful], at[doubtful] = nearest_on_all_cores(
                    rows[doubtful], self._distinct, fetch, self.n_jobs
                )
        return np.sqrt(found), at

    def _embed(self, rows: Array) -> Array:
        if self.distance == "precomputed":
            return rows
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        if self.components is not None:
            return embed(rows, self.components)
        return _directions(rows) if self.distance == "cosine" else rows


def feature_differences(
    x: Floats,
    points: Floats,
    distance: str,
    p: float = 2.0,
    components: Floats | None = None,
) -> Floats:
    """What each feature adds to the distance of ``x`` from each point.

    The terms of a row sum to the distance raised to the power that makes it a sum: the squared
    Euclidean distance, the Manhattan distance, the cosine distance. Of the Chebyshev distance only
    the feature that sets it counts. Under a linear map a feature may take away what another adds.
    """
    if components is not None:
        plain = points - x
        return np.asarray(plain * (plain @ components.T @ components))
    if distance == "cosine":
        directions = _directions(np.vstack([x, points]))[:, :-1]
        return np.asarray((directions[:1] - directions[1:]) ** 2 / 2)
    gaps = np.abs(points - x)
    if distance == "chebyshev" or (distance == "minkowski" and np.isinf(p)):
        return np.where(gaps == gaps.max(axis=1, keepdims=True), gaps, 0.0)
    power = {"euclidean": 2.0, "manhattan": 1.0}.get(distance, p)
    return np.asarray(gaps**power)


def _for_sklearn(distance: str, p: float) -> tuple[str, float]:
    """The distance by the name that scikit-learn is fastest at."""
    if distance == "cosine":  # of unit vectors it is half the squared Euclidean distance
        return "euclidean", 2.0
    if distance == "minkowski":
        named = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(p)
        return (named, 2.0) if named else ("minkowski", p)
    return distance, 2.0


def _is_far_from_origin(points: Floats) -> bool:
    """Whether matrix products lose more than about two digits to where the points lie."""
    mean = points.mean(axis=0)
    square = np.einsum("ij,ij->j", points, points) / len(points)
    return bool(np.sum(mean**2) > 100 * np.sum(np.maximum(square - mean**2, 0.0)))


def _is_doubtful(rows: Floats, rough: Floats, squared: Floats) -> Bools:
    """Where rounding of the products may have hidden a nearer point.

    A point that was not fetched has a rough distance of at least ``rough``; nearer than the last
    one found it would lie within that distance of the row, which bounds its length and so the
    error of its products.
    """
    length = np.sqrt((rows**2).sum(axis=1))
    error = (rows.shape[1] + 8) * np.finfo(float).eps * (2 * length + np.sqrt(squared)) ** 2
    return np.asarray(rough**2 - error < squared)


def _directions(rows: Floats) -> Floats:
    """Unit vectors; rows of zeros get an axis of their own, at cosine 0 to all others."""
    length = np.sqrt((rows**2).sum(axis=1))
    zero = length == 0
    return np.column_stack([rows / np.where(zero, 1.0, length)[:, None], zero])


def _rounding(rows: Floats, distance: str) -> Floats:
    """Distances that rounding of a row's values can make, in units of its largest one."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    steps = rows.shape[1] if distance == "manhattan" else np.sqrt(rows.shape[1])
    return np.asarray(4 * np.finfo(float).eps * steps * np.minimum(largest, 1e300))


def _own_zero(table: Floats, exclude: Ints | None) -> Ints:
    """1 where a query is at distance 0 from the point that is itself."""
    if exclude is None:
        return np.zeros(len(table), dtype=np.intp)
    own = table[np.arange(len(table)), np.maximum(exclude, 0)] == 0
    return np.asarray(own & (exclude >= 0), dtype=np.intp)


def _smallest(table: Floats, k: int) -> tuple[Floats, Ints]:
    at = np.argpartition(table, k - 1, axis=1)[:, :k]
    return _sorted(np.take_along_axis(table, at, 1), at)


def _sorted(found: Floats, at: Ints) -> tuple[Floats, Ints]:
    order = np.argsort(found, axis=1, kind="stable")
    return np.take_along_axis(found, order, 1), np.take_along_axis(at, order, 1)


def _without(found: Floats, at: Ints, exclude: Ints | None) -> tuple[Floats, Ints]:
    """Move each query's own point behind all others; copies of it elsewhere stay."""
    if exclude is None:
        return found, at
    own = at == exclude[:, None]
    return _sorted(np.where(own, np.inf, found), np.where(own, -1, at))

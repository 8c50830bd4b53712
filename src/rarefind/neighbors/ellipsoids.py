"""Maximum excluding ellipsoids: the problem of one positive, its solver, the scores of rows.

Problem (2) of ME² for a positive c, v = x − c over the n negatives, is

    min over 0 ≤ R ≤ B and M of  (1/n) Σ [R − vᵀMv]₊ + μ(B − R)² + λ‖M − I‖².

With one α in [0, 1/n] a negative and s = Σα, the Lagrangian is smallest at R = clip(B − s/2μ, 0, B)
and M = I + Σ α vvᵀ / 2λ, which leaves the dual

    max over α of  Bs − s²/4μ − λ‖M − I‖² − Σ α‖v‖²   (μB² for the first two terms if s > 2μB).

Its derivative by one α is R − vᵀMv and its curvature at most ‖v‖⁴/2λ + 1/2μ: coordinate ascent.
As M ⪰ I and R ≤ B, a negative with ‖v‖² ≥ B keeps α = 0 and is left out; n still counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import Float, FloatArray, IntArray, RealNumber, StateError, Whole
from rarefind._core.kernels import kernel, read_only
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Floats, Ints
from rarefind.neighbors._inside import distances_to_rows_inside, project
from rarefind.neighbors._ratio import ratio, ratio_of_copies

# Sweeps over the multipliers that can still move, between two passes over all of them.
_SWEEPS = 5


class Setting(NamedTuple):
    """What shapes an ellipsoid, free of the unit of distance.

    The paper's B is the squared distance that this ``quantile`` of the negatives is within, its μ
    is ``mu / B`` and its λ is ``lam * B``.
    """

    quantile: float
    mu: float
    lam: float


@saved(
    "ellipsoid-rows",
    state=State(
        {
            "X": FloatArray("n", "d"),
            "positives": IntArray("positives", below="n", strict=True),
            "negatives": IntArray("negatives", below="n", strict=True),
        }
    ),
)
class EllipsoidRows(NamedTuple):
    """A table and which of its rows are to be covered and excluded."""

    X: Floats
    positives: Ints
    negatives: Ints


def _check_matrix(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if not np.allclose(state["matrix"], state["matrix"].T, rtol=1e-6):
        raise StateError("'matrix' is not symmetric")
    try:
        np.linalg.cholesky(state["matrix"])
    except np.linalg.LinAlgError:
        raise StateError("'matrix' is not positive definite") from None


@saved(
    "ellipsoid",
    state=State(
        {
            "row": Whole(),
            "centre": FloatArray("d"),
            "radius": Float(0),
            "matrix": FloatArray("d", "d"),
            "max_radius": RealNumber(0),
            "mu": RealNumber(0),
            "lam": RealNumber(0),
            "loss": RealNumber(),
            "gap": RealNumber(),
            "n_iter": Whole(),
            "positives": IntArray("inside", low=0),
            "negatives": IntArray("near", low=0),
        },
        _check_matrix,
    ),
)
class Ellipsoid(NamedTuple):
    """The points x with (x − centre)ᵀ matrix (x − centre) ≤ radius, learned around one positive."""

    #: Row number of the centre in the table fitted.
    row: int
    centre: Floats
    #: R of the paper, a squared distance under ``matrix``.
    radius: float
    #: M of the paper, never below the identity.
    matrix: Floats
    #: B of the paper, the squared distance that the radius may not exceed.
    max_radius: float
    #: μ and λ of the paper, in the units of the table.
    mu: float
    lam: float
    #: Mean over all negatives of [radius − squared distance]₊, the empirical risk.
    loss: float
    #: Primal less dual value, relative to the primal one.
    gap: float
    #: Times the solver looked at all near negatives.
    n_iter: int
    #: Row numbers of the positives and of the negatives in it or on its surface.
    positives: Ints
    negatives: Ints

    @property
    def lengths(self) -> Floats:
        """Half-lengths of the axes, √(radius / eigenvalue), longest first."""
        return np.asarray(np.sqrt(self.radius / np.linalg.eigvalsh(self.matrix)))

    @property
    def axes(self) -> Floats:
        """Unit vectors along the axes, one a row, in the order of ``lengths``."""
        return np.asarray(np.linalg.eigh(self.matrix)[1].T)

    def squared_distances(self, X: Floats) -> Floats:
        """Squared distances of rows to the centre, under the matrix."""
        every = np.arange(len(X))
        return np.asarray(
            (project(read_only(X), every, self.centre, self._root()) ** 2).sum(axis=1)
        )

    def score(self, X: Floats, queries: Floats, at: Ints, floor: Floats) -> Floats:
        """Score the queries numbered in ``at`` by this ellipsoid, among the rows ``X`` fitted.

        It is the smaller of radius / d²(centre) and d²(nearest negative) / d²(nearest positive) of
        the rows inside, at least 1 exactly where the rule of section 4.2 says positive. Of a query
        that is a copy of both classes their numbers make the second ratio. Where the score cannot
        exceed ``floor``, with one entry an entry of ``at``, it is given as 0.
        """
        root, X = self._root(), read_only(X)
        found = distances_to_rows_inside(
            project(read_only(queries), at, self.centre, root),
            project(X, self.positives, self.centre, root),
            project(X, self.negatives, self.centre, root),
            self.radius,
            floor,
        )
        inside = ratio(found[0], np.full(at.size, self.radius))
        nearer = ratio(found[1], found[2])
        mixed = (found[3] > 0) & (found[4] > 0)
        if mixed.any():
            of_copies = ratio_of_copies(found[3], found[4], (1, 1), self.centre.size) ** 2
            nearer = np.where(mixed, of_copies, nearer)
        return np.minimum(inside, nearer)

    def _root(self) -> Floats:
        """Upper triangle U with UᵀU = matrix, so that ‖Uv‖² = vᵀMv."""
        return np.ascontiguousarray(np.linalg.cholesky(self.matrix).T)


def excluding_ellipsoids(
    rows: EllipsoidRows, row: int, settings: Sequence[Setting], tol: float, max_iter: int
) -> Iterator[Ellipsoid]:
    """Solve the problem of one positive for each setting, each from the solution before.

    Multipliers carry over best where quantiles rise and ``lam`` falls.
    """
    centre = rows.X[row]
    n = rows.negatives.size
    most = max(_place(s.quantile, n) for s in settings)
    squared = _squared_from(rows.X, rows.negatives, centre)
    furthest = np.partition(squared, most)[most]
    negatives, squared = _nearest_first(rows.negatives, squared, furthest)
    positives, squared_positives = _nearest_first(
        rows.positives, _squared_from(rows.X, rows.positives, centre), furthest
    )
    offsets = rows.X[negatives] - centre
    alpha = np.zeros(negatives.size)
    for setting in settings:
        bound = squared[_place(setting.quantile, n)]
        mu, lam = _in_units(setting, float(bound))
        near = int(np.searchsorted(squared, bound))
        # Under M ⪰ I nothing further away than B is inside.
        within = int(np.searchsorted(squared, bound, side="right"))
        within_positives = int(np.searchsorted(squared_positives, bound, side="right"))
        radius, matrix, loss, gap, n_iter = solve(
            offsets[:near], n, float(bound), mu, lam, alpha[:near], tol, max_iter
        )
        found = Ellipsoid(
            row,
            centre,
            radius,
            matrix,
            float(bound),
            mu,
            lam,
            loss,
            gap,
            n_iter,
            positives[:within_positives],
            negatives[:within],
        )
        yield _without_outside(found, rows.X, alpha[:within])


def _in_units(setting: Setting, bound: float) -> tuple[float, float]:
    """The paper's μ and λ; where B is 0 nothing is near and any will do."""
    unit = bound if bound > 0 else 1.0
    return setting.mu / unit, setting.lam * unit


def _place(quantile: float, n: int) -> int:
    """Place of the quantile among n sorted numbers: the smallest that so many are not above."""
    return int(np.clip(np.ceil(quantile * n) - 1, 0, n - 1))


def _nearest_first(rows: Ints, squared: Floats, furthest: float) -> tuple[Ints, Floats]:
    kept = np.flatnonzero(squared <= furthest)
    order = kept[np.argsort(squared[kept], kind="stable")]
    return rows[order], squared[order]


def _without_outside(candidate: Ellipsoid, X: Floats, alpha: Floats) -> Ellipsoid:
    """Keep the rows that are inside.

    A negative with a multiplier is inside or on the surface, whatever its distance is rounded to.
    """
    radius = candidate.radius
    positives = candidate.squared_distances(X[candidate.positives]) <= radius
    negatives = candidate.squared_distances(X[candidate.negatives]) <= radius
    negatives |= alpha > 0
    return candidate._replace(
        positives=candidate.positives[positives], negatives=candidate.negatives[negatives]
    )


@kernel
def _squared_from(X: Floats, rows: Ints, centre: Floats) -> Floats:
    """Squared Euclidean distances of the numbered rows to a point."""
    found = np.empty(rows.size)
    for i in range(rows.size):
        total = 0.0
        for f in range(centre.size):
            gap = X[rows[i], f] - centre[f]
            total += gap * gap
        found[i] = total
    return found


@kernel
def _quadratic(matrix: Floats, v: Floats, work: Floats) -> float:
    """The form vᵀMv; the matrix is read row by row, which the compiler can do in parallel."""
    d = v.size
    work[:] = 0.0
    for i in range(d):
        for j in range(d):
            work[j] += v[i] * matrix[i, j]
    total = 0.0
    for j in range(d):
        total += work[j] * v[j]
    return total


@kernel
def _add_square(matrix: Floats, scale: float, v: Floats) -> None:
    """Add scale · vvᵀ."""
    for i in range(v.size):
        step = scale * v[i]
        for j in range(v.size):
            matrix[i, j] += step * v[j]


@kernel
def _trade(
    i: int,
    j: int,
    near: Floats,
    squared: Floats,
    alpha: Floats,
    matrix: Floats,
    cap: float,
    lam: float,
    work: Floats,
) -> None:
    """Give one multiplier what is taken from another, as far as the dual rises."""
    product = 0.0
    for f in range(work.size):
        product += near[i, f] * near[j, f]
    curvature = (squared[i] ** 2 + squared[j] ** 2 - 2 * product**2) / (2 * lam)
    if i == j or curvature <= 0:
        return
    slope = _quadratic(matrix, near[j], work) - _quadratic(matrix, near[i], work)
    step = min(slope / curvature, cap - alpha[i], alpha[j])
    step = max(step, -alpha[i], alpha[j] - cap)
    alpha[i] += step
    alpha[j] -= step
    _add_square(matrix, step / (2 * lam), near[i])
    _add_square(matrix, -step / (2 * lam), near[j])


@kernel
def _look(
    near: Floats,
    squared: Floats,
    alpha: Floats,
    matrix: Floats,
    radius: float,
    cap: float,
    active: Ints,
    work: Floats,
) -> tuple[float, float, int]:
    """Sum of the losses, Σ α‖v‖², and how many multipliers can move: ``active`` then lists them."""
    loss, linear, moving = 0.0, 0.0, 0
    for i in range(near.shape[0]):
        slope = radius - _quadratic(matrix, near[i], work)
        loss += max(slope, 0.0)
        linear += alpha[i] * squared[i]
        if (alpha[i] > 0 or slope > 0) and (alpha[i] < cap or slope < 0):
            active[moving] = i
            moving += 1
    return loss, linear, moving


@kernel
def _relative_gap(
    loss: float,
    linear: float,
    total: float,
    radius: float,
    matrix: Floats,
    bound: float,
    mu: float,
    lam: float,
) -> float:
    """Primal less dual value, relative to the primal one, for a mean loss and Σα."""
    shape = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[0]):
            beyond = matrix[i, j] - (1.0 if i == j else 0.0)
            shape += lam * beyond * beyond
    primal = loss + mu * (bound - radius) ** 2 + shape
    if total <= 2 * mu * bound:
        dual = bound * total - total * total / (4 * mu) - shape - linear
    else:
        dual = mu * bound * bound - shape - linear
    # Rounding may leave it a trifle below 0.
    return max(primal - dual, 0.0) / primal if primal > 0 else 0.0


@kernel
def solve(
    near: Floats,
    n: int,
    bound: float,
    mu: float,
    lam: float,
    alpha: Floats,
    tol: float,
    max_iter: int,
) -> tuple[float, Floats, float, float, int]:
    """Solve problem (2) for the ``near`` of ``n`` negatives, given as differences to the centre.

    ``alpha`` is where to start, and holds the multipliers at the end. Returns the radius, the
    matrix, the mean loss, the relative duality gap and how often all multipliers were looked at.
    """
    m, d = near.shape
    cap = 1.0 / n
    matrix, work = np.eye(d), np.empty(d)
    squared, active = np.zeros(m), np.empty(m, dtype=np.intp)
    total = 0.0
    for i in range(m):
        for f in range(d):
            squared[i] += near[i, f] * near[i, f]
        total += alpha[i]
        if alpha[i] > 0:
            _add_square(matrix, alpha[i] / (2 * lam), near[i])
    passes = 0
    while True:
        radius = min(bound, max(0.0, bound - total / (2 * mu)))
        loss, linear, moving = _look(near, squared, alpha, matrix, radius, cap, active, work)
        loss /= n
        gap = _relative_gap(loss, linear, total, radius, matrix, bound, mu, lam)
        passes += 1
        if gap <= tol or passes > max_iter:
            return radius, matrix, loss, gap, passes
        for turn in range(_SWEEPS * moving):
            sweep, k = turn // moving, turn % moving
            # To and fro, so that no order of the rows is the worst case every time.
            i = active[k] if sweep % 2 == 0 else active[moving - 1 - k]
            slope = radius - _quadratic(matrix, near[i], work)
            own = squared[i] * squared[i] / (2 * lam)
            new = min(cap, max(0.0, alpha[i] + slope / (own + 1 / (2 * mu))))
            step = new - alpha[i]
            if step != 0.0:
                alpha[i] = new
                total += step
                radius = min(bound, max(0.0, bound - total / (2 * mu)))
                _add_square(matrix, step / (2 * lam), near[i])
            # Where the radius ties the multipliers together more than their own curvature does,
            # single steps crawl; two multipliers that trade leave the radius alone.
            if own < 1 / (2 * mu) and moving > 1:
                j = active[(k + 1 + (passes + sweep) % (moving - 1)) % moving]
                _trade(i, j, near, squared, alpha, matrix, cap, lam, work)

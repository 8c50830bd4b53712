"""ITML: the metric nearest to a prior that keeps similar pairs near and dissimilar ones far."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.kernels import kernel
from rarefind._core.types import ArrayLike, Bools, Floats, Ints, Table
from rarefind.distances._base import MahalanobisTransformer, components_of

# Distances of this many random pairs give the percentiles well enough.
_PAIRS_FOR_BOUNDS = 20_000


class ITML(MahalanobisTransformer):
    """Information-theoretic metric learning: LogDet-nearest to the identity within bounds.

    Of all M that keep d²_M ≤ u for drawn pairs of one class and d²_M ≥ l for drawn pairs of two, up
    to slack, it takes the one with the least LogDet divergence from the identity. Bregman
    projections onto one constraint after the other find it, each an update of rank one that keeps
    M positive definite (Algorithm 1 of [1]_).

    Scale the columns first, since the prior is the Euclidean distance.

    Parameters
    ----------
    gamma : float, default=1.0
        Price of slack: small bends the bounds, ``inf`` keeps them as far as they can be kept.
    n_constraints : "auto" or int, default="auto"
        Pairs drawn, half of them similar. ``"auto"`` is 40·c·(c − 1) for c classes, as in the
        authors' experiments.
    percentiles : (float, float), default=(5, 95)
        The percentiles of the squared Euclidean distance that become u and l.
    max_iter : int, default=1000
        Passes over the constraints.
    tol : float, default=1e-3
        Stop when a pass changes the dual variables by less than this share.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn pairs.

    Attributes
    ----------
    components_ : ndarray of shape (d, d)
        The map L.
    bounds_ : (float, float)
        The bounds u and l on the squared distance.
    n_iter_ : int
        Passes made.
    n_features_in_, feature_names_in_
        Number and names of the columns of the fit.

    Notes
    -----
    Algorithm 1 prints the step α = min(λ, δ/2·(1/p − γ/ξ)). Setting the new distance equal to the
    new slack bound gives δ·γ/(γ + 1)·(1/p − 1/ξ), which is the same for γ = 1, and is used here and
    in the authors' own code. Pairs of equal rows can satisfy no lower bound and meet every upper
    one; they are not drawn.

    References
    ----------
    .. [1] J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, "Information-Theoretic Metric Learning",
       ICML 2007.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 3.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.distances import ITML
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> X, y = load_keel("abalone9-18")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(StandardScaler(), ITML(random_state=0), GammaKNNClassifier())
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.53
    """

    _parameter_constraints = {  # noqa: RUF012
        "gamma": [Interval(Real, 0, np.inf, closed="right")],
        "n_constraints": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "percentiles": ["array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_iter_: int
    bounds_: tuple[float, float]

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        n_constraints: Any = "auto",
        percentiles: tuple[float, float] = (5, 95),
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.n_constraints = n_constraints
        self.percentiles = percentiles
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Draw pairs and learn the distance.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels, of two classes or more.

        Returns
        -------
        self
        """
        X, codes = self._start_fit(X, y)
        low, high = self._checked_percentiles()
        rng = check_random_state(self.random_state)
        wanted = self.n_constraints
        if wanted == "auto":
            classes = int(codes.max()) + 1
            wanted = 40 * classes * (classes - 1)
        pairs = draw_pairs(codes, wanted // 2, wanted - wanted // 2, rng)
        gaps = X[pairs.first] - X[pairs.second]
        differ = (gaps != 0).any(axis=1)
        self.bounds_ = _bounds(X, low, high, rng)
        found = project(
            gaps[differ],
            pairs.similar[differ],
            self.bounds_,
            1 / self.gamma,
            self.max_iter,
            self.tol,
        )
        matrix, self.n_iter_, converged = found
        if not converged:
            warnings.warn(
                f"The projections did not settle in max_iter={self.max_iter} passes: raise it or "
                "tol, or lower gamma.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.components_ = components_of(matrix)
        return self

    def _checked_percentiles(self) -> tuple[float, float]:
        given = np.asarray(self.percentiles, dtype=float).ravel()
        if given.size != 2 or not 0 <= given[0] < given[1] <= 100:
            raise ValueError(
                f"percentiles={self.percentiles!r} must be two numbers that rise, from 0 to 100."
            )
        return float(given[0]), float(given[1])


class Pairs(NamedTuple):
    """Numbered rows in pairs, and whether a pair is of one class."""

    first: Ints
    second: Ints
    similar: Bools


def draw_pairs(codes: Ints, n_similar: int, n_dissimilar: int, rng: Any) -> Pairs:
    """Pairs of one class and pairs of two, each kind uniformly among all of its kind.

    Without two rows of a class there are no similar pairs, and none are drawn.
    """
    size = np.bincount(codes)
    start = np.concatenate([[0], np.cumsum(size)])
    by_class = np.argsort(codes, kind="stable")
    mates = (size * (size - 1)).astype(float)
    if mates.sum() == 0:
        n_similar = 0
        mates += 1.0
    of = rng.choice(size.size, n_similar, p=mates / mates.sum())
    one = (rng.random_sample(n_similar) * size[of]).astype(np.intp)
    other = (rng.random_sample(n_similar) * (size[of] - 1)).astype(np.intp)
    other += other >= one
    others = (size * (codes.size - size)).astype(float)
    apart = rng.choice(size.size, n_dissimilar, p=others / others.sum())
    left = (rng.random_sample(n_dissimilar) * size[apart]).astype(np.intp)
    right = (rng.random_sample(n_dissimilar) * (codes.size - size[apart])).astype(np.intp)
    right += np.where(right >= start[apart], size[apart], 0)
    return Pairs(
        by_class[np.concatenate([start[of] + one, start[apart] + left])],
        by_class[np.concatenate([start[of] + other, right])],
        np.arange(n_similar + n_dissimilar) < n_similar,
    )


def _bounds(X: Floats, low: float, high: float, rng: Any) -> tuple[float, float]:
    """The percentiles of the squared distance between rows that differ."""
    n = len(X)
    if n * (n - 1) // 2 <= _PAIRS_FOR_BOUNDS:
        first, second = np.triu_indices(n, 1)
    else:
        first, second = rng.randint(n, size=(2, _PAIRS_FOR_BOUNDS))
    squared = ((X[first] - X[second]) ** 2).sum(axis=1)
    squared = squared[squared > 0]
    if not squared.size:
        raise ValueError("All rows of X are equal: there is no distance to learn.")
    near, far = np.percentile(squared, [low, high])
    return float(near), float(far)


@kernel
def project(
    gaps: Floats,
    similar: Bools,
    bounds: tuple[float, float],
    slack: float,
    max_iter: int,
    tol: float,
) -> tuple[Floats, int, bool]:
    """Cyclic Bregman projections from the identity; ``slack`` is 1/γ."""
    n, d = gaps.shape
    matrix = np.eye(d)
    image = np.empty(d)
    dual = np.zeros(n)
    inverse_bound = np.empty(n)
    for i in range(n):
        inverse_bound[i] = 1.0 / (bounds[0] if similar[i] else bounds[1])
    for done in range(1, max_iter + 1):
        change, before, after = 0.0, 0.0, 0.0
        for i in range(n):
            p = 0.0
            for a in range(d):
                total = 0.0
                for b in range(d):
                    total += matrix[a, b] * gaps[i, b]
                image[a] = total
                p += total * gaps[i, a]
            if p <= 0.0:  # rounded away under hard bounds that contradict each other
                continue
            sign = 1.0 if similar[i] else -1.0
            alpha = min(dual[i], sign * (1.0 / p - inverse_bound[i]) / (1.0 + slack))
            beta = sign * alpha / (1.0 - sign * alpha * p)
            inverse_bound[i] += sign * alpha * slack
            change += abs(alpha)
            before += dual[i] ** 2
            dual[i] -= alpha
            after += dual[i] ** 2
            for a in range(d):
                for b in range(d):
                    matrix[a, b] += beta * image[a] * image[b]
        if change <= tol * (np.sqrt(before) + np.sqrt(after)):
            return matrix, done, True
    return matrix, max_iter, False

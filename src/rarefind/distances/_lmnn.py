"""LMNN: keep a row's neighbours of its class nearer than any row of another, by a margin."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.types import ArrayLike, Floats, Ints, Table
from rarefind.distances._base import MahalanobisTransformer, descend, few_threads, principal_axes
from rarefind.distances._impostors import Impostors
from rarefind.search import NeighborSearch

# Anchors of each class that the first scale is found with.
_FEW_ANCHORS = 50


class LMNN(MahalanobisTransformer):
    """Large margin nearest neighbours.

    Each row has as targets its nearest rows of the same class, found once by the Euclidean
    distance. The loss pulls targets near, and pushes away every impostor, a row of another class
    that is not further than a target by the margin 1 (equation 14 of [1]_)::

        (1 − μ) Σ_ij d²(i, j) + μ Σ_ijl [1 + d²(i, j) − d²(i, l)]₊

    It is minimised over L, M = LᵀL, by L-BFGS on the exact gradient of all triplets. Impostors are
    searched again only when the map has moved so far that one could have been missed.

    Scale the columns first: the targets are Euclidean neighbours.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets of a row; fewer where its class has fewer other rows.
    mu : float, default=0.5
        Weight of the push from 0 to 1; the pull has the rest. Near 0 the optimum is the map to a
        single point, with a warning.
    n_components : int, default=None
        Dimensions of the space mapped to, by default as many as columns. With fewer the descent
        starts from the principal axes, and may end in a local optimum.
    max_anchors : int, default=20_000
        At most this many rows of a class have targets and impostors, drawn at random and weighted
        to stand for all. Any row can be a target or an impostor. Up to this size the loss is exact.
    max_iter : int, default=500
        Iterations of L-BFGS.
    tol : float, default=1e-6
        Stop when an iteration lowers the loss by less than this share of its first value.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn anchors.
    n_jobs : int, default=None
        Cores; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        The map L.
    loss_ : float
        The loss reached.
    n_iter_ : int
        Iterations made.
    n_features_in_, feature_names_in_
        Number and names of the columns of the fit.

    References
    ----------
    .. [1] K. Weinberger, L. Saul, "Distance Metric Learning for Large Margin Nearest Neighbor
       Classification", JMLR 10, 2009. They use projected subgradients on M and a heuristic active
       set; L-BFGS on L and the bound that proves the active set complete are ours.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 3, which tunes μ in [0, 1].

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.distances import LMNN
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> X, y = load_keel("abalone9-18")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LMNN(), GammaKNNClassifier())
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.69
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "mu": [Interval(Real, 0, 1, closed="both")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "max_anchors": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    n_iter_: int
    loss_: float

    def __init__(
        self,
        n_neighbors: int = 3,
        mu: float = 0.5,
        *,
        n_components: int | None = None,
        max_anchors: int = 20_000,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.mu = mu
        self.n_components = n_components
        self.max_anchors = max_anchors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Find the targets and learn the distance.

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
        kept = self._check_n_components(self.n_components)
        if np.bincount(codes).max() < 2:
            raise ValueError(
                "No class has two rows, so there is no neighbour to pull near: give more rows."
            )
        rng = check_random_state(self.random_state)
        anchors, weight = draw_anchors(codes, self.max_anchors, rng)
        targets = target_neighbors(X, codes, anchors, self.n_neighbors, self.n_jobs)
        # Distances are of differences: centred rows lose fewer digits.
        X = X - X.mean(axis=0)
        loss = LMNNLoss(X, codes, anchors, weight, targets, self.mu, self.n_jobs)
        with (
            few_threads(X, self.n_jobs),
            report_progress(self, "descent", self.max_iter, X, codes, self.verbose) as step,
        ):
            start = best_scale(loss, codes) * principal_axes(X, kept)
            found = descend(loss, start, self.max_iter, self.tol, step)
        self._warn(found.converged, found.components, X)
        self.components_, self.loss_, self.n_iter_ = found.components, found.value, found.n_iter
        return self

    def _warn(self, converged: bool, components: Floats, X: Floats) -> None:
        if not converged:
            warnings.warn(
                f"The descent did not settle in max_iter={self.max_iter} iterations: raise it or "
                "tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        spread = X.var(axis=0).sum()
        if spread > 0 and (X @ components.T).var(axis=0).sum() < 1e-6 * min(1.0, spread):
            warnings.warn(
                f"With mu={self.mu} the loss is least where all rows are at one place: raise mu.",
                ConvergenceWarning,
                stacklevel=3,
            )


def draw_anchors(codes: Ints, at_most: int, rng: Any) -> tuple[Ints, Floats]:
    """The rows of each class that have targets, and how many rows each stands for."""
    chosen, weight = [], []
    for c, size in enumerate(np.bincount(codes)):
        if size < 2:  # a row alone in its class has no target
            continue
        rows = np.flatnonzero(codes == c)
        if size > at_most:
            rows = np.sort(rng.choice(rows, at_most, replace=False))
        chosen.append(rows)
        weight.append(np.full(rows.size, size / rows.size))
    return np.concatenate(chosen), np.concatenate(weight)


def target_neighbors(
    X: Floats, codes: Ints, anchors: Ints, k: int, n_jobs: int | None = None
) -> Ints:
    """The k nearest rows of the class of each anchor, -1 where there are fewer."""
    targets = np.full((anchors.size, k), -1, dtype=np.intp)
    for c in np.unique(codes[anchors]):
        rows, asked = np.flatnonzero(codes == c), np.flatnonzero(codes[anchors] == c)
        search = NeighborSearch(X[rows], n_jobs=n_jobs)
        own = np.searchsorted(rows, anchors[asked])
        _, at = search.query(X[anchors[asked]], k, exclude=own)
        targets[asked] = np.where(at >= 0, rows[at], -1)
    return targets


class LMNNLoss:
    """The loss and its gradient in L, for centred rows and fixed targets."""

    def __init__(
        self,
        X: Floats,
        codes: Ints,
        anchors: Ints,
        weight: Floats,
        targets: Ints,
        mu: float,
        n_jobs: int | None = None,
    ) -> None:
        self.X, self.anchors, self.weight, self.targets = X, anchors, weight, targets
        self.mu = mu
        self.impostors = Impostors(X, codes, anchors, weight, targets, n_jobs)
        # The pull is tr(L P Lᵀ) with one fixed matrix P.
        rows, column = np.nonzero(targets >= 0)
        gaps = X[anchors[rows]] - X[targets[rows, column]]
        self.pull = (gaps * weight[rows, None]).T @ gaps

    def __call__(self, components: Floats) -> tuple[float, Floats]:
        """Evaluate at L."""
        pulled = components @ self.pull
        push, force = self.impostors.push(components)
        value = (1 - self.mu) * float((pulled * components).sum()) + self.mu * push
        return value, 2 * ((1 - self.mu) * pulled + self.mu * (force.T @ self.X))


def best_scale(loss: LMNNLoss, codes: Ints) -> float:
    """About the best multiple of the Euclidean distance, from a few anchors of each class.

    The margin 1 is in the units of the map. A descent that first has to find them overshoots to
    maps so small that every row is an impostor of every other.
    """
    of = codes[loss.anchors]
    few = np.concatenate([np.flatnonzero(of == c)[:_FEW_ANCHORS] for c in np.unique(of)])
    X = loss.X
    part = LMNNLoss(X, codes, loss.anchors[few], loss.weight[few], loss.targets[few], loss.mu, 1)
    near = np.trace(part.pull) / part.weight.sum()
    if near == 0.0:
        return 1.0
    unit = np.eye(X.shape[1]) / np.sqrt(near)
    found = minimize_scalar(
        lambda log: part(np.exp(log) * unit)[0],
        bounds=(-3, 3),
        method="bounded",
        options={"xatol": 0.05, "maxiter": 15},
    )
    return float(np.exp(found.x) / np.sqrt(near))

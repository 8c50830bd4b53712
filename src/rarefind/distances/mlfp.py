"""MLFP: a distance to the positives only, learned from all triplets."""

from __future__ import annotations

import warnings
from math import log, sqrt
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.fields import Flag, FloatArray, NameArray, Perhaps, RealNumber, Size, Whole
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.threads import limit_threads
from rarefind._core.types import ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.distances._base import MahalanobisTransformer, components_of
from rarefind.distances._few_positives import TripletProblem


class MLFPBound(NamedTuple):
    """What Theorems 2 and 3 guarantee for a fitted distance, with probability 1 − delta."""

    delta: float
    kappa: float
    sigma: float
    empirical_risk: float
    risk: float
    false_positives: float
    false_negatives: float
    #: Shares of negatives and of positives among the rows, which no rate can exceed.
    negatives: float
    positives: float

    @property
    def vacuous(self) -> bool:
        """Whether none of the three says more than what is true of every distance."""
        return all(bound >= most for _, bound, most in self._parts())

    def __str__(self) -> str:
        bounds = [
            f"{what} at most {bound:.3g}"
            + (f" (vacuous: never above {most:.3g})" if bound >= most else "")
            for what, bound, most in self._parts()
        ]
        sentence = f"With probability {1 - self.delta:g}: {'; '.join(bounds)}."
        return f"{sentence} More rows or a larger mu make it smaller." if self.vacuous else sentence

    def _parts(self) -> list[tuple[str, float, float]]:
        """What is bounded, by what, and what it cannot exceed in any case."""
        return [
            ("risk", self.risk, self.sigma),
            ("share of false positives", self.false_positives, self.negatives),
            ("share of false negatives", self.false_negatives, self.positives),
        ]


@saved(
    "mlfp",
    state=State(
        {
            "n_features_in_": Size("d", low=1),
            "feature_names_in_": Perhaps(NameArray("d")),
            "components_": FloatArray("d", "d"),
            "objective_": RealNumber(),
            "mu_": RealNumber(0),
            "n_iter_": Whole(),
            "converged_": Flag(),
            "_size": RealNumber(0),
            "_share": RealNumber(0, 1),
            "_risk": RealNumber(),
            "_largest": RealNumber(0),
        }
    ),
)
class MLFP(MahalanobisTransformer):
    """Metric learning from few positives.

    Learns a Mahalanobis distance for comparing a row to a *positive*, while negatives stay at their
    Euclidean distance: problem (3.1) of [1]_, over all triplets. Positives shall be closer to each
    other, by M, than to negatives, and not come closer to a negative than its fellows. With
    λ_max(M) ≤ 1 positives never move away from a row, so no false negative is added (Proposition
    3). The distance is of use to a classifier that measures the two classes differently:
    :class:`rarefind.neighbors.MLFPClassifier`.

    Parameters
    ----------
    mu : float, default=0.1
        Weight of ‖M − I‖², in units of α² = (share of positives)²: the sum over triplets in (3.1)
        is of that size, so one value of ``mu`` does the same at any imbalance. ``mu_`` is the μ of
        (3.1).
    c : float, default=0.5
        In [0, 1]: the margin between the distances is 1 − c, in units of the squared distance.
    matrix : {"diagonal", "full"}, default="diagonal"
        A weight for each feature, or a linear map of all of them.
    constraint : bool, default=True
        Keep λ_max(M) ≤ 1. Without it positives may also be moved away.
    max_negatives : int, default=4000
        At most this many negatives, and as many positives, are drawn to learn from; their sorted
        distances take about 130 MB. The drawn rows are weighted to stand for all.
    max_iter : int, default=500
        Steps of the solver.
    tol : float, default=1e-6
        Largest entry of the projected gradient at which the solver stops, the loss being measured
        in units of the typical squared distance between a positive and a negative.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn rows.
    n_jobs : int, default=None
        Threads of the sums; None uses all cores.

    Attributes
    ----------
    components_ : ndarray of shape (d, d)
        L with LᵀL = M.
    objective_ : float
        The value of (3.1), its hinges unsmoothed.
    mu_ : float
        The μ of (3.1).
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the solver reached ``tol``.
    n_features_in_, feature_names_in_
        Number and names of the columns of the fit.

    Notes
    -----
    The problem is convex, and strictly so for ``mu`` > 0: the result does not depend on the start.
    Each anchor's distances to the negatives are sorted once, after which the sum over its triplets
    is a search and two running sums. The hinge is bent over a part of the typical squared distance
    of 1e-3, then of 1e-5; for each, L-BFGS-B (a diagonal M) or the spectral projected
    gradient (a full one) go on from where they were.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 3. The sums by sorted distances are ours.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.distances import MLFP
    >>> X, y = load_keel("yeast4")
    >>> distance = MLFP().fit(StandardScaler().fit_transform(X), y)
    >>> np.diag(distance.get_mahalanobis_matrix()).round(2).tolist()
    [0.83, 0.75, 1.0, 0.97, 0.1, 1.0, 0.68, 1.0]
    """

    _parameter_constraints = {  # noqa: RUF012
        "mu": [Interval(Real, 0, None, closed="neither")],
        "c": [Interval(Real, 0, 1, closed="both")],
        "matrix": [StrOptions({"diagonal", "full"})],
        "constraint": ["boolean"],
        "max_negatives": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        mu: float = 0.1,
        c: float = 0.5,
        *,
        matrix: str = "diagonal",
        constraint: bool = True,
        max_negatives: int = 4000,
        max_iter: int = 500,
        tol: float = 1e-6,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mu = mu
        self.c = c
        self.matrix = matrix
        self.constraint = constraint
        self.max_negatives = max_negatives
        self.max_iter = max_iter
        self.tol = tol
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Learn the distance to the positives.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; scale the columns first.
        y : array-like of shape (n,)
            The labels, of two classes.

        Returns
        -------
        self
        """
        X, positive, _ = self._start_binary_fit(X, y, self.pos_label)
        full = self.matrix == "full"
        # Threads of small matrix products go on waiting for more, and take the cores of the sums.
        with limit_threads(1):
            problem = self._problem(X, positive)
            found = problem.solve(
                self.mu,
                self.c,
                full=full,
                constraint=self.constraint,
                max_iter=self.max_iter,
                tol=self.tol,
            )
        self.components_ = components_of(found.matrix) if full else np.diag(np.sqrt(found.matrix))
        self.objective_ = found.objective * problem.share**2
        self.mu_ = self.mu * problem.share**2
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self._size, self._share = problem.size, problem.share
        self._risk = found.loss * problem.share**2
        # Distances do not change when all rows are moved, so the norms are those of centred rows.
        self._largest = float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).max()))
        if not found.converged:
            warnings.warn(
                f"MLFP took {found.n_iter} steps and did not reach tol={self.tol}: "
                "raise max_iter or mu.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def bound(self, delta: float = 0.05) -> MLFPBound:
        """Bounds of Theorems 2 and 3 on the risk and on the rates of a 1-NN classifier.

        Parameters
        ----------
        delta : float, default=0.05
            The bounds hold with probability 1 − delta.

        Returns
        -------
        MLFPBound
            ``str(bound)`` is a sentence, which says so when the bound is vacuous.

        Notes
        -----
        κ = 6(4(1 − α)K²)²/μ, as Theorem 5 states and its proof gives; the 12((1 − α)K²)²/μ of
        Theorem 2 loses a factor of 8 in the last line of the proof. The hinge is above the 0-1 loss
        only when its margin is 1: for a margin of 1 − c the rates are divided by it, where the
        thesis takes c = 0. The risk on the rows and one more is taken to be that on the rows.
        Beyond that the rates are those of Theorem 3 as stated; its proof replaces the nearest
        positive by any positive, which need not be on the safe side.
        """
        check_is_fitted(self)
        if not 0 < delta < 1:
            raise ValueError(f"delta={delta} is not a probability between 0 and 1.")
        if not self.constraint:
            raise ValueError("The theorems are about λ_max(M) ≤ 1: fit with constraint=True.")
        m, alpha, squared = self._size, self._share, self._largest**2
        heavier = max(alpha, 1 - alpha)
        kappa = 6 / self.mu_ * (4 * heavier * squared) ** 2
        sigma = heavier * (1 - self.c + 4 * squared)

        def risk(rows: float) -> float:
            slack = 2 * (kappa + sigma) * sqrt(log(2 / delta) / (2 * rows))
            return self._risk + 2 * kappa / rows + slack

        margin = 1 - self.c
        rate = risk(m + 1) / margin if margin else np.inf
        return MLFPBound(
            delta=delta,
            kappa=kappa,
            sigma=sigma,
            empirical_risk=self._risk,
            risk=risk(m),
            false_positives=rate / alpha,
            false_negatives=rate / (1 - alpha),
            negatives=1 - alpha,
            positives=alpha,
        )

    def _problem(self, X: Floats, positive: Bools) -> TripletProblem:
        rng = check_random_state(self.random_state)
        positives = self._draw(np.flatnonzero(positive), rng)
        negatives = self._draw(np.flatnonzero(~positive), rng)
        return TripletProblem(
            X[positives],
            X[negatives],
            positives_each=positive.sum() / positives.size,
            negatives_each=(~positive).sum() / negatives.size,
            n_jobs=self.n_jobs,
        )

    def _draw(self, rows: Ints, rng: Any) -> Ints:
        if rows.size <= self.max_negatives:
            return rows
        return np.sort(rng.choice(rows, self.max_negatives, replace=False))

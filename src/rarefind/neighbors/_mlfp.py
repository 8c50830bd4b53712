"""MLFP as a classifier: nearest neighbours with a learned distance to the positives only."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.deadline import check_time_left, deadline
from rarefind._core.fields import Object, RealNumber, Whole
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import with_callbacks
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.distances import MLFP
from rarefind.distances.mlfp import MLFPBound
from rarefind.metrics import CountMetric, ranking_scores
from rarefind.neighbors._classifier import (
    NEIGHBOUR_STATE,
    THRESHOLDS,
    NeighbourClassifier,
)
from rarefind.neighbors._held_out import PointSet
from rarefind.neighbors._ratio import voters
from rarefind.search import NeighborSearch
from rarefind.selection import best_threshold, tune
from rarefind.selection.thresholds import bounds_at

# Where mu (in units of the squared share of positives) and c are looked for.
_SPACE = {"mu": (1e-3, 1e2, "log"), "c": (0.0, 1.0)}

# A threshold above 1 gives up what the constraint is for, and is seldom better on rows not seen: it
# has to be worth more than others by this share.
_AS_GAMMA, _WORTH_MORE = (0.0, 1.0), 0.1


@saved(
    "mlfp-knn",
    state=NEIGHBOUR_STATE
    | State(
        {
            "threshold_": RealNumber(above=0),
            "mu_": RealNumber(0),
            "c_": RealNumber(0, 1),
            "distance_": Object("mlfp", d="d"),
            "n_iter_": Whole(),
            "objective_": RealNumber(),
        }
    ),
)
class MLFPClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighbourClassifier):
    """Nearest neighbours with a Mahalanobis distance to the positives, learned from few of them.

    Rows are compared to negatives by the Euclidean distance and to positives by a learned one that
    brings them closer along the features which do not tell them apart (chapter 3 of [1]_;
    :class:`rarefind.distances.MLFP` learns it, over all triplets). As in γk-NN, the k nearest rows
    vote positive if and only if s = D⁻₍r₎/D⁺₍q₎ reaches the ``threshold_``, so the ratio of the two
    distances is the ``priority`` and the best threshold is exact.

    Distances compare features, so scale the columns first (the thesis standardises them).

    Parameters
    ----------
    k : int, default=3
        Neighbours that vote.
    mu : float or "auto", default=0.1
        Weight of the pull to the Euclidean distance, in units of the squared share of positives, as
        in :class:`~rarefind.distances.MLFP`. ``"auto"`` tunes it.
    c : float or "auto", default=0.5
        The margin is 1 − c. ``"auto"`` tunes it.
    matrix : {"diagonal", "full"}, default="diagonal"
        A weight for each feature, or a linear map of all of them.
    constraint : bool, default=True
        Keep λ_max(M) ≤ 1: positives only come closer.
    threshold : "auto", float or None, default="auto"
        ``"auto"`` is the exact maximum of ``metric`` on held-out rows, by folds in which the
        distance is learned anew: over (0, 1], as γ in γk-NN, unless one above 1 is better by a
        tenth. A number fixes it. None is the rule of the thesis, 1, without held-out work:
        probabilities are then the ratio's own, and reasons name no rank.
    metric : str or callable, default="f1"
        What the threshold, and ``mu`` and ``c``, maximise: a name for
        :func:`rarefind.metrics.count_metric` or a function of ``(tp, fp, fn, tn)``.
    n_trials : int, default=50
        Trials of :func:`rarefind.selection.tune` for what is ``"auto"``. Each is judged by the
        value of ``metric`` on held-out folds, at the best threshold of the fold or the given one.
    max_negatives, max_iter, tol
        As in :class:`~rarefind.distances.MLFP`.
    cv : None, int or splitter, default=None
        How rows are held out: a number of folds, 10 by default, fewer when a class has fewer rows.
    max_queries : int, default=50_000
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, the trials and the drawn rows.
    n_jobs : int, default=None
        Cores for the search; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    distance_ : MLFP
        The learned distance to the positives.
    mu_, c_ : float
        As used; ``distance_.mu_`` is the μ of problem (3.1).
    n_iter_, objective_
        Of ``distance_``.
    threshold_ : float
        The ratio from which on rows are positive.
    value_ : float
        ``metric`` on the held-out rows at the threshold; NaN when nothing was held out.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 3. Its authors search positives by the Euclidean distance
       and take triplets of neighbours only; here both are as the text defines them.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import MLFPClassifier
    >>> X, y = load_keel("pima")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(StandardScaler(), MLFPClassifier(random_state=0))
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.7
    """

    _folds = 10
    _parameter_constraints = {  # noqa: RUF012
        "k": [Interval(Integral, 1, None, closed="left")],
        "mu": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "c": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "matrix": [StrOptions({"diagonal", "full"})],
        "constraint": ["boolean"],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), None],
        "metric": [str, callable],
        "n_trials": [Interval(Integral, 1, None, closed="left")],
        "max_negatives": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "max_queries": [Interval(Integral, 1, None, closed="left")],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    #: The vote of the k nearest.
    _own_threshold = 1.0

    def __init__(
        self,
        k: int = 3,
        mu: float | str = 0.1,
        c: float | str = 0.5,
        *,
        matrix: str = "diagonal",
        constraint: bool = True,
        threshold: Any = "auto",
        metric: Any = "f1",
        n_trials: int = 50,
        max_negatives: int = 4000,
        max_iter: int = 500,
        tol: float = 1e-6,
        cv: Any = None,
        max_queries: int = 50_000,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.mu = mu
        self.c = c
        self.matrix = matrix
        self.constraint = constraint
        self.threshold = threshold
        self.metric = metric
        self.n_trials = n_trials
        self.max_negatives = max_negatives
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.max_queries = max_queries
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Table, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Learn the distance and find the threshold.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels.
        groups : array-like of shape (n,), default=None
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        table = X
        X, codes = self._start_fit(X, y, self.pos_label)
        metric = self._count_metric()
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        self.mu_, self.c_ = self._tune(X, codes, groups, metric, seed)
        self.distance_ = self._learn_distance(X, codes, seed)
        self.n_iter_, self.objective_ = self.distance_.n_iter_, self.distance_.objective_
        self._start_sets(X, codes, seed)
        if self._needs_no_held_out(codes):
            self._leave_uncalibrated()
            return self
        rows, weight, distances = self._hold_out(
            table, X, codes, groups, rng, seed, one_by_one=False
        )
        score, positive = self._scores_of(X[rows], distances), self._is_positive(codes[rows])
        self._calibrate_rows(
            score, codes[rows], weight, self._best_threshold(score, positive, weight)
        )
        return self

    def transform(self, X: Table) -> Floats:
        """Place rows where the learned distance to the positives is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, d)
        """
        X = self._check_rows(X)
        return self.distance_.transform(X)

    def get_mahalanobis_matrix(self) -> Floats:
        """Give the matrix M of the learned distance to the positives.

        Returns
        -------
        ndarray of shape (d, d)
        """
        check_is_fitted(self)
        return self.distance_.get_mahalanobis_matrix()

    def bound(self, delta: float = 0.05) -> MLFPBound:
        """Bounds of Theorems 2 and 3, as in :meth:`rarefind.distances.MLFP.bound`.

        Parameters
        ----------
        delta : float, default=0.05
            The bounds hold with probability 1 − delta.

        Returns
        -------
        MLFPBound
        """
        check_is_fitted(self)
        return self.distance_.bound(delta)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    def _point_sets(self, X: Floats, codes: Ints, rows: Ints, seed: int) -> list[PointSet]:
        whole = np.array_equal(rows, np.arange(codes.size))
        learned = self.distance_ if whole else self._learn_distance(X[rows], codes[rows], seed)
        positives, negatives = self._two_sets(X, codes, rows, voters(self.k))
        search = NeighborSearch(
            X[positives.rows], components=learned.components_, n_jobs=self.n_jobs
        )
        return [positives._replace(search=search), negatives]

    def _best_threshold(self, score: Floats, positive: Bools, weight: Floats) -> float | None:
        """The best threshold like γ, or any where that is worth clearly more; None if not asked."""
        if self.threshold != "auto" or not (score[positive] > 0).any():
            return None
        metric = self._count_metric()
        within, beyond = (
            best_threshold(positive, score, metric, sample_weight=weight, bounds=bounds)
            for bounds in (_AS_GAMMA, THRESHOLDS)
        )
        better = beyond.value - within.value > _WORTH_MORE * abs(within.value)
        return (beyond if better else within).threshold

    def _learn_distance(self, X: Floats, codes: Ints, seed: int) -> MLFP:
        check_time_left(deadline())
        return MLFP(
            self.mu_,
            self.c_,
            matrix=self.matrix,
            constraint=self.constraint,
            max_negatives=self.max_negatives,
            max_iter=self.max_iter,
            tol=self.tol,
            pos_label=self.pos_label_,
            random_state=seed,
            n_jobs=self.n_jobs,
        ).fit(X, self.classes_[codes])

    def _tune(
        self, X: Floats, codes: Ints, groups: ArrayLike | None, metric: CountMetric, seed: int
    ) -> tuple[float, float]:
        """The given ``mu`` and ``c``, or those that are best on held-out folds."""
        given = {"mu": self.mu, "c": self.c}
        space = {name: _SPACE[name] for name, value in given.items() if value == "auto"}
        if space:
            plain = type(self)(**{**self.get_params(), "threshold": None, "verbose": 0})
            found = tune(
                plain,
                space,
                X,
                self.classes_[codes],
                _held_out_value(metric, self.threshold),
                self.n_trials,
                None,
                cv=self._folds if self.cv is None else self.cv,
                groups=groups,
                pos_label=self.pos_label_,
                random_state=seed,
                verbose=self.verbose,
            )
            given.update(found.params)
        return float(given["mu"]), float(given["c"])


def _held_out_value(
    metric: CountMetric, threshold: Any
) -> Callable[[Any, Table, ArrayLike], float]:
    """A scorer: the metric at the best threshold for the rows shown, or at the given one."""
    at = 1.0 if threshold is None else threshold
    bounds = THRESHOLDS if at == "auto" else bounds_at(at)

    def score(estimator: Any, X: Table, y: ArrayLike) -> float:
        found = ranking_scores(estimator, X, estimator.pos_label_)
        positive = np.asarray(y) == estimator.pos_label_
        return best_threshold(positive, found, metric, bounds=bounds).value

    return score

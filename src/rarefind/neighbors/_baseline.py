"""What the k-NN baselines share: their parameters, their fit, and rules that are not a ratio."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.fields import Perhaps, RealNumber
from rarefind._core.sklearn_compat import with_callbacks
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.neighbors._classifier import NEIGHBOUR_STATE, NeighbourClassifier
from rarefind.neighbors._held_out import PointSet
from rarefind.neighbors._reasons import explain
from rarefind.rules import Reason
from rarefind.search import DISTANCES

#: What every baseline keeps in a model file.
BASELINE_STATE = NEIGHBOUR_STATE | State(
    {"_own_threshold": Perhaps(RealNumber(0)), "threshold_": RealNumber(above=0)}
)


class BaselineClassifier(NeighbourClassifier):
    """Base of the k-NN baselines: the rule as published, or its threshold tuned.

    A subclass writes :meth:`_published_threshold` and :meth:`_neighbor_counts`, and replaces
    :meth:`_scores_of` where its score is not the ratio of two distances.
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "k": [Interval(Integral, 1, None, closed="left")],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), None],
        "metric": [str, callable],
        "distance": [StrOptions(set(DISTANCES) - {"precomputed"})],
        "p": [Interval(Real, 1, None, closed="both")],
        "cv": ["cv_object"],
        "max_queries": [Interval(Integral, 1, None, closed="left")],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    pos_label: Label
    random_state: Any

    def __init__(
        self,
        k: int = 3,
        *,
        threshold: Any = None,
        metric: Any = "f1",
        distance: str = "euclidean",
        p: float = 2,
        cv: Any = None,
        max_queries: int = 50_000,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.metric = metric
        self.distance = distance
        self.p = p
        self.cv = cv
        self.max_queries = max_queries
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Table, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Store the rows, and tune the threshold where it is asked for.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels.
        groups : array-like of shape (n,), default=None
            Rows of one group are held out together while tuning.

        Returns
        -------
        self
        """
        table = X
        X, codes = self._start_fit(X, y, self.pos_label)
        self._count_metric()  # an unknown name is refused before the work, not after it
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        self._own_threshold = self._published_threshold(self._is_positive(codes))
        self._start_sets(X, codes, seed)
        if self._needs_no_held_out(codes):
            self._leave_uncalibrated()
            return self
        rows, weight, score = self._held_out_scores(table, X, codes, groups, rng, seed)
        self._calibrate_rows(score, codes[rows], weight)
        return self

    @abstractmethod
    def _published_threshold(self, positive: Bools) -> float:
        """Threshold of the published rule, which may look at the sizes of the classes."""

    @abstractmethod
    def _neighbor_counts(self) -> tuple[int, int]:
        """How many positives and how many negatives a row asks for."""

    def _point_sets(self, X: Floats, codes: Ints, rows: Ints, seed: int) -> list[PointSet]:
        return self._two_sets(
            X, codes, rows, self._neighbor_counts(), distance=self.distance, p=self.p
        )

    def _held_out_scores(
        self, table: Table, X: Floats, codes: Ints, groups: ArrayLike | None, rng: Any, seed: int
    ) -> tuple[Ints, Floats, Floats]:
        """Rows, their weights, and their scores without themselves."""
        rows, weight, distances = self._hold_out(table, X, codes, groups, rng, seed)
        return rows, weight, self._scores_of(X[rows], distances)


class SurroundingsClassifier(BaselineClassifier):
    """Base of baselines whose score needs more than distances to a fixed number of points.

    A subclass writes :meth:`_score`, which looks at both sets at once.
    """

    #: Whether a training row can be scored against all others without new sets.
    _leaves_one_out = True

    @abstractmethod
    def _score(
        self, sets: Sequence[PointSet], X: Floats, exclude: Sequence[Ints] | None = None
    ) -> Floats:
        """Score rows; ``exclude`` numbers in each set the point that is the row itself, or -1."""

    def _priority(self, X: Floats) -> Floats:
        return self._score(self._sets, X)

    def _explain(self, X: Floats) -> list[Reason]:
        found = [s.search.query(X, s.k) for s in self._sets]
        names, scores = self._feature_names(), self._priority(X)
        return explain(X, scores, self._ranks(scores), self._sets, found, 1.0, names)

    def _held_out_scores(
        self, table: Table, X: Floats, codes: Ints, groups: ArrayLike | None, rng: Any, seed: int
    ) -> tuple[Ints, Floats, Floats]:
        def measure(
            sets: Sequence[PointSet], X: Floats, exclude: Sequence[Ints] | None
        ) -> list[Floats]:
            return [self._score(sets, X, exclude)]

        rows, weight, (score,) = self._hold_out(
            table, X, codes, groups, rng, seed, one_by_one=self._leaves_one_out, measure=measure
        )
        return rows, weight, score


def nearness(d_pos: Floats, d_neg: Floats, of_copies: Floats | float = 1.0) -> Floats:
    """η̂ = D⁻/(D⁺+D⁻) squeezed into [0, 1): what orders rows that a vote leaves equal.

    As in the ratio D⁻/D⁺, infinite distances stand for points that do not exist, and rows on top of
    a positive come last of all, the further the negatives the higher. Rows on top of both have the
    ratio ``of_copies``.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = 1 / (1 + d_pos / d_neg)
        beyond = np.where(np.isinf(d_neg), 1.0, d_neg / (1.0 + d_neg))
    share = np.where((d_pos == 0) | np.isinf(d_neg), 1 + beyond / 2, share)
    both = (d_pos == 0) & (d_neg == 0)
    share = np.where(both, of_copies / (1 + np.asarray(of_copies)), share)
    return np.where(np.isinf(d_pos), 0.0, np.asarray(share / 2))

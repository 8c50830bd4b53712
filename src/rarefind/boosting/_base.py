"""What all boosters share: rounds on held-out rows, early stopping, threshold, probability."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.checks import (
    check_classes_left,
    training_weights,
)
from rarefind._core.deadline import check_time_left, deadline, soft_deadline
from rarefind._core.fields import (
    BoolArray,
    FloatArray,
    Maybe,
    Object,
    RealNumber,
    StateError,
    Whole,
)
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.boosting._coding import Coding
from rarefind.boosting._trees import Trees
from rarefind.metrics import average_precision, budget, precision_at_k
from rarefind.rules import Reason
from rarefind.selection.cross_validation import check_positives_held_out, folds_of_used

# Folds are held out until they hold this many positives: more make the choice no better.
_ENOUGH_POSITIVES = 300


def check_trees(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Raise on trees that are not of the columns as they are coded; the number of trees."""
    if state["_coding"].is_set.size != sizes["given"]:
        raise StateError("the bins are not those of the columns")
    return {"trees": state["_trees"].check(state["_coding"].n_levels())}


#: What every booster keeps in a model file, whose trees are ``given`` some columns.
SHARED_STATE = CLASSIFIER_STATE | State(
    {
        "_is_set": BoolArray("d"),
        "_share": Maybe(RealNumber(0, 1)),
        "n_rounds_": Whole(1),
        "validation_curve_": FloatArray("*", nan=True),
        "_trees": Object("boosted-trees"),
        "_coding": Object("coding", d="given"),
    }
)
#: Of boosters whose trees are given the columns as they are.
BOOSTING_STATE = SHARED_STATE | State(
    {"_coding": Object("coding", d="d")}, lambda _, sizes: {"given": sizes["d"]}, check_trees
)


class BoostingRows(NamedTuple):
    """Rows to learn from, or to judge by."""

    X: Floats
    codes: Array  # the class of each row
    positive: Bools
    weight: Floats

    def take(self, rows: Ints) -> BoostingRows:
        """Some of the rows."""
        return BoostingRows(self.X[rows], self.codes[rows], self.positive[rows], self.weight[rows])

    def normalise_weights(self) -> BoostingRows:
        """The same with weights of 1 on average: what XGBoost is asked speaks of rows."""
        return self._replace(weight=self.weight / self.weight.mean())


class TrainingPart(NamedTuple):
    """Rows to make rounds on, by number or all of them, and rows to judge them by."""

    train: Ints | None
    held: Ints | BoostingRows


class Growing(Protocol):
    """A model that grows by a round at a time."""

    def step(self, round_number: int) -> None:
        """Add one round."""

    def held_out_scores(self) -> Floats:
        """Scores of the rows it is judged by, after the rounds so far."""


class BestRound:
    """The best round so far, and whether it is time to stop.

    Of equal rounds the last is the best: where all is well already, more trees make it safer. With
    no patience (None) every round is better than those before.
    """

    def __init__(self, patience: int | None, earliest: int) -> None:
        self.rounds = 0
        self.scores: list[Floats] = []
        self._patience, self._since = patience, earliest
        self._value = -np.inf

    def is_over(self, value: float, scores: list[Floats], rounds: int) -> bool:
        """Take a round in."""
        if self._patience is None:
            self.rounds, self.scores = rounds, scores
            return False
        if value > self._value:
            self._value, self._since = value, max(self._since, rounds)
        if value >= self._value or not self.rounds:
            self.rounds, self.scores = rounds, scores
        return rounds - self._since >= self._patience


class BoostingClassifier(RareClassifier):
    """Base of boosters; a subclass says how a round is made and how the result is kept.

    Rounds are first made on folds, all of them a round at a time. The held-out rows say when to
    stop, and set the threshold and the probabilities; then the same number of rounds is made on all
    rows.
    """

    _allows_missing = True
    stops_quickly = True
    fits_in_time = True
    #: Parameters that all of them have.
    _shared_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_depth": [Interval(Integral, 1, 30, closed="both")],
        "min_child_weight": [Interval(Real, 0, None, closed="left")],
        "reg_lambda": [Interval(Real, 0, None, closed="left")],
        "bins": [StrOptions({"positive-aware", "quantile"})],
        "max_bins": [Interval(Integral, 2, 65_536, closed="both")],
        "categorical_features": ["array-like", None],
        "early_stopping_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "eval_metric": [StrOptions({"average_precision", "precision_at_k"})],
        "k": [Real, str, None],
        "cv": ["cv_object"],
        "threshold": [StrOptions({"auto"}), Real, None],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    n_estimators: int
    max_bins: int
    bins: str
    categorical_features: Any
    early_stopping_rounds: int | None
    eval_metric: str
    k: Any
    cv: Any
    pos_label: Label
    random_state: Any
    n_jobs: int | None
    verbose: int
    _trees: Trees
    _coding: Coding
    n_rounds_: int
    validation_curve_: Floats

    @abstractmethod
    def _grow(self, rows: BoostingRows, held_out: Floats | None, seed: int) -> Growing:
        """A model before its first round, on its own bins."""

    @abstractmethod
    def _keep(self, grown: Any) -> None:
        """Keep what the last model has learned."""

    @abstractmethod
    def _contributions(self, X: Floats) -> Floats:
        """What each column adds to the score of each row, of shape (n, d)."""

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Table,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        eval_set: Any = None,
    ) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; one of weight 0 is not there.
        groups : array-like of shape (n,), default=None
            Rows of one group are never on both sides of a fold.
        eval_set : tuple (X, y) or (X, y, sample_weight), default=None
            Rows to stop by and to set threshold and probabilities by, instead of folds: later ones,
            where time matters.

        Returns
        -------
        self
        """
        self._count_metric()
        X, codes = self._start_fit(X, y, self.pos_label)
        check_consistent_length(X, groups)
        weight = training_weights(X, codes, sample_weight, None)
        used = weight > 0
        check_classes_left(codes, used, self.classes_.size)
        if not used.all():
            X, codes, weight = X[used], codes[used], weight[used]
        rows = self._rows(X, codes, weight)
        self._is_set: Bools = self._level_columns()
        judges = None if eval_set is None else self._eval_rows(eval_set)
        self._share = self._budget_share(len(rows.X) if judges is None else len(judges.X))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        stop = soft_deadline()
        parts = self._parts(rows, used, groups, judges, seed)
        steps = self.n_estimators * (2 if parts else 1)
        with report_progress(self, "rounds", steps, X, codes, self.verbose) as step:
            self.n_rounds_ = self.n_estimators
            self.validation_curve_ = np.empty(0)
            held, scores = self._hold_out(rows, parts, seed, step, stop) if parts else ([], [])
            model = self._grow(rows, None, seed)
            for number in range(self.n_rounds_):
                model.step(number)
                step()
                if not parts and time.monotonic() > stop:
                    self.n_rounds_ = number + 1
                    break
        self._keep(model)
        self._calibrate_parts(held, scores)
        return self

    def _rows(self, X: Floats, codes: Array, weight: Floats) -> BoostingRows:
        many = self.classes_.size > 2
        positive = np.zeros(codes.size, dtype=bool) if many else self._is_positive(codes)
        return BoostingRows(X, codes, positive, weight).normalise_weights()

    def _budget_share(self, n: int) -> float | None:
        """The share of rows that will be checked, where that is what rounds are judged by."""
        if self.eval_metric != "precision_at_k" or self.classes_.size > 2:
            return None
        if self.k is None:
            raise ValueError("eval_metric='precision_at_k' needs k: checks, or a share of rows.")
        return budget(self.k, n) / n

    def _parts(
        self,
        rows: BoostingRows,
        used: Bools,
        groups: ArrayLike | None,
        judges: BoostingRows | None,
        seed: int,
    ) -> list[TrainingPart]:
        """What rounds are tried on and judged by: folds, or the rows that the user gives."""
        if judges is not None:
            return [TrainingPart(None, judges)]
        if groups is not None:
            groups = np.asarray(groups)[used]
        sizes = np.bincount(rows.codes)
        threshold = self.threshold if sizes.size == 2 else None
        if threshold is None and self.early_stopping_rounds is None:
            return []
        if threshold != "auto" and sizes.min() < 2:
            return []  # a row that is alone in its class cannot be held out
        found = folds_of_used(
            rows.X, self.classes_[rows.codes], self.cv, used, groups=groups, random_state=seed
        )
        rare = rows.positive if sizes.size == 2 else rows.codes == sizes.argmin()
        parts = []
        enough = 0
        for train, held in found:
            parts.append(TrainingPart(np.sort(train), held))
            enough += int(rare[held].sum())
            if enough >= _ENOUGH_POSITIVES:
                break
        return parts

    def _eval_rows(self, eval_set: Any) -> BoostingRows:
        if isinstance(eval_set, list) and len(eval_set) == 1:
            eval_set = eval_set[0]  # XGBoost's form
        if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
            raise ValueError("eval_set must be one tuple (X, y) or (X, y, sample_weight).")
        X = self._check_more_rows(eval_set[0])
        labels = column_or_1d(eval_set[1])
        check_consistent_length(X, labels)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in place]
        if unknown:
            raise ValueError(f"eval_set has the label {unknown[0]!r}, which y does not have.")
        codes = np.array([place[label] for label in labels.tolist()])
        weight = training_weights(X, codes, eval_set[2] if len(eval_set) == 3 else None, None)
        used = weight > 0
        if np.unique(codes[used]).size < self.classes_.size:
            raise ValueError("eval_set needs rows of every class.")
        return self._rows(X[used], codes[used], weight[used])

    def _hold_out(
        self,
        rows: BoostingRows,
        parts: list[TrainingPart],
        seed: int,
        step: Callable[[], None],
        stop: float,
    ) -> tuple[list[BoostingRows], list[Floats]]:
        """Make rounds on all parts; the held-out rows and their scores after the best round.

        No more rounds are made after the time ``stop``.
        """
        models, held = zip(*(self._grow_part(rows, part, seed) for part in parts), strict=True)
        curve: list[float] = []
        best = BestRound(self.early_stopping_rounds, self._logistic_rounds())
        for number in range(self.n_estimators):
            for model in models:
                model.step(number)
            scores = [model.held_out_scores() for model in models]
            values = [self._worth(judges, s) for judges, s in zip(held, scores, strict=True)]
            curve.append(float(np.nanmean(values)) if not np.isnan(values).all() else np.nan)
            step()
            if best.is_over(curve[-1], scores, number + 1) or time.monotonic() > stop:
                break
        self.validation_curve_, self.n_rounds_ = np.array(curve), best.rounds
        return list(held), best.scores

    def _grow_part(
        self, rows: BoostingRows, part: TrainingPart, seed: int
    ) -> tuple[Growing, BoostingRows]:
        """A model on a part, and the rows it is judged by.

        These come without their columns, which are coded once for the model and then dropped.
        """
        check_time_left(deadline())  # to cut columns into bins takes as long as many rounds
        own = rows if part.train is None else rows.take(part.train).normalise_weights()
        judges = part.held if isinstance(part.held, BoostingRows) else rows.take(part.held)
        model = self._grow(own, judges.X, seed)
        return model, judges._replace(X=np.empty((0, judges.X.shape[1])))

    def _logistic_rounds(self) -> int:
        """First rounds, of another loss, before which early stopping cannot happen."""
        return 0

    def _worth(self, held: BoostingRows, score: Floats) -> float:
        """What a ranking of held-out rows is worth; larger is better."""
        if not held.positive.any():
            return np.nan
        if self._share is None:
            return average_precision(held.positive, score, sample_weight=held.weight)
        checks = max(1, round(self._share * held.weight.sum()))
        return precision_at_k(held.positive, score, checks, sample_weight=held.weight)

    def _calibrate_parts(self, held: list[BoostingRows], scores: list[Floats]) -> None:
        """Set threshold, probabilities and ranks by the scores of all held-out rows."""
        if not held:
            self._leave_uncalibrated()
            return
        positive = np.concatenate([rows.positive for rows in held])
        weight = np.concatenate([rows.weight for rows in held])
        check_positives_held_out(positive)
        self._calibrate(np.concatenate(scores), positive, weight)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in what all splits gain."""
        check_is_fitted(self)
        return self._gain_shares(self.n_features_in_)

    def _gain_shares(self, n_columns: int) -> Floats:
        """Share of each column of the trees in what all splits gain."""
        gains = self._trees.booster().get_score(importance_type="total_gain")
        found = np.array([gains.get(f"f{j}", 0.0) for j in range(n_columns)], dtype=float)
        return np.asarray(found / (found.sum() or 1.0))

    def _explain(self, X: Floats) -> list[Reason]:
        return self._reasons_by_column(X, self._contributions(X), self._bases(X))

    def _bases(self, X: Floats) -> Floats | None:
        """What contributions add to, one a row; None where they do not make up the score."""
        return None

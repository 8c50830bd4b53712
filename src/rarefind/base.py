"""What all estimators share: the positive label, priority and threshold, checks of the input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import (
    LARGEST_TO_SQUARE,
    check_finite,
    check_spread,
    clear_errors,
    feature_names,
    level_columns,
    squares_values,
)
from rarefind._core.fields import (
    MOST_COLUMNS,
    DictOf,
    LabelArray,
    LabelValue,
    ListOf,
    Maybe,
    NameArray,
    Object,
    Perhaps,
    PlainText,
    RealNumber,
    Size,
    StateError,
)
from rarefind._core.labels import choose_positive
from rarefind._core.sklearn_compat import CallbackSupportMixin
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Label, Table
from rarefind.data.categories import Levels, by_place, learn_levels, with_codes
from rarefind.data.frames import as_frame, has_names, rows_of_dicts
from rarefind.metrics import CountMetric
from rarefind.row_scorer import RowScorer, number_reader, takes_row
from rarefind.rules import Condition, Reason
from rarefind.rules.levels import in_levels
from rarefind.selection.calibration import (
    LOG_ODDS,
    Calibrated,
    Reference,
    ScoreCalibration,
    ScoreKind,
)
from rarefind.selection.thresholds import ANY_THRESHOLD, bounds_at, check_count_metric

__all__ = ["RareClassifier"]


def _check_labels(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """The positive label is one of two; a metric has a name that is known."""
    if sizes["classes"] < 2:
        raise StateError("'classes_' has fewer than two labels")
    if (sizes["classes"] == 2) != ("pos_label_" in state):
        raise StateError("'pos_label_' belongs to two classes")
    if sizes["classes"] == 2 and state["pos_label_"] not in state["classes_"].tolist():
        raise StateError("'pos_label_' is not one of the labels")
    categories = state.get("categories_", {})
    if not categories.keys() <= set(state.get("feature_names_in_", ())):
        raise StateError("'categories_' are of columns that are not there")
    if any(len(set(levels)) != len(levels) for levels in categories.values()):
        raise StateError("'categories_' has a category twice")
    if isinstance(state.get("metric"), str):
        check_count_metric(state["metric"])


#: What every fitted classifier keeps in a model file: ``d`` columns, ``classes`` labels.
CLASSIFIER_STATE = State(
    {
        "n_features_in_": Size("d", low=1, high=MOST_COLUMNS),
        "feature_names_in_": Perhaps(NameArray("d")),
        "categories_": Perhaps(DictOf(PlainText(), ListOf(LabelValue()))),
        "classes_": LabelArray("classes"),
        "pos_label_": Perhaps(LabelValue()),
        "threshold_": RealNumber(nan=True),
        "value_": Perhaps(RealNumber(nan=True)),
        "_calibration": Maybe(Object("calibration", "beta-calibration")),
        "_reference": Maybe(Object("score-reference")),
    },
    _check_labels,
)

# Columns that a reason names.
_CONDITIONS_SHOWN = 5


def _ranks(estimator: RareClassifier) -> bool:
    """Whether there is one positive class to rank by; before the fit it is hoped for."""
    if len(getattr(estimator, "classes_", (0, 1))) != 2:
        raise AttributeError(
            "With more than two classes only predict and predict_proba are defined."
        )
    return True


class RareClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of all rarefind classifiers.

    A subclass writes ``fit``, :meth:`_priority` and :meth:`_explain`, which are given checked
    arrays. Its ``fit`` begins with :meth:`_start_fit` and ends with :meth:`_calibrate`, or with
    :meth:`_leave_uncalibrated` where no rows are held out. ``priority``, ``decision_function``,
    ``predict``, ``predict_proba`` and ``explain``, with scikit-learn's conventions, come from here.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    pos_label_ : label
        The positive one.
    threshold_ : float
        The priority from which a row is predicted positive.
    value_ : float
        ``metric`` on the held-out rows at the threshold; NaN when nothing was held out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the table of the fit had some.
    categories_ : dict
        The levels of each column of categories (of pandas or polars), where the method splits on
        levels and the table of the fit had some. Other levels are new to the model.
    """

    #: Whether ``fit`` also takes more than two classes.
    _many_classes = False
    #: Whether rows may have missing values (NaN).
    _allows_missing = False
    #: Whether values are squared, and squared again: numbers have to be neither huge nor tiny.
    _squares_values: ClassVar[bool] = False
    #: Whether ``fit`` takes tables with texts and dates as they are, without an encoder.
    reads_tables: ClassVar[bool] = False
    #: Whether priorities are faster, and the same, where each column is in one piece of memory.
    reads_columns: ClassVar[bool] = False
    #: Whether ``fit`` looks at the time limit after every round or tree.
    stops_quickly: ClassVar[bool] = False
    #: Whether ``fit`` makes fewer rounds where the time limit is short, rather than give up.
    fits_in_time: ClassVar[bool] = False
    #: How priorities become probabilities.
    _score_kind: ClassVar[ScoreKind] = LOG_ODDS
    #: Where ``threshold="auto"`` looks for the best threshold.
    _threshold_bounds: ClassVar[tuple[float, float]] = ANY_THRESHOLD
    #: What ``threshold=None`` stands for: the method's own rule.
    _own_threshold: float = 0.0

    threshold: Any
    metric: Any
    categorical_features: Any

    classes_: Array
    pos_label_: Label
    threshold_: float
    value_: float
    n_features_in_: int
    categories_: Levels

    _calibration: ScoreCalibration | None
    _reference: Reference | None

    @property
    def reference_(self) -> Reference | None:
        """Sorted scores of the rows held out in ``fit``, which ranks are relative to, if any."""
        return getattr(self, "_reference", None)

    @available_if(_ranks)
    def priority(self, X: Table) -> Floats:
        """Raw score for ranking: higher goes first.

        A row's priority does not depend on the other rows of the call.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._priority(self._check_rows(X))

    @available_if(_ranks)
    def decision_function(self, X: Table) -> Floats:
        """Priority above the threshold, signed as in scikit-learn: plus means ``classes_[1]``."""
        above = self.priority(X) - self.threshold_
        # A row on the threshold is an alert; 0 would be neither class.
        above = np.where(above == 0, np.finfo(float).tiny, above)
        return above if self._positive_is_second() else -above

    def predict(self, X: Table) -> Array:
        """Label of each row: the positive one where the priority reaches ``threshold_``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._labels(self._check_rows(X))

    def predict_proba(self, X: Table) -> Floats:
        """Calibrated probability of each class in the order of ``classes_``; ranks as ``priority``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._probabilities(self._check_rows(X))

    @available_if(_ranks)
    def priority_and_probability(self, X: Table) -> tuple[Floats, Floats]:
        """Both scores of each row, of rows that are checked and scored once.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        priority, probability : ndarray of shape (n,)
            As from :meth:`priority`, and the probability of the positive class.
        """
        priority = self._priority(self._check_rows(X))
        return priority, self._probability(priority)

    @available_if(_ranks)
    def row_scorer(self) -> RowScorer:
        """What scores one row at a time, as :meth:`priority` does but in microseconds.

        Returns
        -------
        RowScorer
        """
        check_is_fitted(self)
        read = number_reader(self._feature_names(), getattr(self, "categories_", {}))
        names = self._feature_names()
        return RowScorer(names, read, self._row_priority(), self._row_probability)

    def _row_priority(self) -> Callable[[Floats], float]:
        """Priority of one row of numbers, which is checked first."""
        score, missing = self._row_function(), self._allows_missing
        largest = LARGEST_TO_SQUARE if squares_values(self) else float(np.finfo(float).max)

        def priority(row: Floats) -> float:
            if not takes_row(row, largest, missing):
                check_finite(self, row[np.newaxis], missing)
            return score(row)

        # Whatever is compiled is compiled now, not when the first row is in a hurry.
        priority(np.zeros(self.n_features_in_))
        return priority

    def _row_probability(self, priority: float) -> float:
        """Probability of the positive class of one row with this priority."""
        return float(self._probability(np.array([priority]))[0])

    @available_if(_ranks)
    def explain(self, X: Table) -> list[Reason]:
        """Give for each row the reason of its priority.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        list of Reason
            ``str(reason)`` is a sentence.
        """
        reasons = self._explain(self._check_rows(X))
        levels = getattr(self, "categories_", None)
        if levels is None:
            return reasons
        frame = as_frame(X)
        return [in_levels(reason, levels, frame.iloc[i]) for i, reason in enumerate(reasons)]

    @abstractmethod
    def _priority(self, X: Floats) -> Floats:
        """Priority of checked rows."""

    def _row_function(self) -> Callable[[Floats], float]:
        """What gives the priority of a checked row, with all that can be prepared prepared."""
        return lambda row: float(self._priority(row[np.newaxis])[0])

    @abstractmethod
    def _explain(self, X: Floats) -> list[Reason]:
        """Reasons of checked rows."""

    def _probability(self, scores: Floats) -> Floats:
        """Probability of the positive class of rows with these priorities."""
        return self._score_kind.probability(scores, self._calibration, self.threshold_)

    def _ranks(self, scores: Floats) -> list[float] | list[None]:
        """Share of the held-out rows with a lower score; None where no rows were held out."""
        if self._reference is None:
            return [None] * len(scores)
        ranks: list[float] = self._reference.ranks(scores).tolist()
        return ranks

    def _count_metric(self) -> CountMetric:
        """What the threshold maximises; called before the work, so that a bad name fails early."""
        return check_count_metric(self.metric)

    def _fixed_threshold(self) -> float:
        """The threshold that is given, or the method's own."""
        return self._own_threshold if self.threshold in (None, "auto") else float(self.threshold)

    def _calibrate(
        self, score: Floats, positive: Bools, weight: Floats, threshold: float | None = None
    ) -> None:
        """Set threshold, probabilities and ranks by the scores of held-out rows.

        The threshold is what the parameter of that name says, or one that was found already.
        """
        if threshold is not None:
            bounds = bounds_at(threshold)
        elif self.threshold == "auto":
            bounds = self._threshold_bounds
        else:
            bounds = bounds_at(self._fixed_threshold())
        found = Calibrated.fit(
            score, positive, weight, self._score_kind, self._count_metric(), bounds
        )
        self.threshold_, self.value_, self._calibration, self._reference = found

    def _leave_uncalibrated(self) -> None:
        """Set the threshold without held-out rows: there are no ranks then."""
        self.threshold_, self.value_ = self._fixed_threshold(), np.nan
        self._calibration, self._reference = None, None

    def _start_fit(self, X: Table, y: ArrayLike, pos_label: Label) -> tuple[Floats, Array]:
        """Check the training table; set ``classes_`` and ``pos_label_``; encode ``y`` by class."""
        X, y = self._check_training_rows(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                f"All {codes.size} rows are of class {self.classes_[0]!s}: "
                "learning needs rows of two classes."
            )
        if self.classes_.size == 2:
            self.pos_label_ = choose_positive(self.classes_, np.bincount(codes), pos_label)
        elif not self._many_classes:
            raise ValueError(
                f"Only binary classification is supported: y has {self.classes_.size} classes."
            )
        elif pos_label is not None:
            raise ValueError(
                f"pos_label needs two classes, and y has {self.classes_.size}: leave pos_label out."
            )
        return X, codes

    def _check_training_rows(self, X: Table, y: ArrayLike) -> tuple[Any, Array]:
        """The training rows as numbers, and their labels."""
        with clear_errors(self, X):
            X, labels = validate_data(
                self,
                self._learn_categories(rows_of_dicts(X)),
                y,
                dtype=np.float64,
                ensure_all_finite=False,
                ensure_min_samples=2,
            )
        check_finite(self, X, self._allows_missing)
        check_spread(self, X)
        return X, np.asarray(labels)

    def _learn_categories(self, X: Table) -> Table:
        """Keep the levels of columns of categories, where the method can split on them."""
        if hasattr(self, "categories_"):
            del self.categories_
        if not hasattr(self, "categorical_features") or not has_names(X):
            return X
        frame = as_frame(X)
        levels = learn_levels(frame)
        if not levels:
            return X
        self.categories_ = levels
        return with_codes(frame, levels)

    def _level_columns(self) -> Bools:
        """Which columns have levels: those that the parameter names, and categories."""
        names = self._feature_names()
        is_level = level_columns(self.categorical_features, names)
        is_level[list(by_place(getattr(self, "categories_", {}), names))] = True
        return is_level

    def _labels(self, X: Floats) -> Array:
        alert = self._priority(X) >= self.threshold_
        return self.classes_[(alert == self._positive_is_second()).astype(np.intp)]

    def _probabilities(self, X: Floats) -> Floats:
        positive = self._probability(self._priority(X))
        columns = (1 - positive, positive)
        return np.column_stack(columns if self._positive_is_second() else columns[::-1])

    def _positive_is_second(self) -> bool:
        return bool(self.classes_[1] == self.pos_label_)

    def _is_positive(self, codes: Array) -> Bools:
        return np.asarray(codes == (1 if self._positive_is_second() else 0))

    def _check_rows(self, X: Table) -> Floats:
        check_is_fitted(self)
        return self._check_more_rows(X)

    def _check_more_rows(self, X: Table) -> Floats:
        """The numbers of rows, in the columns of the fit."""
        values = self._plain_values(X)
        if values is None:
            with clear_errors(self, X):
                values = validate_data(
                    self, self._coded(X), reset=False, dtype=np.float64, ensure_all_finite=False
                )
        check_finite(self, values, self._allows_missing)
        return values

    def _coded(self, X: Table) -> Table:
        """Rows with the codes of categories, and dicts in the order of the columns."""
        table, levels = rows_of_dicts(X), getattr(self, "categories_", None)
        if levels is not None and has_names(table):
            table = with_codes(as_frame(table), levels)
        names = getattr(self, "feature_names_in_", None)
        if table is not X and names is not None and set(table.columns) == set(names):
            return table[list(names)]
        return table

    def _plain_values(self, X: Any) -> Floats | None:
        """The numbers of rows that scikit-learn would pass on as they are; None of any others.

        To ask scikit-learn takes longer than a score.
        """
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            if hasattr(self, "categories_"):
                return None  # of a frame with numbers for categories they are to be coded
            if type(X) is not pd.DataFrame or not np.array_equal(X.columns, names):
                return None
            X = X.to_numpy()
        if (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
        ):
            return X
        return None

    def _feature_names(self) -> list[str]:
        return feature_names(self)

    def _reasons_by_column(
        self, X: Floats, added: Floats, bases: Floats | None = None
    ) -> list[Reason]:
        """Reasons of rows, from what each column adds to each score.

        With ``bases``, to which the columns add, the reasons hold contributions.
        """
        names, scores = self._feature_names(), self._priority(X)
        reasons = []
        for i, (score, rank) in enumerate(zip(scores.tolist(), self._ranks(scores), strict=True)):
            reason = Reason(score, rank, _because(X[i], added[i], names))
            if bases is not None:
                own = dict(zip(names, added[i].tolist(), strict=True))
                reason = replace(reason, base=float(bases[i]), contributions=own)
            reasons.append(reason)
        return reasons

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._many_classes
        tags.input_tags.allow_nan = self._allows_missing
        return tags


def _because(row: Floats, added: Floats, names: list[str]) -> list[Condition]:
    """The columns that raise the score most, with the share of each in what is shown."""
    top = np.argsort(-added, kind="stable")[:_CONDITIONS_SHOWN]
    top = top[added[top] > 0]
    total = added[top].sum()
    return [_has(names[j], float(row[j]), float(added[j] / total)) for j in top]


def _has(name: str, value: float, weight: float) -> Condition:
    if np.isnan(value):
        return Condition(name, "=", "missing", f"{name} is missing", weight)
    return Condition(name, "=", value, f"{name} = {value:.6g}", weight)

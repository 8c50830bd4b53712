"""What all estimators share: the positive label, priority and threshold, checks of the input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import check_finite, feature_names
from rarefind._core.labels import choose_positive
from rarefind._core.sklearn_compat import CallbackSupportMixin
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Label, Table
from rarefind.rules import Condition, Reason
from rarefind.selection.calibration import Reference

__all__ = ["RareClassifier"]

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

    A subclass writes ``fit``, which begins with :meth:`_start_fit` and sets ``threshold_``, and
    :meth:`_priority`, :meth:`_probability` and :meth:`_explain`, which are given checked arrays.
    ``priority``, ``decision_function``, ``predict``, ``predict_proba`` and ``explain``, with
    scikit-learn's conventions, come from here.
    """

    #: Whether ``fit`` also takes more than two classes.
    _many_classes = False
    #: Whether rows may have holes (NaN).
    _allows_missing = False
    #: Whether ``_priority`` is faster, and the same, where each column is in one piece of memory.
    _reads_columns = False

    classes_: Array
    pos_label_: Label
    threshold_: float
    n_features_in_: int

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
        return self._priority(self._checked(X))

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
        return self._labels(self._checked(X))

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
        return self._probabilities(self._checked(X))

    @available_if(_ranks)
    def priority_and_probability(self, X: Table) -> tuple[Floats, Floats]:
        """Both scores of each row, of rows that are checked once.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        priority, probability : ndarray of shape (n,)
            As from :meth:`priority`, and the probability of the positive class.
        """
        rows = self._checked(X)
        return self._priority(rows), self._probability(rows)

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
        return self._explain(self._checked(X))

    @abstractmethod
    def _priority(self, X: Floats) -> Floats:
        """Priority of checked rows."""

    @abstractmethod
    def _probability(self, X: Floats) -> Floats:
        """Probability of the positive class of checked rows."""

    @abstractmethod
    def _explain(self, X: Floats) -> list[Reason]:
        """Reasons of checked rows."""

    def _start_fit(self, X: Table, y: ArrayLike, pos_label: Label) -> tuple[Floats, Array]:
        """Check the training table; set ``classes_`` and ``pos_label_``; encode ``y`` by class."""
        X, y = self._checked_training(X, y)
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
                f"Only binary classification is supported: y holds {self.classes_.size} classes."
            )
        elif pos_label is not None:
            raise ValueError(f"pos_label needs two classes, and y holds {self.classes_.size}.")
        return X, codes

    def _checked_training(self, X: Table, y: ArrayLike) -> tuple[Any, Array]:
        """The training rows as numbers, and their labels."""
        X, labels = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
        )
        check_finite(self, X, self._allows_missing)
        return X, np.asarray(labels)

    def _labels(self, X: Floats) -> Array:
        alert = self._priority(X) >= self.threshold_
        return self.classes_[(alert == self._positive_is_second()).astype(np.intp)]

    def _probabilities(self, X: Floats) -> Floats:
        positive = self._probability(X)
        columns = (1 - positive, positive)
        return np.column_stack(columns if self._positive_is_second() else columns[::-1])

    def _positive_is_second(self) -> bool:
        return bool(self.classes_[1] == self.pos_label_)

    def _is_positive(self, codes: Array) -> Bools:
        return np.asarray(codes == (1 if self._positive_is_second() else 0))

    def _checked(self, X: Table) -> Floats:
        check_is_fitted(self)
        if not self._is_plain(X):
            X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        check_finite(self, X, self._allows_missing)
        return X

    def _is_plain(self, X: Any) -> bool:
        """Whether scikit-learn would pass it on as it is; to ask it takes longer than a score."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    def _feature_names(self) -> list[str]:
        return feature_names(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._many_classes
        tags.input_tags.allow_nan = self._allows_missing
        return tags


def as_reasons(
    X: Floats,
    scores: Floats,
    added: Floats,
    reference: Reference | None,
    names: list[str],
    bases: Floats | None = None,
) -> list[Reason]:
    """Reasons of rows, from what each column adds to each score.

    With ``bases``, to which it adds, the reasons hold it as contributions.
    """
    reasons = []
    for i, (row, score, parts) in enumerate(zip(X, scores, added, strict=True)):
        rank = None if reference is None else reference.rank(score)
        reason = Reason(float(score), rank, _because(row, parts, names))
        if bases is not None:
            own = dict(zip(names, parts.tolist(), strict=True))
            reason = replace(reason, base=float(bases[i]), contributions=own)
        reasons.append(reason)
    return reasons


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

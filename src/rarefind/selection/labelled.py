"""Labelled rows, and how any estimator is fitted to a part of them and shown another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import _safe_split

from rarefind._core.labels import choose_positive
from rarefind._core.types import Array, ArrayLike, Ints, Label, Table
from rarefind.metrics import get_scorer
from rarefind.metrics.scorers import Scorer


@dataclass(frozen=True)
class Labelled:
    """Rows with labels, perhaps groups, and the one label that is positive for all estimators."""

    X: Table
    y: Array
    groups: Array | None
    #: None where there are more than two classes.
    pos_label: Label
    #: When each row was, for estimators that ask for it.
    times: Array | None = None

    @classmethod
    def of(
        cls,
        X: Table,
        y: ArrayLike,
        groups: ArrayLike | None,
        pos_label: Label,
        times: ArrayLike | None = None,
    ) -> Self:
        """Check the rows; the rarer label of all is positive unless ``pos_label`` names another."""
        labels = np.asarray(y)
        grouped = None if groups is None else np.asarray(groups)
        when = None if times is None else np.asarray(times)
        check_consistent_length(X, labels, grouped, when)
        names, counts = np.unique(labels, return_counts=True)
        if names.size == 2:
            pos_label = choose_positive(names, counts, pos_label)
        return cls(X, labels, grouped, pos_label, when)

    def fit(self, estimator: Any, rows: Ints | None = None) -> Any:
        """Fit a copy of the estimator to these rows, to all by default."""
        fitted = clone(estimator)
        # Left to themselves, the parts could choose different labels as the rarer one.
        unset = {
            name: self.pos_label
            for name, value in fitted.get_params().items()
            if name.split("__")[-1] == "pos_label" and value is None
        }
        if self.pos_label is not None:
            fitted.set_params(**unset)
        X, y = (self.X, self.y) if rows is None else _safe_split(fitted, self.X, self.y, rows)
        asked = signature(fitted.fit).parameters
        extra = {
            name: values if rows is None else values[rows]
            for name, values in (("groups", self.groups), ("times", self.times))
            if values is not None and name in asked
        }
        return fitted.fit(X, y, **extra)

    def held_out(self, estimator: Any, rows: Ints, fitted_to: Ints) -> tuple[Table, Array]:
        """Rows in the form that an estimator fitted to others takes, and their labels."""
        return _safe_split(estimator, self.X, self.y, rows, fitted_to)

    def scorer(self, metric: str | Callable[..., float]) -> Callable[..., float]:
        """The scorer of a metric, for the positive label of these rows."""
        scorer = get_scorer(metric)
        if isinstance(scorer, Scorer) and scorer.pos_label is None:
            return replace(scorer, pos_label=self.pos_label)
        return scorer

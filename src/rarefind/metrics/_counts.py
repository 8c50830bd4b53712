"""Measures of a decision: functions of (tp, fp, fn, tn), at one threshold or at all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from rarefind._core.budget import budget_share
from rarefind._core.fields import Either, FloatArray, IntArray, PlainText, RealNumber
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Floats, Label
from rarefind.metrics.inputs import as_weights, is_positive

# Larger is better, always: a cost is returned with a minus sign.
CountMetric = Callable[[Floats, Floats, Floats, Floats], Any]


def _ratio(part: Any, whole: Any) -> Floats:
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def _precision(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    return _ratio(tp, tp + fp)


def _recall(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    return _ratio(tp, tp + fn)


def _accuracy(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    return _ratio(tp + tn, tp + fp + fn + tn)


def _g_measure(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    return np.asarray(np.sqrt(_ratio(tp, tp + fp) * _ratio(tp, tp + fn)))


def _g_mean(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    # The thesis prints TP/(TP+TN) for the true positive rate; TP/(TP+FN) is meant.
    return np.asarray(np.sqrt(_ratio(tp, tp + fn) * _ratio(tn, tn + fp)))


def _balanced_accuracy(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    return np.asarray((_ratio(tp, tp + fn) + _ratio(tn, tn + fp)) / 2)


@saved("f-beta", state=State({"beta": RealNumber(above=0)}))
@dataclass(frozen=True)
class FBeta:
    """F-measure that holds recall ``beta`` times as important as precision.

    Examples
    --------
    >>> from rarefind.metrics import FBeta
    >>> float(FBeta(1)(tp=2, fp=1, fn=1, tn=6))
    0.666...
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise ValueError(f"beta must be above 0, not {self.beta}.")

    def __call__(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """Value at the counts."""
        b2 = self.beta**2
        return _ratio((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)


@saved(
    "cost",
    state=State(
        {
            name: Either(RealNumber(), FloatArray("n"), IntArray("n"))
            for name in ("c_fp", "c_fn", "c_tp", "c_tn")
        }
    ),
)
@dataclass(frozen=True, eq=False)
class Cost:
    """Total cost of the errors, returned with a minus sign so that larger is better.

    Each cost is a number, or one number a row; the latter only in
    :func:`rarefind.selection.best_threshold`, which sees the rows. The net amount recovered is
    ``Cost(c_fp=price_of_a_check, c_tp=price_of_a_check, c_fn=amount)``, up to a constant.

    Examples
    --------
    >>> from rarefind.metrics import Cost
    >>> float(Cost(c_fp=1, c_fn=10)(tp=2, fp=5, fn=1, tn=92))
    -15.0
    """

    c_fp: Any = 1.0
    c_fn: Any = 1.0
    c_tp: Any = 0.0
    c_tn: Any = 0.0

    @property
    def per_row(self) -> bool:
        """Whether a cost differs from row to row."""
        return any(np.ndim(c) > 0 for c in (self.c_fp, self.c_fn, self.c_tp, self.c_tn))

    def __call__(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """Minus the cost at the counts."""
        if self.per_row:
            raise ValueError("Costs that differ by row need best_threshold, which sees the rows.")
        total = self.c_fp * fp + self.c_fn * fn + self.c_tp * tp + self.c_tn * tn
        return -np.asarray(total, dtype=float)


@saved("recall-at-least", state=State({"recall": RealNumber(0, 1)}))
@dataclass(frozen=True)
class RecallAtLeast:
    """The best precision among decisions that find at least this share of the positives.

    Examples
    --------
    >>> from rarefind.metrics import RecallAtLeast
    >>> float(RecallAtLeast(0.8)(tp=8, fp=2, fn=2, tn=88))
    0.8
    """

    recall: float

    def __post_init__(self) -> None:
        if not 0 <= self.recall <= 1:
            raise ValueError(f"recall is a share from 0 to 1, not {self.recall}.")

    def __call__(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """Precision where the recall is reached, else minus the recall that is missing."""
        recall = _ratio(tp, tp + fn)
        # A little slack: 0.8 of ten positives is eight of them, whatever the rounding.
        enough = recall >= self.recall - 1e-9
        return np.where(enough, _ratio(tp, tp + fp), recall - self.recall)


@saved("alerts-at-most", state=State({"k": Either(RealNumber(0), PlainText())}))
@dataclass(frozen=True)
class AlertsAtMost:
    """The most positives found by at most ``k`` alerts.

    ``k`` is a number of alerts among the rows that are counted, or a share of them (``0.05`` or
    ``"5%"``).

    Examples
    --------
    >>> from rarefind.metrics import AlertsAtMost
    >>> float(AlertsAtMost(10)(tp=8, fp=2, fn=2, tn=88))
    8.0
    >>> float(AlertsAtMost(9)(tp=8, fp=2, fn=2, tn=88))
    -1.0
    """

    k: float | str

    def __post_init__(self) -> None:
        budget_share(self.k)  # raises at once on what is not a budget

    def __call__(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """Positives found where the budget holds, else minus the alerts beyond it."""
        alerts = np.asarray(tp + fp, dtype=float)
        share = budget_share(self.k)
        allowed = float(self.k) if share is None else share * (alerts + fn + tn)
        return np.where(alerts <= allowed * (1 + 1e-9), tp, allowed - alerts)


_BY_NAME: dict[str, CountMetric] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "g_mean": _g_mean,
    "g_measure": _g_measure,
    "precision": _precision,
    "recall": _recall,
}
_FAMILIES: dict[str, Callable[..., CountMetric]] = {
    "f_beta": FBeta,
    "cost": Cost,
    "recall_at_least": RecallAtLeast,
    "alerts_at_most": AlertsAtMost,
}
COUNT_METRIC_NAMES = ("f1", "f2", "f0.5", *_BY_NAME, *_FAMILIES)


def count_metric(metric: str | CountMetric, **params: Any) -> CountMetric:
    """The function of (tp, fp, fn, tn) that a name, or a name with parameters, stands for.

    Examples
    --------
    >>> from rarefind.metrics import count_metric
    >>> count_metric("f2")
    FBeta(beta=2.0)
    >>> count_metric("recall_at_least", recall=0.9)
    RecallAtLeast(recall=0.9)
    """
    if not isinstance(metric, str):
        if params:
            raise ValueError(
                f"{', '.join(params)} go with the name of a metric, not with a function."
            )
        return metric
    if metric in _FAMILIES:
        try:
            return _FAMILIES[metric](**params)
        except TypeError:
            named = ", ".join(signature(_FAMILIES[metric]).parameters)
            raise ValueError(
                f"Metric {metric!r} takes {named}: give them, or an object that "
                f"count_metric({metric!r}, ...) returns."
            ) from None
    if params:
        raise ValueError(f"Metric {metric!r} takes no {', '.join(params)}.")
    if metric in _BY_NAME:
        return _BY_NAME[metric]
    f_number = re.fullmatch(r"f(\d+(?:\.\d+)?)", metric)
    if f_number:
        return FBeta(float(f_number[1]))
    raise ValueError(f"Unknown metric {metric!r}; known are {', '.join(COUNT_METRIC_NAMES)}.")


def confusion(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float, float, float]:
    """Weighted counts (tp, fp, fn, tn) of predicted labels."""
    truth = np.asarray(y_true)
    check_consistent_length(truth, np.asarray(y_pred))
    if pos_label is None:
        # Both sides decide together: one of them alone may hold a single label.
        is_positive(np.concatenate([truth, np.asarray(y_pred)]))
        pos_label = 1
    actual, alert = is_positive(truth, pos_label), is_positive(y_pred, pos_label)
    weight = as_weights(sample_weight, actual.size)
    return (
        float(weight[actual & alert].sum()),
        float(weight[~actual & alert].sum()),
        float(weight[actual & ~alert].sum()),
        float(weight[~actual & ~alert].sum()),
    )


def f_beta(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F-measure of predicted labels, recall weighing ``beta`` times as much as precision.

    Examples
    --------
    >>> from rarefind.metrics import f_beta
    >>> f_beta([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return _of_labels(FBeta(beta), y_true, y_pred, pos_label, sample_weight)


def g_measure(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Geometric mean of precision and recall.

    Examples
    --------
    >>> from rarefind.metrics import g_measure
    >>> g_measure([1, 1, 0, 0], [1, 0, 0, 0])
    0.707...
    """
    return _of_labels(_g_measure, y_true, y_pred, pos_label, sample_weight)


def g_mean(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Geometric mean of the true positive and the true negative rate.

    Examples
    --------
    >>> from rarefind.metrics import g_mean
    >>> g_mean([1, 1, 0, 0], [1, 0, 0, 0])
    0.707...
    """
    return _of_labels(_g_mean, y_true, y_pred, pos_label, sample_weight)


def balanced_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean of the true positive and the true negative rate.

    Examples
    --------
    >>> from rarefind.metrics import balanced_accuracy
    >>> balanced_accuracy([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    """
    return _of_labels(_balanced_accuracy, y_true, y_pred, pos_label, sample_weight)


def _of_labels(
    metric: CountMetric,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    pos_label: Label,
    sample_weight: ArrayLike | None,
) -> float:
    counts = confusion(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    return float(metric(*map(np.asarray, counts)))

"""Measures of a ranking: what the top of the list is worth."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from rarefind._core.types import ArrayLike, Floats, Label
from rarefind.metrics.inputs import RankedRows, as_amounts, budget, check_rows, cumulate


def average_precision(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average precision: the area under the precision-recall steps.

    AP = Σ_t (r_t − r_{t−1}) p_t over the distinct scores, so tied rows share one threshold and
    their order does not matter (Viola 2022, section 1.5.1).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The labels.
    score : array-like of shape (n,)
        Higher goes first.
    pos_label : label, default=None
        The positive label; 1 among {0, 1} and {-1, 1}, else it must be given.
    sample_weight : array-like of shape (n,), default=None
        A row of weight 2 counts as two rows.

    Examples
    --------
    >>> from rarefind.metrics import average_precision
    >>> round(average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 3)
    0.833
    """
    positive, scores, weight = check_rows(y_true, score, pos_label, sample_weight)
    _, hits, rows = cumulate(scores, positive * weight, weight)
    if not _is_defined(hits[-1]):
        return 0.0
    precision = np.divide(hits, rows, out=np.zeros_like(hits), where=rows > 0)
    return float(np.sum(np.diff(hits, prepend=0.0) * precision) / hits[-1])


def precision_at_k(
    y_true: ArrayLike,
    score: ArrayLike,
    k: int | float | str,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of positives among the first ``k`` rows.

    Rows tied at the cut count in expectation over their orders, so the result does not depend on
    the order of the rows.

    Parameters
    ----------
    y_true, score, pos_label, sample_weight
        As in :func:`average_precision`.
    k : int, float or str
        A number of checks, or a share of the rows (``0.005`` or ``"0.5%"``).

    Examples
    --------
    >>> from rarefind.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    rows = check_rows(y_true, score, pos_label, sample_weight)
    checks = budget(k, rows.weight.sum())
    return (
        float(_hits_within(rows, checks) / checks)
        if _is_defined(checks, "row that counts")
        else 0.0
    )


def recall_at_k(
    y_true: ArrayLike,
    score: ArrayLike,
    k: int | float | str,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of all positives that the first ``k`` rows hold; ties as in :func:`precision_at_k`.

    Examples
    --------
    >>> from rarefind.metrics import recall_at_k
    >>> recall_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    rows = check_rows(y_true, score, pos_label, sample_weight)
    positives = float(rows.weight[rows.positive].sum())
    if not _is_defined(positives):
        return 0.0
    return float(_hits_within(rows, budget(k, rows.weight.sum())) / positives)


def lift_at_k(
    y_true: ArrayLike,
    score: ArrayLike,
    k: int | float | str,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """How many times more positives the first ``k`` rows hold than ``k`` rows taken blindly.

    Examples
    --------
    >>> from rarefind.metrics import lift_at_k
    >>> lift_at_k([1, 0, 0, 0], [0.9, 0.8, 0.2, 0.1], k=2)
    2.0
    """
    rows = check_rows(y_true, score, pos_label, sample_weight)
    positives, total = float(rows.weight[rows.positive].sum()), float(rows.weight.sum())
    if not _is_defined(positives):
        return 0.0
    checks = budget(k, total)
    return float(_hits_within(rows, checks) / checks / (positives / total))


def pos_at_top(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positives ranked strictly above the first negative (Frery 2019, section 3.5).

    Examples
    --------
    >>> from rarefind.metrics import pos_at_top
    >>> pos_at_top([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    0.666...
    """
    positive, scores, weight = check_rows(y_true, score, pos_label, sample_weight)
    positives = float(weight[positive].sum())
    if not _is_defined(positives):
        return 0.0
    counted_negatives = scores[~positive & (weight > 0)]
    first_negative = counted_negatives.max(initial=-np.inf)
    if not counted_negatives.size:
        return 1.0
    return float(weight[positive & (scores > first_negative)].sum() / positives)


def amount_at_k(
    y_true: ArrayLike,
    score: ArrayLike,
    amount: ArrayLike,
    k: int | float | str,
    *,
    share: bool = False,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Money recovered by checking the first ``k`` rows: the amounts of the positives among them.

    Parameters
    ----------
    y_true, score, k, pos_label, sample_weight
        As in :func:`precision_at_k`; ties at the cut count in expectation.
    amount : array-like of shape (n,)
        What a row is worth when it is positive.
    share : bool, default=False
        Return the share of all recoverable money instead of the sum.

    Examples
    --------
    >>> from rarefind.metrics import amount_at_k
    >>> amount_at_k([1, 0, 1], [0.9, 0.8, 0.1], amount=[120.0, 5.0, 80.0], k=2)
    120.0
    """
    positive, scores, weight = check_rows(y_true, score, pos_label, sample_weight)
    money = as_amounts(amount, scores.size)
    _, recovered, rows = cumulate(scores, money * positive * weight, weight)
    found = float(_at(budget(k, rows[-1]), rows, recovered))
    if not share:
        return found
    return found / recovered[-1] if _is_defined(recovered[-1]) else 0.0


def hits_by_check(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Expected positives found after each number of checks, the curve behind all ``_at_k``.

    Returns
    -------
    checks, hits : ndarray
        Corners of the curve, from (0, 0); between two corners it is a straight line.
    """
    positive, scores, weight = check_rows(y_true, score, pos_label, sample_weight)
    _, hits, rows = cumulate(scores, positive * weight, weight)
    return np.append(0.0, rows), np.append(0.0, hits)


def _hits_within(rows: RankedRows, checks: float) -> Floats:
    _, hits, ranked = cumulate(rows.score, rows.positive * rows.weight, rows.weight)
    return _at(checks, ranked, hits)


def _at(checks: float, rows: Floats, column: Floats) -> Floats:
    # Inside a tie the expectation over orders grows linearly with the number of checks.
    return np.asarray(np.interp(checks, np.append(0.0, rows), np.append(0.0, column)))


def _is_defined(count: float, what: str = "positive row") -> bool:
    """Whether there is something to divide by; else warn that the measure is 0."""
    if count > 0:
        return True
    message = f"There is no {what}, so the measure is set to 0."
    warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
    return False

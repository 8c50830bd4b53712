"""What every measure does first: which rows are positive, which scores count, how many checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length, column_or_1d

from rarefind._core.budget import budget_share
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Label


def as_column(values: ArrayLike) -> Array:
    """One value a row.

    A plain array of numbers is one already: what is measured at every round and every cut spends
    most of its time in scikit-learn's checks otherwise.
    """
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "bifu":
        return np.ascontiguousarray(values)
    return np.asarray(column_or_1d(values))


def is_positive(y: ArrayLike, pos_label: Label = None) -> Bools:
    """Which rows carry the positive label; 1 is positive among {0, 1} and {-1, 1}."""
    labels = as_column(y)
    if pos_label is None:
        if labels.dtype == bool:
            return labels.copy()
        known = set(pd.unique(labels).tolist())
        if not (known <= {0, 1} or known <= {-1, 1}):
            shown = ", ".join(map(repr, sorted(known, key=str)[:5]))
            raise ValueError(f"The labels are {shown}: name the positive one with pos_label=...")
        pos_label = 1
    return np.asarray(labels == pos_label, dtype=bool)


def as_scores(score: ArrayLike) -> Floats:
    """One number a row; infinities are allowed, NaN is not."""
    scores = np.asarray(as_column(score), dtype=np.float64)
    missing = int(np.isnan(scores).sum())
    if missing:
        raise ValueError(
            f"{missing} of {scores.size} scores are NaN; a ranking needs a number a row."
        )
    return scores


def as_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """The weights, ones where none are given."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(as_column(sample_weight), dtype=np.float64)
    if weights.size != n:
        raise ValueError(f"sample_weight has {weights.size} entries for {n} rows.")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError("sample_weight must be finite and not negative.")
    return weights


def as_amounts(amount: ArrayLike, n: int) -> Floats:
    """What each row is worth."""
    amounts = np.asarray(as_column(amount), dtype=np.float64)
    if amounts.size != n or not np.all(np.isfinite(amounts)):
        raise ValueError(f"amount must have a finite number for each of the {n} rows.")
    return amounts


class RankedRows(NamedTuple):
    """Checked input of a ranking measure."""

    positive: Bools
    score: Floats
    weight: Floats


def check_rows(
    y_true: ArrayLike, score: ArrayLike, pos_label: Label, sample_weight: ArrayLike | None
) -> RankedRows:
    """Check labels, scores and weights together."""
    positive, scores = is_positive(y_true, pos_label), as_scores(score)
    if positive.size != scores.size:
        check_consistent_length(positive, scores)
    if not positive.size:
        raise ValueError("There are no rows to measure.")
    return RankedRows(positive, scores, as_weights(sample_weight, positive.size))


def budget(k: int | float | str, n: float) -> float:
    """How many checks a budget buys among ``n`` rows.

    ``200`` and ``"200"`` are checks, ``0.005`` and ``"0.5%"`` a share of the rows (at least one
    check). A budget beyond the list checks the whole list.

    Examples
    --------
    >>> from rarefind.metrics import budget
    >>> budget(200, n=10_000), budget("0.5%", n=10_000), budget(0.01, n=10_000)
    (200.0, 50.0, 100.0)
    """
    share = budget_share(k)
    checks = float(k) if share is None else max(1.0, round(share * n))
    return float(min(checks, n))


def cumulate(score: Floats, *columns: Array) -> tuple[Floats, ...]:
    """Go down the list: the distinct scores from the top, and each column's running sum there."""
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    last_of_tie = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    sums = tuple(np.cumsum(column[order], dtype=np.float64)[last_of_tie] for column in columns)
    return (ranked[last_of_tie], *sums)

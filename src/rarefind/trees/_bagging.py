"""What forests share: the rows that trees are grown on, and the rest, which judges them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray, RealNumber
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.metrics import average_precision
from rarefind.trees._base import TREE_STATE, Start, TreeClassifier

#: What every forest keeps in a model file.
FOREST_STATE = TREE_STATE | State(
    {
        "oob_scores_": FloatArray("*", nan=True),
        "oob_average_precision_": RealNumber(nan=True),
    }
)


class BaggedClassifier(TreeClassifier):
    """Base of forests whose trees are each grown on some of the rows."""

    stops_quickly = True

    oob_scores_: Floats
    oob_average_precision_: float

    def _judge(self, start: Start, total: Floats, times: Floats) -> None:
        """Threshold, probabilities and average precision by the rows that trees have not drawn.

        ``total`` is the sum of the scores of each row by such trees, ``times`` their number.
        """
        known, mean = times > 0, mean_of_times(total, times)
        self.oob_scores_ = np.full(start.used.size, np.nan)
        self.oob_scores_[start.used] = mean
        positive, weight = start.rows.is_positive[known], start.own_weight[known]
        self.oob_average_precision_ = np.nan
        if positive.any() and not positive.all():
            score = mean[known]
            self.oob_average_precision_ = average_precision(positive, score, sample_weight=weight)
            self._calibrate(score, positive, weight)
        elif self.threshold == "auto":
            raise ValueError(
                "All rows of one class are in every tree, so no row is left to tune the threshold: "
                "give more rows of that class, or set threshold to a number or None."
            )
        else:
            self._leave_uncalibrated()


def mean_of_times(total: Floats, times: Floats) -> Floats:
    """The mean score of each row; NaN where there is none."""
    return np.divide(total, times, out=np.full(times.size, np.nan), where=times > 0)


def number_of_columns(wanted: Any, d: int) -> int:
    """How many of ``d`` columns a split may choose among."""
    if wanted is None:
        return d
    if wanted == "sqrt":
        return max(1, int(np.sqrt(d)))
    if wanted == "third":
        return max(1, d // 3)
    return min(d, int(wanted)) if isinstance(wanted, Integral) else max(1, int(wanted * d))


def row_groups(is_positive: Bools, groups: Array | None) -> tuple[Array, Bools]:
    """The number of each row's group, and which groups have positives; a row is one by default."""
    number = np.arange(is_positive.size)
    if groups is not None:
        number = np.unique(groups, return_inverse=True)[1]
    return number, np.bincount(number, weights=is_positive) > 0


def bootstrap(is_positive: Bools, groups: Array | None, rng: np.random.RandomState) -> Floats:
    """How often each row is drawn: as many as there are of those with positives, and of others.

    Drawn are rows or, where there are some, whole groups; again if that leaves a class out.
    """
    number, has_positive = row_groups(is_positive, groups)
    while True:
        times = np.zeros(has_positive.size)
        for own in (np.flatnonzero(has_positive), np.flatnonzero(~has_positive)):
            if own.size:
                drawn = own[rng.randint(own.size, size=own.size)]
                times += np.bincount(drawn, minlength=times.size)
        rows = times[number]
        if rows[is_positive].any() and rows[~is_positive].any():
            return rows


class DrawnRows(NamedTuple):
    """The rows that a tree is grown on, and those held out to judge it; there may be others."""

    positives: Array  # int32
    negatives: Array  # int32
    held_out: Ints


def draw_share(
    is_positive: Bools,
    groups: Array | None,
    share: float,
    negative_ratio: float | None,
    rng: np.random.RandomState,
) -> DrawnRows:
    """Draw a share of those with positives and of the others; the rest is held out.

    Drawn are rows or, where there are some, whole groups. Of two or more, one is held out. Of the
    negatives drawn a part is taken: at least ``negative_ratio`` for each positive, and how many is
    drawn evenly in the logarithm.
    """
    number, has_positive = row_groups(is_positive, groups)
    is_drawn = np.zeros(has_positive.size, dtype=bool)
    for own in (np.flatnonzero(has_positive), np.flatnonzero(~has_positive)):
        if own.size:
            is_drawn[rng.choice(own, _share_of(own.size, share), replace=False)] = True
    rows = is_drawn[number]
    if not (rows & ~is_positive).any():  # all negatives are in groups with positives
        rows |= number == rng.choice(number[~is_positive])
    positives = np.flatnonzero(rows & is_positive)
    negatives = np.flatnonzero(rows & ~is_positive)
    if negative_ratio is not None:
        fewest = min(max(negative_ratio * positives.size, 1.0), negatives.size)
        n = round(float(fewest * (negatives.size / fewest) ** rng.uniform()))
        negatives = np.sort(rng.choice(negatives, n, replace=False))
    return DrawnRows(positives.astype(np.int32), negatives.astype(np.int32), np.flatnonzero(~rows))


def _share_of(n: int, share: float) -> int:
    """A share of ``n``, neither none nor all of them where there are two."""
    return min(max(1, round(share * n)), max(1, n - 1))

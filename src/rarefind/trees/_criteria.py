"""What a split is worth: the criteria of the tree builder, larger is better.

A split sends weights p_l of positives and w_l of all rows to one side, p_r and w_r to the other.
P and W are their sums, π = P/W the precision before it.

- ``ap``: w_l·AP_l + w_r·AP_r over P, as published (thesis, section 4.4), where
  AP_l = p_l²/(P·w_l) + p_r/W is the average precision of ranking the left side first;
- ``max-ap``: max(AP_l, AP_r). As AP_l = π + (p_l/P)·(p_l − π·w_l)/w_l, any enriched side counts, by
  its share of the positives times the precision it gains. With a shrinkage m the last w_l is
  w_l + m: the side's precision is drawn to π as if m rows more had it, so that a handful of rows
  does not win by chance;
- ``gini`` and ``entropy``: the impurity that the split removes;
- ``auc``: the area under the ROC curve of ranking the better side first, (1 + |β − α|)/2.

All but ``ap`` are convex in (p_l, w_l), ``max-ap`` without shrinkage: their best set of categories
is a prefix of these in the order of precision.
"""

from __future__ import annotations

import numpy as np

from rarefind._core.kernels import kernel

CRITERIA = {"max-ap": 0, "ap": 1, "gini": 2, "entropy": 3, "auc": 4}
AP = CRITERIA["ap"]


@kernel
def split_value(
    criterion: int, shrinkage: float, p_l: float, w_l: float, p_r: float, w_r: float
) -> float:
    """Worth of a split; both classes and both sides must have weight."""
    p, w = p_l + p_r, w_l + w_r
    if criterion == 0:
        base = p / w
        left = p_l / p * (p_l - base * w_l) / (w_l + shrinkage)
        right = p_r / p * (p_r - base * w_r) / (w_r + shrinkage)
        return base + max(left, right)
    if criterion == 1:
        left = p_l * (p_l / w_l) / p + p_r / w
        right = p_r * (p_r / w_r) / p + p_l / w
        return (w_l * left + w_r * right) / p
    if criterion == 2:
        return _gini(p, w) - (w_l * _gini(p_l, w_l) + w_r * _gini(p_r, w_r)) / w
    if criterion == 3:
        return _entropy(p, w) - (w_l * _entropy(p_l, w_l) + w_r * _entropy(p_r, w_r)) / w
    return 0.5 + 0.5 * abs(p_l / p - (w_l - p_l) / (w - p))


@kernel
def useless_value(criterion: int, p: float, w: float) -> float:
    """Worth of a split that changes no precision; the published ``ap`` takes the best of any."""
    if criterion == 0:
        return p / w
    if criterion == 1:
        return -1.0
    if criterion == 4:
        return 0.5
    return 0.0


@kernel
def _gini(p: float, w: float) -> float:
    return 2.0 * (p / w) * (1.0 - p / w)


@kernel
def _entropy(p: float, w: float) -> float:
    share = p / w
    if share <= 0.0 or share >= 1.0:
        return 0.0
    return -(share * np.log2(share) + (1.0 - share) * np.log2(1.0 - share))

"""Smooth stand-ins for average precision, and their gradients at the scores of a batch of rows.

Average precision is the mean over positives of the share of positives among the rows at or above
them. A surrogate replaces "at or above" by a smooth function of the difference of scores:

- ``exp(a(f_j − f_i))``: the positives' own scores cancel, and 1 − AP becomes L, the share of the
  negatives in the softmax of all scores. One pass over the rows.
- −log(1 − L), which has the same direction and does not vanish when a negative leads the list.
- ``σ(a(f_j − f_i))``: closer to average precision, over all pairs of a positive and a row.

Losses are scaled so that their gradients are of the size of those of the logistic loss at the
start, where all scores are equal: then both can be mixed, and XGBoost's ``min_child_weight`` and
``reg_lambda`` mean the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from rarefind._numba import kernel
from rarefind._typing import Bools, Floats, Ints

#: From scores, which are positive, weights and sharpness to the loss, its first derivatives, and
#: what XGBoost takes for the second ones, which are never negative.
Surrogate = Callable[[Floats, Bools, Floats, float, int], tuple[float, Floats, Floats]]

# Beyond this a sigmoid is 0 or 1 to all digits.
_FLAT = 40.0


def exponential(
    score: Floats, positive: Bools, weight: Floats, sharpness: float, n_jobs: int = 1
) -> tuple[float, Floats, Floats]:
    """n·L: the share of the negatives in the softmax, times the rows.

    The true second derivatives are mostly negative on positives, so XGBoost is given |g|.
    """
    p = _softmax(score, weight, sharpness)
    share = p[~positive].sum()
    total = weight.sum()
    first = p * np.where(positive, -share, 1 - share)
    first *= sharpness * total
    return float(total * share), first, np.abs(first)


def logarithm(
    score: Floats, positive: Bools, weight: Floats, sharpness: float, n_jobs: int = 1
) -> tuple[float, Floats, Floats]:
    """−P·log(1 − L): the logarithm of the positives' share in the softmax, times the positives."""
    p = _softmax(score, weight, sharpness)
    count = weight[positive].sum()
    first = p
    if count:
        first[positive] -= _softmax(score[positive], weight[positive], sharpness)
    first *= sharpness * count
    loss = count * (
        _log_sum(score, weight, sharpness) - _log_sum(score[positive], weight[positive], sharpness)
        if count
        else 0.0
    )
    return float(loss), first, np.abs(first)


def sigmoid(
    score: Floats, positive: Bools, weight: Floats, sharpness: float, n_jobs: int = 1
) -> tuple[float, Floats, Floats]:
    """n·(1 − AP) with sigmoids for "at or above"; a row stands at its own score.

    All pairs of a positive and a row are visited and none is kept: memory is a few numbers a row
    and thread.
    """
    ranked = np.flatnonzero(positive)
    parts = np.array_split(ranked, max(1, min(n_jobs, ranked.size)))
    found = Parallel(len(parts), prefer="threads")(
        delayed(_over_positives)(part, score, positive, weight, sharpness) for part in parts
    )
    # What positives say of each row, each weighing w_i/P of a list of n rows.
    scale = weight.sum() / max(weight[positive].sum(), np.finfo(float).tiny)
    loss, first, second = (scale * sum(part) for part in zip(*found, strict=True))
    return float(loss), np.asarray(first), np.asarray(second)


SURROGATES: dict[str, Surrogate] = {"exp": exponential, "log": logarithm, "sigmoid": sigmoid}


def logistic(score: Floats, positive: Bools, weight: Floats) -> tuple[float, Floats, Floats]:
    """The logistic loss, whose second derivatives are the true ones."""
    first, second = np.empty(score.size), np.empty(score.size)
    return _logistic(score, positive, weight, first, second), first, second


def pairwise_exponential(
    score: Floats, positive: Bools, weight: Floats
) -> tuple[float, Floats, Floats]:
    """RankBoost's loss Σ exp(f_j − f_i) over positives i and negatives j, a sum times a sum.

    It is divided by the number of negatives, so that each positive has weight 1 at the start.
    """
    down = weight[positive] * _spread(-score[positive])
    up = weight[~positive] * _spread(score[~positive])
    # Both sums are taken relative to the largest term; what is left is one common factor.
    common = np.exp(np.clip(_top(score[~positive]) + _top(-score[positive]), -_FLAT, _FLAT)) / max(
        weight[~positive].sum(), np.finfo(float).tiny
    )
    first, second = np.empty(score.size), np.empty(score.size)
    first[positive], first[~positive] = -down * up.sum() * common, up * down.sum() * common
    np.abs(first, out=second)
    return float(down.sum() * up.sum() * common), first, second


def _top(score: Floats) -> float:
    return float(score.max()) if score.size else 0.0


def _spread(score: Floats) -> Floats:
    return np.exp(score - _top(score))


@kernel
def _softmax(score: Floats, weight: Floats, sharpness: float) -> Floats:
    """Weighted, from the largest score down so that nothing overflows."""
    top = -np.inf
    for value in score:
        top = max(top, value)
    p = np.empty(score.size)
    total = 0.0
    for i in range(score.size):
        p[i] = weight[i] * np.exp(sharpness * (score[i] - top))
        total += p[i]
    for i in range(score.size):
        p[i] /= total
    return p


def _log_sum(score: Floats, weight: Floats, sharpness: float) -> float:
    """log Σ w·exp(a·f)."""
    top = score.max()
    return float(sharpness * top + np.log((weight * np.exp(sharpness * (score - top))).sum()))


@kernel
def _logistic(
    score: Floats, positive: Bools, weight: Floats, first: Floats, second: Floats
) -> float:
    loss = 0.0
    for i in range(score.size):
        small = np.exp(-abs(score[i]))  # of both odds the one that cannot overflow
        low = small / (1 + small)
        chance = 1 / (1 + small) if score[i] >= 0 else low
        first[i] = weight[i] * (chance - positive[i])
        second[i] = weight[i] * low / (1 + small)
        margin = score[i] if positive[i] else -score[i]
        loss += weight[i] * (np.log1p(small) + max(-margin, 0.0))
    return loss


@kernel
def _over_positives(
    rows: Ints, score: Floats, positive: Bools, weight: Floats, sharpness: float
) -> tuple[float, Floats, Floats]:
    """Sum over some positives of w_i·(share of negatives at or above i), and its derivatives."""
    n = score.size
    loss = 0.0
    first, second = np.zeros(n), np.zeros(n)
    above = np.empty(n)
    for i in rows:
        total, negatives = 0.0, 0.0
        for j in range(n):
            far = sharpness * (score[j] - score[i])
            if j == i or far > _FLAT:
                above[j] = 1.0
            elif far < -_FLAT:
                above[j] = 0.0
            else:
                above[j] = 1 / (1 + np.exp(-far))
            total += weight[j] * above[j]
            if not positive[j]:
                negatives += weight[j] * above[j]
        share = negatives / total
        loss += weight[i] * share
        own, own_size = 0.0, 0.0
        for j in range(n):
            slope = sharpness * above[j] * (1 - above[j])  # 0 for the row itself
            pull = weight[i] * weight[j] * slope * ((0.0 if positive[j] else 1.0) - share) / total
            first[j] += pull
            second[j] += sharpness * abs(pull)
            own += pull
            own_size += abs(pull)
        first[i] -= own
        second[i] += sharpness * own_size
    return loss, first, second

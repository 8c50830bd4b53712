"""Smooth stand-ins for average precision, and their gradients at the scores of a batch of rows.

Average precision is the mean over positives of the share of positives among the rows at or above
them. A surrogate replaces "at or above" by a smooth function of the difference of scores:

- ``exp(a(f_j − f_i))``: the positives' own scores cancel, and 1 − AP becomes L, the share of the
  negatives in the softmax of all scores. One pass over the rows.
- −log(1 − L), which has the same direction and does not vanish when a negative leads the list.
- ``σ(a(f_j − f_i))``: closer to average precision, over all pairs of a positive and a row.

Losses are scaled so that at the start, where all scores are the log-odds of the positives, their
gradients are of the size of those of the logistic loss (those of the sigmoid half of it): then both
can be mixed, and XGBoost's ``min_child_weight`` and ``reg_lambda`` mean about the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from rarefind._core.kernels import kernel
from rarefind._core.threads import in_parts
from rarefind._core.types import Array, Bools, Floats, Ints

#: Adds a share of the first derivatives of a loss, and of what XGBoost takes for the second ones,
#: which are never negative, to two arrays, and returns the loss. It is given scores, which are
#: positive, weights, sharpness, share, the two arrays and a number of threads. A row of weight 0 is
#: not there.
Surrogate = Callable[[Floats, Bools, Floats, float, float, Array, Array, int], float]

# Beyond this difference a sigmoid is 0 or 1 to all digits, and an exponential large enough.
_FLAT = 40.0


def add_exponential(
    score: Floats,
    positive: Bools,
    weight: Floats,
    sharpness: float,
    share: float,
    first: Array,
    second: Array,
    n_jobs: int = 1,
) -> float:
    """n·L: the share of the negatives in the softmax, times the rows.

    The true second derivatives are mostly negative on positives, so XGBoost is given |g|.
    """
    return _add_softmax(score, positive, weight, sharpness, share, first, second, n_jobs, False)


def add_logarithm(
    score: Floats,
    positive: Bools,
    weight: Floats,
    sharpness: float,
    share: float,
    first: Array,
    second: Array,
    n_jobs: int = 1,
) -> float:
    """−P·log(1 − L): the logarithm of the positives' share in the softmax, times the positives.

    XGBoost is given |g| as well.
    """
    return _add_softmax(score, positive, weight, sharpness, share, first, second, n_jobs, True)


def add_sigmoid(
    score: Floats,
    positive: Bools,
    weight: Floats,
    sharpness: float,
    share: float,
    first: Array,
    second: Array,
    n_jobs: int = 1,
) -> float:
    """n·(1 − AP) with sigmoids for "at or above"; a row stands at its own score.

    All pairs of a positive and a row are visited and none is kept: memory is a few numbers a row
    and thread. XGBoost is given the sizes of all pulls on a row for the second derivatives; the
    pulls themselves may cancel, or even push a positive down that crowds another.
    """
    there = np.flatnonzero(weight > 0)
    score, positive, weight = score[there], positive[there], weight[there]
    ranked = np.flatnonzero(positive)
    if not ranked.size:
        return 0.0
    parts = np.array_split(ranked, min(n_jobs, ranked.size))
    found = Parallel(len(parts), require="sharedmem")(
        delayed(_over_positives)(part, score, positive, weight, sharpness) for part in parts
    )
    # What positives say of each row, each weighing w_i/P of a list of n rows.
    scale = weight.sum() / weight[positive].sum()
    first[there] += share * scale * sum(slope for _, slope, _ in found)
    second[there] += share * scale * sum(bend for _, _, bend in found)
    return float(share * scale * sum(loss for loss, _, _ in found))


SURROGATES: dict[str, Surrogate] = {
    "exp": add_exponential,
    "log": add_logarithm,
    "sigmoid": add_sigmoid,
}


def add_logistic(
    score: Floats,
    positive: Bools,
    weight: Floats,
    share: float,
    first: Array,
    second: Array,
    n_jobs: int = 1,
) -> None:
    """The logistic loss, whose second derivatives are the true ones.

    It is the one loss that is not returned: its logarithms would take as long as all the rest.
    """
    in_parts(
        score.size,
        n_jobs,
        lambda part: _add_logistic(
            score[part], positive[part], weight[part], share, first[part], second[part]
        ),
    )


@kernel
def _add_logistic(
    score: Floats, positive: Bools, weight: Floats, share: float, first: Array, second: Array
) -> None:
    for i in range(score.size):
        if weight[i] == 0:
            continue
        small = np.exp(-abs(score[i]))  # of both odds the one that cannot overflow
        high = 1 / (1 + small)
        low = small * high
        probability = high if score[i] >= 0 else low
        first[i] += share * weight[i] * (probability - positive[i])
        second[i] += share * weight[i] * low * high


def add_pairwise_exponential(
    score: Floats, positive: Bools, weight: Floats, first: Array, second: Array
) -> float:
    """RankBoost's loss Σ exp(f_j − f_i) over positives i and negatives j, a sum times a sum.

    It is divided by the number of negatives, so that each positive has weight 1 at the start; the
    second derivatives are the true ones. Where the worst pair is out of order by more than 40, all
    is scaled down to that: the direction stays.
    """
    up, down = ~positive & (weight > 0), positive & (weight > 0)
    if not up.any() or not down.any():
        return 0.0
    top, bottom = score[up].max(), score[down].min()
    # Both sums are taken relative to their largest term; what is left is one common factor.
    common = np.exp(np.clip(top - bottom, -_FLAT, _FLAT)) / weight[up].sum()
    above = weight[up] * np.exp(score[up] - top)
    below = weight[down] * np.exp(bottom - score[down])
    first[down] -= common * above.sum() * below
    first[up] += common * below.sum() * above
    second[down] += common * above.sum() * below
    second[up] += common * below.sum() * above
    return float(common * above.sum() * below.sum())


def _add_softmax(
    score: Floats,
    positive: Bools,
    weight: Floats,
    sharpness: float,
    share: float,
    first: Array,
    second: Array,
    n_jobs: int,
    logarithm: bool,
) -> float:
    """L or its logarithm, from the largest score down so that nothing overflows."""
    found = np.array(
        in_parts(score.size, n_jobs, lambda part: _tops(score[part], positive[part], weight[part]))
    )
    top, top_positive = found.max(axis=0).tolist()
    each = np.empty(score.size, dtype=first.dtype)  # no more digits than are asked for
    sums = in_parts(
        score.size,
        n_jobs,
        lambda part: _masses(
            score[part], positive[part], weight[part], sharpness, top, top_positive, each[part]
        ),
    )
    negatives, positives, n, count = np.sum(sums, axis=0).tolist()
    if n == count or (count == 0 and logarithm):
        return 0.0
    if count == 0:
        return share * n
    # Positives are summed relative to the first of them: there may be none near the top.
    lag = np.exp(sharpness * (top_positive - top))
    total = negatives + lag * positives
    loss = negatives / total
    size = share * sharpness * (count if logarithm else n) / total
    of_negatives = size * (1.0 if logarithm else 1 - loss)
    of_positives = size * loss * (total / positives if logarithm else lag)
    in_parts(
        score.size,
        n_jobs,
        lambda part: _slopes(
            each[part], positive[part], of_negatives, of_positives, first[part], second[part]
        ),
    )
    if logarithm:
        gap = sharpness * (top - top_positive)
        return float(share * count * (np.log(total) - np.log(positives) + gap))
    return float(share * n * loss)


@kernel
def _tops(score: Floats, positive: Bools, weight: Floats) -> tuple[float, float]:
    """The largest score of all rows that are there, and of the positives."""
    top, top_positive = -np.inf, -np.inf
    for i in range(score.size):
        if weight[i] > 0:
            top = max(top, score[i])
            if positive[i]:
                top_positive = max(top_positive, score[i])
    return top, top_positive


@kernel
def _masses(
    score: Floats,
    positive: Bools,
    weight: Floats,
    sharpness: float,
    top: float,
    top_positive: float,
    each: Array,
) -> tuple[float, float, float, float]:
    """Fill what each row has in the softmax; the sums of both classes, of weights and positives."""
    negatives, positives, n, count = 0.0, 0.0, 0.0, 0.0
    for i in range(score.size):
        each[i] = 0.0
        if weight[i] == 0:
            continue
        start = top_positive if positive[i] else top
        each[i] = weight[i] * np.exp(sharpness * (score[i] - start))
        n += weight[i]
        if positive[i]:
            positives += each[i]
            count += weight[i]
        else:
            negatives += each[i]
    return negatives, positives, n, count


@kernel
def _slopes(
    each: Array,
    positive: Bools,
    of_negatives: float,
    of_positives: float,
    first: Array,
    second: Array,
) -> None:
    for i in range(each.size):
        size = each[i] * (of_positives if positive[i] else of_negatives)
        first[i] += -size if positive[i] else size
        second[i] += size


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

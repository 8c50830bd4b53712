"""Published linear online boosting, on the nets of :mod:`rarefind.streams._nets`, a row at a time.

Classes are ±1. In the first three methods nets vote, +1 where the output is 0 or more; they learn
by the logistic loss, with the method's weight for the row. In the last two nets are regressors,
which learn by the squared loss. A row's own weight multiplies all its gradients.

- ``BBM``, online boost-by-majority: votes are equal. The row's weight for a net is the probability
  that its vote decides, if each later vote is right with probability ½ + edge, independently.
- ``ADABOOST_W``, AdaBoost.OL.W: votes have weights in [-2, 2], learned by gradient descent.
- ``ADABOOST``, AdaBoost.OL: the same, but partial sums of votes are weighted by their mistakes.
- ``GRADIENT``, online gradient boosting: a net learns minus the slope of the logistic loss at the
  sum before it, and each sum is shrunk by a factor sigma, which is learned as well.
- ``STREAM``, streaming gradient boosting: a net learns that slope and is subtracted.

Where the paper leaves a choice, the first three follow Vowpal Wabbit (boosting.cc), which the
thesis used: AdaBoost.OL weights rows instead of sampling them. Four things differ: the weights of
votes and the mistakes of partial sums take a row's weight into account, a sum of 0 is a positive
vote, BBM's weights are divided by their maximum, and the score of AdaBoost.OL is the mean over the
partial sums, of which Vowpal Wabbit samples one.

References
----------
A. Beygelzimer, S. Kale, H. Luo, Optimal and adaptive algorithms for online boosting, ICML 2015.
A. Beygelzimer, E. Hazan, S. Kale, H. Luo, Online gradient boosting, NIPS 2015 (Algorithm 1).
H. Hu, W. Sun, A. Venkatraman, M. Hebert, J. A. Bagnell, Gradient boosting on stochastic data
streams, AISTATS 2017 (Algorithm 1).
"""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray
from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Floats
from rarefind.streams._nets import LARGEST_GRADIENT, LARGEST_WEIGHT, Nets, StepSize, backward

BBM, ADABOOST, ADABOOST_W, GRADIENT, STREAM = range(1, 6)

_HEAVIEST_VOTE = 2.0


@saved(
    "stream-votes",
    state=State(
        {
            "weight": FloatArray("nets", low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT),
            "expert": FloatArray("nets"),
            "seen": FloatArray(1, low=0),
        }
    ),
)
class Votes(NamedTuple):
    """What a method learns besides its nets."""

    weight: Floats  # (T,), alpha of a vote, or sigma of GRADIENT
    expert: Floats  # (T,), log-weight of the sum of votes up to here: minus its weighted mistakes
    seen: Floats  # (1,), rows learned

    @classmethod
    def start(cls, method: int, n: int) -> Votes:
        """Before the first row."""
        return cls(np.full(n, 1.0 if method == BBM else 0.0), np.zeros(n), np.zeros(1))


@kernel
def linear_score(method: int, output: Floats, votes: Votes, shrink: float) -> float:
    """The score of a row from the outputs of the nets, of shape (T, 1).

    The sum of the votes or of the outputs. AdaBoost.OL samples a partial sum by its expert weight;
    its score here is the mean over that sample. The probability that the sampled sum is positive
    would soon be 0 or 1 for every row, which is useless for ranking.
    """
    if method == ADABOOST:
        return _mean_partial_sum(output, votes)
    total = 0.0
    for t in range(output.shape[0]):
        if method < GRADIENT:
            total += votes.weight[t] * _vote(output[t, 0])
        else:
            total = _add_net(method, total, output[t, 0], votes.weight[t], shrink, output.shape[0])
    return total


@kernel
def linear_learn(
    method: int,
    x: Floats,
    is_positive: bool,
    weight: float,
    hidden: Floats,
    output: Floats,
    nets: Nets,
    votes: Votes,
    edge: float,
    shrink: float,
    step_size: StepSize,
) -> None:
    """Learn a row; ``hidden`` and ``output`` are of the nets as they are. ``edge`` is in (0, ½).

    A row of weight 0 is not learned, and a net with gradient 0 does not change.
    """
    if weight == 0:
        return
    inner, outer, inner_sum, outer_sum = nets
    votes.seen[0] += 1
    y = 1.0 if is_positive else -1.0
    gradient = np.empty(1)
    total = 0.0
    for t in range(output.shape[0]):
        if method < GRADIENT:
            own, total = _learn_vote(method, t, total, output[t, 0], y, weight, votes, edge)
        else:
            own, total = _learn_slope(method, t, total, output[t, 0], y, weight, votes, shrink)
        if own != 0:
            gradient[0] = _clip(own, LARGEST_GRADIENT)
            backward(t, x, hidden, gradient, inner, outer, inner_sum, outer_sum, step_size)


@kernel
def _learn_vote(
    method: int,
    t: int,
    total: float,
    output: float,
    y: float,
    weight: float,
    votes: Votes,
    edge: float,
) -> tuple[float, float]:
    """The gradient of a net that votes, and the sum with its vote."""
    n = votes.weight.size
    share = _decision_weight(y * total, t, n, edge) if method == BBM else _negative_slope(y * total)
    total += votes.weight[t] * _vote(output)
    if method != BBM:
        gradient = _clip(weight * _negative_slope(y * total), LARGEST_GRADIENT) * y * _vote(output)
        alpha = votes.weight[t] + 4 / np.sqrt(votes.seen[0]) * gradient
        votes.weight[t] = _clip(alpha, _HEAVIEST_VOTE)
    if method == ADABOOST and _vote(total) != y:
        votes.expert[t] -= weight
    return weight * share * y * _negative_slope(y * output), total


@kernel
def _learn_slope(
    method: int,
    t: int,
    total: float,
    output: float,
    y: float,
    weight: float,
    votes: Votes,
    shrink: float,
) -> tuple[float, float]:
    """The gradient of a net that predicts a slope, and the sum with its output."""
    n = votes.weight.size
    slope = -y * _negative_slope(y * total)
    grown = _add_net(method, total, output, votes.weight[t], shrink, n)
    if method == STREAM:
        return weight * (slope - output), grown
    rate = 1 / (_bound(shrink, n) * np.sqrt(votes.seen[0]))
    sigma = votes.weight[t] + rate * _clip(weight * slope, LARGEST_GRADIENT) * total
    votes.weight[t] = min(max(sigma, 0.0), 1.0)
    return weight * (-slope - output), grown


@kernel
def _decision_weight(margin: float, t: int, n: int, edge: float) -> float:
    """BBM's weight of a row for net ``t`` of ``n``, over the largest weight a row can have there.

    With m nets left, the weight is the probability that Binomial(m, ½ + edge) is k, where with k
    more right votes this one decides the majority. The largest weight is at the mode, or, as the
    margin is -t or more, at k = n/2 if that is smaller. The paper samples rows by this ratio.
    """
    m = n - t - 1
    k = int((n - t - margin) // 2)
    if k < 0 or k > m:
        return 0.0
    best = min(int((m + 1) * (0.5 + edge)), n // 2)
    ways = lgamma(best + 1) + lgamma(m - best + 1) - lgamma(k + 1) - lgamma(m - k + 1)
    return float(np.exp(ways + (k - best) * np.log((0.5 + edge) / (0.5 - edge))))


@kernel
def _mean_partial_sum(output: Floats, votes: Votes) -> float:
    best = votes.expert.max()
    total = mean = weights = 0.0
    for t in range(output.shape[0]):
        total += votes.weight[t] * _vote(output[t, 0])
        expert = np.exp(votes.expert[t] - best)
        mean += expert * total
        weights += expert
    return mean / weights


@kernel
def _add_net(
    method: int, total: float, output: float, sigma: float, shrink: float, n: int
) -> float:
    """The sum with one more net. That of GRADIENT is clipped at its bound."""
    if method == STREAM:
        return total - shrink * output
    return _clip((1 - sigma * shrink) * total + shrink * output, _bound(shrink, n))


@kernel
def _bound(shrink: float, n: int) -> float:
    """The paper's B = eta·N·D, where D is the largest slope of the loss, 1."""
    return max(1.0, shrink * n)


@kernel
def _vote(output: float) -> float:
    return 1.0 if output >= 0 else -1.0


@kernel
def _negative_slope(margin: float) -> float:
    """Minus the slope of the logistic loss: near 1 where the margin is far below 0, else near 0."""
    return float(1 / (1 + np.exp(margin)))


@kernel
def _clip(value: float, most: float) -> float:
    return min(max(value, -most), most)

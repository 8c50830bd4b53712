"""Published linear online boosting, on the nets of :mod:`rarefind.streams._nets`, a row at a time.

Classes are ±1. The first three methods ask nets for votes, +1 where a net says 0 or more, which it
learns by the logistic loss with the method's weight for the row. The last two ask nets for numbers,
learned by the squared loss. A row's own weight multiplies all that it moves.

- ``BBM``, online boost-by-majority: votes are equal. The row's weight for a net is the chance that
  this very vote decides, if the later ones are right with chance ½ + edge, each on its own.
- ``ADABOOST_W``, AdaBoost.OL.W: votes have weights in [-2, 2], learned by gradient descent.
- ``ADABOOST``, AdaBoost.OL: the same, but of the partial sums of votes the good ones are believed.
- ``GRADIENT``, online gradient boosting: a net learns minus the slope of the logistic loss at the
  sum before it, and each sum is shrunk by a share sigma that is learned, too.
- ``STREAM``, streaming gradient boosting: a net learns that slope and is subtracted.

Where their paper leaves a choice, the first three do as Vowpal Wabbit (boosting.cc), which the
thesis used: AdaBoost.OL weighs rows instead of drawing them. We differ from it in three things:
weights of votes and mistakes of partial sums count a row by its weight, a sum of 0 votes for the
positives, and BBM's weights are divided by their largest. Its draw of a partial sum is a mean here.

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

from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.types import Floats
from rarefind.streams._nets import HARDEST_PULL, Nets, Pace, teach

BBM, ADABOOST, ADABOOST_W, GRADIENT, STREAM = range(1, 6)

_HEAVIEST_VOTE = 2.0


@saved("stream-votes")
class Votes(NamedTuple):
    """What a method knows beside its nets."""

    weight: Floats  # (T,), alpha of a vote, or sigma of GRADIENT
    expert: Floats  # (T,), log-weight of the sum of votes up to here: minus its weighted mistakes
    seen: Floats  # (1,), rows learned

    @classmethod
    def start(cls, method: int, n: int) -> Votes:
        """Before the first row."""
        return cls(np.full(n, 1.0 if method == BBM else 0.0), np.zeros(n), np.zeros(1))


@kernel
def linear_score(method: int, said: Floats, votes: Votes, shrink: float) -> float:
    """How positive a row is, from what the nets say of it, of shape (T, 1).

    The sum of the votes, or of the numbers. AdaBoost.OL draws a partial sum by its expert weight;
    its score is the mean of that draw. The chance that the drawn sum is positive would soon be
    0 or 1, which ranks nothing.
    """
    if method == ADABOOST:
        return _mean_partial_sum(said, votes)
    total = 0.0
    for t in range(said.shape[0]):
        if method < GRADIENT:
            total += votes.weight[t] * _vote(said[t, 0])
        else:
            total = _grow(method, total, said[t, 0], votes.weight[t], shrink, said.shape[0])
    return total


@kernel
def linear_learn(
    method: int,
    x: Floats,
    is_positive: bool,
    weight: float,
    hidden: Floats,
    said: Floats,
    nets: Nets,
    votes: Votes,
    edge: float,
    shrink: float,
    pace: Pace,
) -> None:
    """Learn a row that the nets, as they are, have listened to. ``edge`` is in (0, ½).

    A row of weight 0 is not learned, and no net learns a row at which nothing pulls it.
    """
    if weight == 0:
        return
    inner, outer, inner_sum, outer_sum = nets
    votes.seen[0] += 1
    y = 1.0 if is_positive else -1.0
    pull = np.empty(1)
    total = 0.0
    for t in range(said.shape[0]):
        if method < GRADIENT:
            force, total = _by_vote(method, t, total, said[t, 0], y, weight, votes, edge)
        else:
            force, total = _by_slope(method, t, total, said[t, 0], y, weight, votes, shrink)
        if force != 0:
            pull[0] = _within(force, HARDEST_PULL)
            teach(t, x, hidden, pull, inner, outer, inner_sum, outer_sum, pace)


@kernel
def _by_vote(
    method: int,
    t: int,
    total: float,
    said: float,
    y: float,
    weight: float,
    votes: Votes,
    edge: float,
) -> tuple[float, float]:
    """What pulls a net that votes, and the sum with its vote."""
    n = votes.weight.size
    share = _decides(y * total, t, n, edge) if method == BBM else _miss(y * total)
    total += votes.weight[t] * _vote(said)
    if method != BBM:
        pull = _within(weight * _miss(y * total), HARDEST_PULL) * y * _vote(said)
        alpha = votes.weight[t] + 4 / np.sqrt(votes.seen[0]) * pull
        votes.weight[t] = _within(alpha, _HEAVIEST_VOTE)
    if method == ADABOOST and _vote(total) != y:
        votes.expert[t] -= weight
    return weight * share * y * _miss(y * said), total


@kernel
def _by_slope(
    method: int,
    t: int,
    total: float,
    said: float,
    y: float,
    weight: float,
    votes: Votes,
    shrink: float,
) -> tuple[float, float]:
    """What pulls a net that says a slope, and the sum with what it says."""
    n = votes.weight.size
    slope = -y * _miss(y * total)
    grown = _grow(method, total, said, votes.weight[t], shrink, n)
    if method == STREAM:
        return weight * (slope - said), grown
    rate = 1 / (_bound(shrink, n) * np.sqrt(votes.seen[0]))
    sigma = votes.weight[t] + rate * _within(weight * slope, HARDEST_PULL) * total
    votes.weight[t] = min(max(sigma, 0.0), 1.0)
    return weight * (-slope - said), grown


@kernel
def _decides(margin: float, t: int, n: int, edge: float) -> float:
    """BBM's weight of a row for net ``t`` of ``n``, over the largest that any row could have here.

    With m nets to come, the weight is the chance that Binomial(m, ½ + edge) is k, where k more
    right votes leave the majority to this one. The largest weight is that at the mode, or, as the
    margin is -t or more, at k = n/2 if that is smaller. The paper draws rows by this ratio.
    """
    m = n - t - 1
    k = int((n - t - margin) // 2)
    if k < 0 or k > m:
        return 0.0
    best = min(int((m + 1) * (0.5 + edge)), n // 2)
    ways = lgamma(best + 1) + lgamma(m - best + 1) - lgamma(k + 1) - lgamma(m - k + 1)
    return float(np.exp(ways + (k - best) * np.log((0.5 + edge) / (0.5 - edge))))


@kernel
def _mean_partial_sum(said: Floats, votes: Votes) -> float:
    best = votes.expert.max()
    total = mean = weights = 0.0
    for t in range(said.shape[0]):
        total += votes.weight[t] * _vote(said[t, 0])
        expert = np.exp(votes.expert[t] - best)
        mean += expert * total
        weights += expert
    return mean / weights


@kernel
def _grow(method: int, total: float, said: float, sigma: float, shrink: float, n: int) -> float:
    """The sum with one net more. That of GRADIENT is kept within its bound."""
    if method == STREAM:
        return total - shrink * said
    return _within((1 - sigma * shrink) * total + shrink * said, _bound(shrink, n))


@kernel
def _bound(shrink: float, n: int) -> float:
    """The paper's B = eta·N·D, where D is the largest slope of the loss, 1."""
    return max(1.0, shrink * n)


@kernel
def _vote(said: float) -> float:
    return 1.0 if said >= 0 else -1.0


@kernel
def _miss(margin: float) -> float:
    """Minus the slope of the logistic loss: 1 for a row far on the wrong side, 0 on the right."""
    return float(1 / (1 + np.exp(margin)))


@kernel
def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)

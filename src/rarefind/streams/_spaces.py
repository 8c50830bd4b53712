"""Nets joined in several latent spaces, learning a row at a time (Algorithm 6 of the thesis).

The score of a class is F = F₀ + Σ_p a_p·relu(z_p), z_p = Σ_t A_tp·h_t, where h_t is what net t says
of the row for that class. F_t has the first t nets only. Net t learns by F_{t−1} or F_t, its
weights A_t descend the loss of F_t, and a descends the mean of these losses. All steps of a row are
taken from the weights before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import reordering_kernel
from rarefind._core.saved import saved
from rarefind._core.types import Floats
from rarefind.streams._nets import HARDEST_PULL, Nets, Pace, move, teach

# What a net aims at.
RESIDUAL, SLOPE, LOSS = range(3)


@saved("stream-spaces")
class Spaces(NamedTuple):
    """The weights of P representations of each class, and their sums of squared pulls."""

    drawn: Floats  # A, of shape (T, classes, P)
    joined: Floats  # a, of shape (1, classes, P)
    drawn_sum: Floats
    joined_sum: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n: int, n_outputs: int, size: int, jitter: float
    ) -> Spaces:
        """Mirrored halves: one adds the nets where they sum to more than 0, one where to less.

        So without noise F = F₀ + Σh at first, and no row finds all gates shut; with some, and two
        or three representations, a few rows do.
        """
        sign = np.where(np.arange(size) < (size + 1) // 2, 1.0, -1.0)
        share = np.where(sign > 0, (sign > 0).sum(), (sign < 0).sum())
        drawn = sign + jitter * rng.normal(size=(n, n_outputs, size))
        joined = np.tile(sign / share, (1, n_outputs, 1))
        return cls(drawn, joined, np.zeros_like(drawn), np.zeros_like(joined))


@reordering_kernel
def add_spaces(said: Floats, drawn: Floats, joined: Floats, shown: Floats, score: Floats) -> None:
    """Add to the score of each class what the representations give; ``shown`` is a·relu(z)."""
    for j in range(score.size):
        z = shown[j]
        z[:] = 0.0
        for t in range(drawn.shape[0]):
            weights, h = drawn[t, j], said[t, j]
            for p in range(z.size):
                z[p] += weights[p] * h
        for p in range(z.size):
            z[p] = joined[0, j, p] * max(z[p], 0.0)
            score[j] += z[p]


@reordering_kernel
def chances(score: Floats, chance: Floats) -> None:
    """The chance of the positive class, or of each class."""
    if score.size == 1:
        # Of either sign, the exponential stays below 1.
        e = np.exp(-abs(score[0]))
        chance[0] = 1 / (1 + e) if score[0] >= 0 else e / (1 + e)
        return
    total = 0.0
    top = score.max()
    for j in range(score.size):
        chance[j] = np.exp(score[j] - top)
        total += chance[j]
    for j in range(score.size):
        chance[j] /= total


@reordering_kernel
def learn_spaces(
    x: Floats,
    target: Floats,
    weight: float,
    start: Floats,
    hidden: Floats,
    said: Floats,
    nets: Nets,
    spaces: Spaces,
    aim: int,
    pace: Pace,
    mixing: Pace,
) -> None:
    """Learn from one row. ``target`` is 1 for its class; ``start`` is F₀.

    A net is fitted to the residual of F_{t−1}, or to this times w, what a unit of it adds to
    F_{t−1}; or it descends the loss of F_t.
    """
    inner, outer, inner_sum, outer_sum = nets
    drawn, joined, drawn_sum, joined_sum = spaces
    n, classes, size = drawn.shape
    z = np.zeros((classes, size))
    slope = np.zeros((classes, size))  # of the mean loss, by a
    score, chance = start.copy(), np.empty(classes)
    pull = np.empty(classes)
    for t in range(n):
        chances(score, chance)
        for j in range(classes):
            pull[j] = target[j] - chance[j]
            if aim == SLOPE:
                pull[j] *= _slope(z[j], drawn[t, j], joined[0, j])
            pull[j] = weight * (pull[j] - said[t, j])
            score[j] = start[j] + _advance(z[j], drawn[t, j], joined[0, j], said[t, j])
        chances(score, chance)
        for j in range(classes):
            residual = weight * (target[j] - chance[j])
            if aim == LOSS:
                pull[j] = residual * _slope(z[j], drawn[t, j], joined[0, j])
            pull[j] = min(max(pull[j], -HARDEST_PULL), HARDEST_PULL)
            own, sums = drawn[t, j], drawn_sum[t, j]
            for p in range(size):
                if z[j, p] > 0:
                    slope[j, p] += residual * z[j, p] / n
                    move(own, sums, p, residual * joined[0, j, p] * said[t, j], mixing)
        teach(t, x, hidden, pull, inner, outer, inner_sum, outer_sum, pace)
    for j in range(classes):
        for p in range(size):
            move(joined[0, j], joined_sum[0, j], p, slope[j, p], mixing)


@reordering_kernel
def _slope(z: Floats, drawn: Floats, joined: Floats) -> float:
    """What a unit of a net adds to the score; gates at 0, as all are at first, are half open."""
    total = 0.0
    for p in range(z.size):
        gate = 1.0 if z[p] > 0 else 0.5 if z[p] == 0 else 0.0
        total += gate * joined[p] * drawn[p]
    return total


@reordering_kernel
def _advance(z: Floats, drawn: Floats, joined: Floats, h: float) -> float:
    """Add a net to the representations; what they add up to."""
    total = 0.0
    for p in range(z.size):
        z[p] += drawn[p] * h
        total += joined[p] * max(z[p], 0.0)
    return total

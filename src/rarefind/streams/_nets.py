"""Weak learners of flows: small nets side by side, each of which learns a row at a time.

A net has one hidden layer of tanh units and says one number, or one a class. All nets see the same
row, so they are kept as one array a layer. The last weight of a unit is its offset: a row ends in a
constant 1.

Kernels are given bare arrays where they are called often: reading an array off a tuple costs more
than the work on a short one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import reordering_kernel
from rarefind._core.saved import saved
from rarefind._core.types import Floats

# One row pulls no harder than this, so that weights stay numbers. It must be far above what rows
# do: if rare rows were held back and the many others not, these would drag the weights along.
HARDEST_PULL = 1e4
_TINY = 1e-8


@saved("stream-nets")
class Nets(NamedTuple):
    """The weights of T nets, and beside each the sum of its squared pulls."""

    inner: Floats  # (T, hidden, d + 1)
    outer: Floats  # (T, outputs, hidden + 1)
    inner_sum: Floats
    outer_sum: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n: int, hidden: int, n_features: int, n_outputs: int
    ) -> Nets:
        """Nets that have learned nothing: all different, each unit with an input of size 1."""
        inner = rng.normal(size=(n, hidden, n_features + 1)) / np.sqrt(n_features + 1)
        outer = rng.normal(size=(n, n_outputs, hidden + 1)) / np.sqrt(hidden)
        outer[:, :, -1] = 0.0
        return cls(inner, outer, np.zeros_like(inner), np.zeros_like(outer))


class Pace(NamedTuple):
    """How far a step goes: the rate itself, or over the root of the squared pulls so far."""

    rate: float
    adaptive: bool
    keep: float  # what is kept of the sum of squares at each step


@reordering_kernel
def listen(x: Floats, inner: Floats, outer: Floats, hidden: Floats, said: Floats) -> None:
    """What each net makes of a row: ``hidden`` of shape (T, units), ``said`` of (T, outputs)."""
    units = inner.shape[1]
    for t in range(inner.shape[0]):
        for k in range(units):
            total = 0.0
            for c in range(x.size):
                total += inner[t, k, c] * x[c]
            hidden[t, k] = np.tanh(total)
        for j in range(outer.shape[1]):
            total = outer[t, j, units]
            for k in range(units):
                total += outer[t, j, k] * hidden[t, k]
            said[t, j] = total


@reordering_kernel
def teach(
    t: int,
    x: Floats,
    hidden: Floats,
    pull: Floats,
    inner: Floats,
    outer: Floats,
    inner_sum: Floats,
    outer_sum: Floats,
    pace: Pace,
) -> None:
    """Move what net ``t`` says of the row along ``pull``, which is minus a slope an output."""
    units, outputs = inner.shape[1], outer.shape[1]
    for k in range(units):
        back = 0.0
        for j in range(outputs):
            back += pull[j] * outer[t, j, k]
        back *= 1 - hidden[t, k] ** 2
        weights, sums = inner[t, k], inner_sum[t, k]
        if pace.adaptive:
            for c in range(x.size):
                g = back * x[c]
                sums[c] = pace.keep * sums[c] + g * g
                weights[c] += pace.rate * g / np.sqrt(sums[c] + _TINY)
        else:
            far = pace.rate * back
            for c in range(x.size):
                weights[c] += far * x[c]
    for j in range(outputs):
        for k in range(units + 1):
            g = pull[j] if k == units else pull[j] * hidden[t, k]
            move(outer[t, j], outer_sum[t, j], k, g, pace)


@reordering_kernel
def move(weights: Floats, sums: Floats, k: int, pull: float, pace: Pace) -> None:
    """Move one weight; no row pulls harder than that, so no weight runs away."""
    pull = min(max(pull, -HARDEST_PULL), HARDEST_PULL)
    if pace.adaptive:
        sums[k] = pace.keep * sums[k] + pull * pull
        weights[k] += pace.rate * pull / np.sqrt(sums[k] + _TINY)
    else:
        weights[k] += pace.rate * pull

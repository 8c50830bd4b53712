"""Weak learners of streams: small neural nets side by side, which learn a row at a time.

A net has one hidden layer of tanh units and one output, or one for each class. All nets see the
same row, so each layer of all nets is one array. The last weight of a unit is its bias: a row ends
in a constant 1.

Kernels that are called often take plain arrays: reading an array from a tuple costs more than the
work on a short one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray
from rarefind._core.kernels import reordering_kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Floats

# Gradients of one row are clipped here, so that weights stay finite. The bound must be far above
# usual gradients: if those of rare rows were clipped and the others not, the many would prevail.
LARGEST_GRADIENT = 1e4
_TINY = 1e-8
# Weights of a model file are within these bounds, so that scores are finite.
LARGEST_WEIGHT = 1e90


@saved(
    "stream-nets",
    state=State(
        {
            "inner": FloatArray("nets", "hidden", "d+1", low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT),
            "outer": FloatArray(
                "nets", "outputs", "hidden+1", low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT
            ),
            "inner_sum": FloatArray("nets", "hidden", "d+1", low=0),
            "outer_sum": FloatArray("nets", "outputs", "hidden+1", low=0),
        }
    ),
)
class Nets(NamedTuple):
    """The weights of T nets, and for each the sum of its squared gradients."""

    inner: Floats  # (T, hidden, d + 1)
    outer: Floats  # (T, outputs, hidden + 1)
    inner_sum: Floats
    outer_sum: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n: int, hidden: int, n_features: int, n_outputs: int
    ) -> Nets:
        """Untrained nets, all different; the input of each unit has variance 1."""
        inner = rng.normal(size=(n, hidden, n_features + 1)) / np.sqrt(n_features + 1)
        outer = rng.normal(size=(n, n_outputs, hidden + 1)) / np.sqrt(hidden)
        outer[:, :, -1] = 0.0
        return cls(inner, outer, np.zeros_like(inner), np.zeros_like(outer))


class StepSize(NamedTuple):
    """The rate of a step; if adaptive, over the root of the sum of squared gradients (AdaGrad)."""

    rate: float
    adaptive: bool
    keep: float  # the share of the sum of squares that is kept at each step


@reordering_kernel
def forward(x: Floats, inner: Floats, outer: Floats, hidden: Floats, output: Floats) -> None:
    """Compute for a row ``hidden``, of shape (T, units), and ``output``, of (T, outputs)."""
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
            output[t, j] = total


@reordering_kernel
def backward(
    t: int,
    x: Floats,
    hidden: Floats,
    gradient: Floats,
    inner: Floats,
    outer: Floats,
    inner_sum: Floats,
    outer_sum: Floats,
    step_size: StepSize,
) -> None:
    """Take a step of net ``t``; ``gradient`` is that of minus the loss, by each output."""
    units, outputs = inner.shape[1], outer.shape[1]
    for k in range(units):
        back = 0.0
        for j in range(outputs):
            back += gradient[j] * outer[t, j, k]
        back *= 1 - hidden[t, k] ** 2
        weights, sums = inner[t, k], inner_sum[t, k]
        if step_size.adaptive:
            for c in range(x.size):
                g = back * x[c]
                sums[c] = step_size.keep * sums[c] + g * g
                weights[c] += step_size.rate * g / np.sqrt(sums[c] + _TINY)
        else:
            step = step_size.rate * back
            for c in range(x.size):
                weights[c] += step * x[c]
    for j in range(outputs):
        for k in range(units + 1):
            g = gradient[j] if k == units else gradient[j] * hidden[t, k]
            step_weight(outer[t, j], outer_sum[t, j], k, g, step_size)


@reordering_kernel
def step_weight(
    weights: Floats, sums: Floats, k: int, gradient: float, step_size: StepSize
) -> None:
    """Take a step of one weight, along its clipped gradient."""
    gradient = min(max(gradient, -LARGEST_GRADIENT), LARGEST_GRADIENT)
    if step_size.adaptive:
        sums[k] = step_size.keep * sums[k] + gradient * gradient
        weights[k] += step_size.rate * gradient / np.sqrt(sums[k] + _TINY)
    else:
        weights[k] += step_size.rate * gradient

"""Nets combined in several latent spaces, learning a row at a time (Algorithm 6 of the thesis).

The score of a class is F = F₀ + Σ_p a_p·relu(z_p), z_p = Σ_t A_tp·h_t, where h_t is the output of
net t for that class. F_t has the first t nets only. Net t learns by F_{t−1} or F_t, its weights A_t
descend the loss of F_t, and a descends the mean of these losses. All gradients of a row are taken
at the weights before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray
from rarefind._core.kernels import reordering_kernel
from rarefind._core.saved import rename_fields, saved
from rarefind._core.state import State
from rarefind._core.types import Floats
from rarefind.streams._nets import (
    LARGEST_GRADIENT,
    LARGEST_WEIGHT,
    Nets,
    StepSize,
    backward,
    step_weight,
)

# What a net is fitted to.
RESIDUAL, SLOPE, LOSS = range(3)


_FIELDS_OF_1 = {
    "drawn": "net_weights",
    "joined": "space_weights",
    "drawn_sum": "net_weights_sum",
    "joined_sum": "space_weights_sum",
}


@saved(
    "stream-spaces",
    2,
    state=State(
        {
            "net_weights": FloatArray(
                "nets", "outputs", "spaces", low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT
            ),
            "space_weights": FloatArray(
                1, "outputs", "spaces", low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT
            ),
            "net_weights_sum": FloatArray("nets", "outputs", "spaces", low=0),
            "space_weights_sum": FloatArray(1, "outputs", "spaces", low=0),
        }
    ),
    upgrade=rename_fields(_FIELDS_OF_1),
)
class LatentSpaces(NamedTuple):
    """The weights of P representations of each class, and their sums of squared gradients."""

    net_weights: Floats  # A, of shape (T, classes, P)
    space_weights: Floats  # a, of shape (1, classes, P)
    net_weights_sum: Floats
    space_weights_sum: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n: int, n_outputs: int, size: int, jitter: float
    ) -> LatentSpaces:
        """Two mirrored halves: one adds the nets where their sum is above 0, one where below.

        So F = F₀ + Σh before the first row without jitter, and some gate is open for every row.
        With jitter and only two or three representations, a few rows have all gates closed.
        """
        sign = np.where(np.arange(size) < (size + 1) // 2, 1.0, -1.0)
        share = np.where(sign > 0, (sign > 0).sum(), (sign < 0).sum())
        net_weights = sign + jitter * rng.normal(size=(n, n_outputs, size))
        space_weights = np.tile(sign / share, (1, n_outputs, 1))
        return cls(
            net_weights, space_weights, np.zeros_like(net_weights), np.zeros_like(space_weights)
        )


@reordering_kernel
def add_spaces(
    output: Floats, net_weights: Floats, space_weights: Floats, contributions: Floats, score: Floats
) -> None:
    """Add the contributions a·relu(z) of the representations to the score of each class."""
    for j in range(score.size):
        z = contributions[j]
        z[:] = 0.0
        for t in range(net_weights.shape[0]):
            weights, h = net_weights[t, j], output[t, j]
            for p in range(z.size):
                z[p] += weights[p] * h
        for p in range(z.size):
            z[p] = space_weights[0, j, p] * max(z[p], 0.0)
            score[j] += z[p]


@reordering_kernel
def probabilities(score: Floats, probability: Floats) -> None:
    """The probability of the positive class, or of each class."""
    if score.size == 1:
        # For either sign of the score the exponential is at most 1.
        e = np.exp(-abs(score[0]))
        probability[0] = 1 / (1 + e) if score[0] >= 0 else e / (1 + e)
        return
    total = 0.0
    top = score.max()
    for j in range(score.size):
        probability[j] = np.exp(score[j] - top)
        total += probability[j]
    for j in range(score.size):
        probability[j] /= total


@reordering_kernel
def learn_spaces(
    x: Floats,
    label: Floats,
    weight: float,
    start: Floats,
    hidden: Floats,
    output: Floats,
    nets: Nets,
    spaces: LatentSpaces,
    target: int,
    step_size: StepSize,
    mixing: StepSize,
) -> None:
    """Learn a row. ``label`` is 1 for its class; ``start`` is F₀.

    A net is fitted to the residual of F_{t−1}, or to this times w, the derivative of F_{t−1} by its
    output; or it descends the loss of F_t.
    """
    inner, outer, inner_sum, outer_sum = nets
    net_weights, space_weights, net_weights_sum, space_weights_sum = spaces
    n, classes, size = net_weights.shape
    z = np.zeros((classes, size))
    by_space = np.zeros((classes, size))  # gradient of minus the mean loss, by a
    score, probability = start.copy(), np.empty(classes)
    gradient = np.empty(classes)
    for t in range(n):
        probabilities(score, probability)
        for j in range(classes):
            gradient[j] = label[j] - probability[j]
            if target == SLOPE:
                gradient[j] *= _derivative(z[j], net_weights[t, j], space_weights[0, j])
            gradient[j] = weight * (gradient[j] - output[t, j])
            score[j] = start[j] + _advance(
                z[j], net_weights[t, j], space_weights[0, j], output[t, j]
            )
        probabilities(score, probability)
        for j in range(classes):
            residual = weight * (label[j] - probability[j])
            if target == LOSS:
                gradient[j] = residual * _derivative(z[j], net_weights[t, j], space_weights[0, j])
            gradient[j] = min(max(gradient[j], -LARGEST_GRADIENT), LARGEST_GRADIENT)
            own, sums = net_weights[t, j], net_weights_sum[t, j]
            for p in range(size):
                if z[j, p] > 0:
                    by_space[j, p] += residual * z[j, p] / n
                    step_weight(
                        own, sums, p, residual * space_weights[0, j, p] * output[t, j], mixing
                    )
        backward(t, x, hidden, gradient, inner, outer, inner_sum, outer_sum, step_size)
    for j in range(classes):
        for p in range(size):
            step_weight(space_weights[0, j], space_weights_sum[0, j], p, by_space[j, p], mixing)


@reordering_kernel
def _derivative(z: Floats, net_weights: Floats, space_weights: Floats) -> float:
    """Derivative of the score by a net's output; gates at 0, as all are at first, are half open."""
    total = 0.0
    for p in range(z.size):
        gate = 1.0 if z[p] > 0 else 0.5 if z[p] == 0 else 0.0
        total += gate * space_weights[p] * net_weights[p]
    return total


@reordering_kernel
def _advance(z: Floats, net_weights: Floats, space_weights: Floats, h: float) -> float:
    """Add a net to the representations; return their sum."""
    total = 0.0
    for p in range(z.size):
        z[p] += net_weights[p] * h
        total += space_weights[p] * max(z[p], 0.0)
    return total

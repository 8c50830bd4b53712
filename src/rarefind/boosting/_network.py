"""Learners in several latent spaces: F = F₀ + relu(H·A)·a, grown by a learner at a time.

H holds the learners' outputs, a column each; A (a row a learner) draws them into P representations;
a joins these to one score, or to one a class. A representation adds to the score of a row where its
gate is open, z > 0; where gates do not change, the score is linear in the learners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, softmax

from rarefind._core.fields import FloatArray
from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats

# The part of the mean curvature that is added to every one: where gates are shut there is none.
_RIDGE = 0.1
_TINY = 1e-10
# A weight moves by no more than this in a step, and a step is halved so often until the loss falls.
_LONGEST_STEP = 1.0
_HALVINGS = 5
# Weights of a model file are within these bounds, so that scores are finite.
_LARGEST = 1e90


@saved(
    "nlb-network",
    state=State(
        {
            "inner": FloatArray("learners", "spaces", low=-_LARGEST, high=_LARGEST),
            "outer": FloatArray("spaces", "scores", low=-_LARGEST, high=_LARGEST),
            "start": FloatArray("scores", low=-_LARGEST, high=_LARGEST),
        }
    ),
)
class Network(NamedTuple):
    """The weights: a row of ``inner`` a learner, a row of ``outer`` a representation."""

    inner: Floats  # A, of shape (learners, representations)
    outer: Floats  # a, of shape (representations, scores)
    start: Floats  # F₀, one a score

    def scores(self, learned: Floats) -> Floats:
        """F of shape (rows, scores), from the learners' outputs of shape (rows, learners).

        A row is summed up on its own, so that it does not depend on the others.
        """
        return _forward(np.ascontiguousarray(learned), self.inner, self.outer, self.start)

    def slopes(self, learned: Floats) -> Floats:
        """What a unit of each learner adds to the (first) score of a row while no gate moves."""
        open_ = learned @ self.inner > 0
        return np.asarray((open_ * self.outer[:, 0]) @ self.inner.T)


class Loss(NamedTuple):
    """Weighted logistic loss of one score a row, or of one a class."""

    target: Floats  # (rows, scores): 1 for the row's class
    weight: Floats

    def value(self, scores: Floats) -> float:
        """The loss, summed over rows."""
        if scores.shape[1] == 1:
            margin = np.where(self.target[:, 0] > 0, scores[:, 0], -scores[:, 0])
            return float(self.weight @ np.logaddexp(0, -margin))
        return float(-self.weight @ (self.target * log_softmax(scores, axis=1)).sum(axis=1))

    def derivatives(self, scores: Floats) -> tuple[Floats, Floats]:
        """Residuals, which are minus the first derivatives, and the second ones."""
        probability = expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1)
        weight = self.weight[:, None]
        return weight * (self.target - probability), weight * np.maximum(
            probability * (1 - probability), 1e-12
        )


class NetworkBuilder:
    """A network in the making, with what its representations are at the training rows.

    Representations come in blocks, one a score, half of each with positive and half with negative
    outer weights, so that some gate is open wherever the first learner of the block is not 0.
    """

    def __init__(self, loss: Loss, start: Floats, block: int, rng: np.random.Generator) -> None:
        self.loss, self._rng, self._block = loss, rng, block
        n, k = loss.target.shape
        self._z = np.zeros((n, block * k))
        self._sign = np.where(np.arange(block) < block // 2, 1.0, -1.0)
        self.inner: list[Floats] = []
        self.outer = np.zeros((block * k, k))
        self.start = start
        self.scores = np.tile(start, (n, 1))
        self._value = loss.value(self.scores)

    def network(self) -> Network:
        """The weights as they are."""
        return Network(np.array(self.inner), self.outer, self.start)

    @property
    def value(self) -> float:
        """The loss of the training rows."""
        return self._value

    def propose(self, score: int, jitter: float | None, align: bool) -> tuple[Floats, Floats]:
        """Weights A_t of a learner meant for one score, and what it then adds to each score.

        They are drawn from U(−1, 1), or with ``jitter`` are ±1 and normal noise. The first learner
        of a block opens its gates. Later ones are moved, by least squares, to add to each row about
        what they are themselves: else the gates as they are would have the tree fit to little more
        than chance.
        """
        block = slice(score * self._block, (score + 1) * self._block)
        drawn = np.zeros(len(self.outer))
        if jitter is None:
            drawn[block] = self._rng.uniform(-1, 1, self._block)
        else:
            drawn[block] = self._sign + jitter * self._rng.normal(size=self._block)
        own = np.zeros(self.scores.shape)
        if not self._z[:, block].any():
            drawn[block] = self._sign * np.abs(drawn[block])
            for sign in (1.0, -1.0):
                same = np.flatnonzero(self._sign == sign) + block.start
                self.outer[same, score] = sign / np.abs(drawn[same]).sum()
            own[:, score] = 1.0
            return drawn, own
        gates = (self._z[:, block] > 0) * self.outer[block, score]
        if align:
            curvature = self.loss.derivatives(self.scores)[1][:, score]
            missing = 1 - gates @ drawn[block]
            drawn[block] += _ridge_solve(
                (gates * curvature[:, None]).T @ gates, gates.T @ (curvature * missing)
            )
        own[:, score] = gates @ drawn[block]
        return drawn, own

    def add(self, learned: Floats, inner: Floats) -> None:
        """Take a learner in with these weights, halved until the loss does not rise."""
        for _ in range(_HALVINGS + 3):
            z = self._z + learned[:, None] * inner
            if self._try(z, self.outer):
                self.inner.append(inner)
                return
            inner = inner / 2
        self.inner.append(np.zeros_like(inner))

    def turn(self, learned: Floats, rate: float) -> None:
        """One Newton step for all weights A_t of the last learner."""
        residual, curvature = self.loss.derivatives(self.scores)
        gates = self._z > 0
        pull = ((gates * learned[:, None]).T @ residual * self.outer).sum(axis=1)
        bend = np.zeros((len(self.outer), len(self.outer)))
        for k in range(self.scores.shape[1]):
            own = slice(k * self._block, (k + 1) * self._block)  # the others have no weight in it
            joined = gates[:, own] * self.outer[own, k]
            bend[own, own] = (joined * (curvature[:, k] * learned**2)[:, None]).T @ joined
        self._step(rate * _ridge_solve(bend, pull), learned)

    def weigh(self, rate: float) -> None:
        """A Newton step for each weight a of a representation in its own score, one by one."""
        for p, k in zip(*np.nonzero(self.outer), strict=True):
            shown = np.maximum(self._z[:, p], 0)
            residual, curvature = self.loss.derivatives(self.scores)
            bend = curvature[:, k] @ shown**2
            if bend <= _TINY:
                continue  # a shut gate
            change = np.zeros_like(self.outer)
            change[p, k] = rate * (residual[:, k] @ shown) / (bend * (1 + _RIDGE))
            for _ in range(_HALVINGS):
                if self._try(self._z, self.outer + change):
                    break
                change /= 2

    def _step(self, change: Floats, learned: Floats) -> None:
        change = np.clip(change, -_LONGEST_STEP, _LONGEST_STEP)
        for _ in range(_HALVINGS):
            if self._try(self._z + learned[:, None] * change, self.outer):
                self.inner[-1] = self.inner[-1] + change
                return
            change = change / 2

    def _try(self, z: Floats, outer: Floats) -> bool:
        """Go there if the loss does not rise."""
        scores = self.start + np.maximum(z, 0) @ outer
        value = self.loss.value(scores)
        if not value <= self._value:
            return False
        self._z, self.outer, self.scores, self._value = z, outer, scores, value
        return True


def _ridge_solve(bend: Array, pull: Array) -> Floats:
    """The Newton step, with a part of the mean curvature added to all."""
    ridge = _RIDGE * np.trace(bend) / len(bend) + _TINY
    return np.asarray(np.linalg.solve(bend + ridge * np.eye(len(bend)), pull))


@kernel
def _forward(learned: Floats, inner: Floats, outer: Floats, start: Floats) -> Floats:
    n, p = learned.shape[0], inner.shape[1]
    scores = np.empty((n, start.size))
    for i in range(n):
        scores[i] = start
        for r in range(p):
            z = 0.0
            for t in range(learned.shape[1]):
                z += learned[i, t] * inner[t, r]
            if z > 0:
                for k in range(start.size):
                    scores[i, k] += outer[r, k] * z
    return scores

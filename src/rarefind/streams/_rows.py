"""Rows on their way through the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rarefind._core.types import ArrayLike, Bools, Floats, Ints
from rarefind.streams._loop import StreamSettings, process_rows
from rarefind.streams._state import Learners, StreamState

# Weights of rows are at most this, so that their sums are finite.
_LARGEST_WEIGHT = 1e50


class StreamRows(NamedTuple):
    """Rows, in order, with weights above 0 where they are to be learned."""

    X: Floats
    codes: Ints  # of two classes, 1 is the positive one
    weight: Floats
    known: Floats = np.empty((0, 1))  # scores from when the rows came

    def take(self, rows: Ints | Bools | slice) -> StreamRows:
        """Some of the rows."""
        known = self.known[rows] if len(self.known) else self.known
        return StreamRows(self.X[rows], self.codes[rows], self.weight[rows], known)


def row_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """Weights of the next rows; all may be 0, which scikit-learn does not allow."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.atleast_1d(np.asarray(sample_weight, dtype=np.float64))
    if weight.shape != (n,):
        raise ValueError(f"{weight.size} weights were given for {n} rows.")
    if not (weight >= 0).all() or not (weight <= _LARGEST_WEIGHT).all():
        raise ValueError("A weight of a row is below 0, not a number, or too large.")
    return weight


def run_stream(
    rows: StreamRows,
    state: StreamState,
    fresh: Learners,
    settings: StreamSettings,
    learning: bool = False,
    validating: bool = False,
) -> Floats:
    """Score rows, and validate or learn them."""
    X, codes, weight, known = rows
    if not X.flags.carray:
        # The kernel is compiled for each layout of arrays: one that can be written to is enough.
        X = np.require(X, requirements=["C", "A", "W"])
    return process_rows(X, codes, weight, known, state, fresh, settings, learning, validating)


def learn_epochs(
    state: StreamState,
    fresh: Learners,
    settings: StreamSettings,
    rows: StreamRows,
    epochs: int,
    step: Callable[[], None],
) -> None:
    """Learn a table again and again, shuffled each time."""
    rng = np.random.default_rng(int(state.generator[0]))
    for _ in range(epochs):
        order = rng.permutation(len(rows.X))
        run_stream(rows.take(order), state, fresh, settings, learning=True)
        step()

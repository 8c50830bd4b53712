"""Rows on their way through a flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.types import ArrayLike, Floats, Ints
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._spaces import Spaces
from rarefind.streams._stream import Settings, State, flow

# A weight of a row is no larger, so that sums of them are numbers.
_HEAVIEST = 1e50


class FlowRows(NamedTuple):
    """Rows, in order, with weights above 0 where they are to be learned."""

    X: Floats
    places: Ints
    weight: Floats
    known: Floats = np.empty((0, 1))  # scores from when the rows came

    def take(self, rows: Ints | slice) -> FlowRows:
        """Some of the rows."""
        known = self.known[rows] if len(self.known) else self.known
        return FlowRows(self.X[rows], self.places[rows], self.weight[rows], known)


def share_of(part: float, rest: float) -> float:
    """The share of a part in the whole."""
    return float(part / (part + rest)) if part + rest else np.nan


def row_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """Weights of the next rows; all may be 0, which scikit-learn refuses."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.atleast_1d(np.asarray(sample_weight, dtype=np.float64))
    if weight.shape != (n,):
        raise ValueError(f"{weight.size} weights were given for {n} rows.")
    if not (weight >= 0).all() or not (weight <= _HEAVIEST).all():
        raise ValueError("A weight of a row is below 0, or no number, or too large.")
    return weight


def run_flow(
    rows: FlowRows,
    state: State,
    fresh: tuple[Nets, Spaces, Votes],
    settings: Settings,
    learning: bool = False,
    watching: bool = False,
) -> Floats:
    """Score rows, and judge or learn them."""
    # The kernel is compiled for each layout of arrays: one that can be written to is enough.
    X = np.require(rows.X, requirements=["C", "W"])
    return flow(X, rows.places, rows.weight, rows.known, state, fresh, settings, learning, watching)


def learn_epochs(
    state: State,
    fresh: tuple[Nets, Spaces, Votes],
    settings: Settings,
    rows: FlowRows,
    epochs: int,
    step: Callable[[], None],
) -> None:
    """Learn a table again and again, shuffled each time."""
    rng = np.random.default_rng(int(state.chance[0]))
    for _ in range(epochs):
        order = rng.permutation(len(rows.X))
        run_flow(rows.take(order), state, fresh, settings, learning=True)
        step()


def copied(tree: Any) -> Any:
    """A copy of nested tuples of arrays."""
    if isinstance(tree, tuple):
        copies = [copied(part) for part in tree]
        return type(tree)(*copies) if hasattr(tree, "_fields") else tuple(copies)
    return tree.copy()

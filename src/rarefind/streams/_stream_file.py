"""Flows from a file: kernels trust the shapes of arrays, so these are looked through first."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind.streams._adwin import BUCKETS
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._spaces import Spaces
from rarefind.streams._stream import State
from rarefind.streams._waiting import Waiting

Learners = tuple[Nets, Spaces, Votes]


def check_state(state: State, fresh: Learners, waiting: Waiting, d: int, k: int) -> None:
    """Refuse arrays that no flow of ``d`` columns and ``k`` classes would have."""
    if k < 2:
        raise ValueError("The classes of the model cannot be.")
    outputs = 1 if k == 2 else k
    n, hidden = state.nets.inner.shape[:2]
    spaces = state.spaces.drawn.shape[2]
    learners = _learners(n, hidden, d, outputs, spaces)
    like = State.start(learners, d, k, len(state.memory.rows), 0)
    # Remembered rows are as they came, with their holes.
    whole = state._replace(memory=state.memory._replace(rows=np.nan_to_num(state.memory.rows)))
    if not (_alike(whole, like) and _alike(fresh, learners)):
        raise ValueError("The arrays of the model are not those of its learners.")
    window = state.watch.window
    counts = (state.memory.count, state.watch.count, window.count, window.used)
    if any((count < 0).any() for count in counts) or (window.used > BUCKETS).any():
        raise ValueError("The counts of the model cannot be.")
    if window.width != int(window.used @ 2 ** np.arange(window.used.size)):
        raise ValueError("The window of the model is not that of its rows.")
    if type(waiting) is not Waiting or not waiting.is_of(d, outputs + 1):
        raise ValueError("The rows that wait are not rows of this model.")


def _learners(n: int, hidden: int, d: int, outputs: int, spaces: int) -> Learners:
    """Some of these sizes."""
    rng = np.random.default_rng(0)
    return (
        Nets.draw(rng, n, hidden, d, outputs),
        Spaces.draw(rng, n, outputs, spaces, 0.0),
        Votes.start(1, n),
    )


def _alike(tree: Any, like: Any) -> bool:
    """Whether nested tuples hold arrays of the same shapes and types, with finite numbers."""
    if isinstance(like, tuple):
        same = type(tree) is type(like) and len(tree) == len(like)
        return same and all(map(_alike, tree, like))
    return (
        isinstance(tree, np.ndarray)
        and tree.shape == like.shape
        and tree.dtype == like.dtype
        and (tree.dtype.kind != "f" or bool(np.isfinite(tree).all()))
    )

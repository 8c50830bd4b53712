"""Checks of streams from a file: kernels trust the shapes of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind.streams._adwin import BUCKETS
from rarefind.streams._late_labels import WaitingRows
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._spaces import LatentSpaces
from rarefind.streams._state import Learners, StreamState


def check_state(state: StreamState, fresh: Learners, waiting: WaitingRows, d: int, k: int) -> None:
    """Raise where the arrays cannot be those of a stream of ``d`` columns and ``k`` classes."""
    if k < 2:
        raise ValueError("The model has fewer than two classes.")
    outputs = 1 if k == 2 else k
    n, hidden = state.nets.inner.shape[:2]
    spaces = state.spaces.net_weights.shape[2]
    learners = _some_learners(n, hidden, d, outputs, spaces)
    like = StreamState.start(learners, d, k, len(state.memory.rows), 0)
    # Remembered rows are as they came, with their missing values.
    filled = state._replace(memory=state.memory._replace(rows=np.nan_to_num(state.memory.rows)))
    if not (_alike(filled, like) and _alike(fresh, learners)):
        raise ValueError("The arrays of the model do not fit its learners.")
    window = state.validation.window
    counts = (state.memory.count, state.validation.count, window.count, window.used)
    if any((count < 0).any() for count in counts) or (window.used > BUCKETS).any():
        raise ValueError("The counts of the model are out of range.")
    if window.width != int(window.used @ 2 ** np.arange(window.used.size)):
        raise ValueError("The window of the model does not fit its rows.")
    if type(waiting) is not WaitingRows or not waiting.has_sizes(d, outputs + 1):
        raise ValueError("The waiting rows are not rows of this model.")


def _some_learners(n: int, hidden: int, d: int, outputs: int, spaces: int) -> Learners:
    """Learners of these sizes."""
    rng = np.random.default_rng(0)
    return (
        Nets.draw(rng, n, hidden, d, outputs),
        LatentSpaces.draw(rng, n, outputs, spaces, 0.0),
        Votes.start(1, n),
    )


def _alike(tree: Any, like: Any) -> bool:
    """Whether nested tuples have arrays of the same shapes and types, with finite numbers."""
    if isinstance(like, tuple):
        same = type(tree) is type(like) and len(tree) == len(like)
        return same and all(map(_alike, tree, like))
    return (
        isinstance(tree, np.ndarray)
        and tree.shape == like.shape
        and tree.dtype == like.dtype
        and (tree.dtype.kind != "f" or bool(np.isfinite(tree).all()))
    )

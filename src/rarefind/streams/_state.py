"""What is known of a stream: learners, columns, classes, remembered positives, validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rarefind._core.fields import FloatArray, IntArray, Object, StateError
from rarefind._core.saved import rename_fields, saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats, Ints
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._spaces import LatentSpaces
from rarefind.streams._validation import ProgressiveValidation

Learners: TypeAlias = tuple[Nets, LatentSpaces, Votes]


def _check_memory(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if state["count"][0] and not sizes["n"]:
        raise StateError("there is no room for what was put in")


@saved(
    "stream-memory",
    state=State(
        {
            "rows": FloatArray("n", "d", nan=True),
            "count": IntArray(1, low=0, high=2**62, dtype=np.intp),
        },
        _check_memory,
    ),
)
class PositiveMemory(NamedTuple):
    """The latest positives, in a ring, to be learned again among the many negatives."""

    rows: Floats  # (size, d)
    count: Ints  # type: ignore[assignment]  # (1,): positives ever put in


_FIELDS_OF_1 = {
    "spread": "variance",
    "filled": "column_weight",
    "chance": "generator",
    "watch": "validation",
}


@saved(
    "stream-state",
    2,
    state=State(
        {
            "nets": Object("stream-nets", nets="nets", hidden="hidden", d="d", outputs="outputs"),
            "spaces": Object("stream-spaces", nets="nets", outputs="outputs", spaces="spaces"),
            "votes": Object("stream-votes", nets="nets"),
            "mean": FloatArray("d"),
            "variance": FloatArray("d", low=0),
            "column_weight": FloatArray("d", low=0, high=1e300),
            "share": FloatArray("classes", low=-1e-9, high=1 + 1e-9),
            "weight": FloatArray(1, above=0, high=1e300),
            "memory": Object("stream-memory", d="d"),
            "generator": IntArray(1, low=0, high=2**64, dtype=np.uint64),
            "validation": Object("stream-watch", outputs="outputs", spaces="spaces"),
        }
    ),
    upgrade=rename_fields(_FIELDS_OF_1),
)
class StreamState(NamedTuple):
    """All that a learner of a stream knows. Of two classes the positive one is the second."""

    nets: Nets
    spaces: LatentSpaces
    votes: Votes
    mean: Floats  # (d,), of the columns
    variance: Floats  # (d,), of the columns
    column_weight: Floats  # (d,), of the rows in which each column was not missing
    share: Floats  # (classes,), of the rows learned
    weight: Floats  # (1,), of the rows learned
    memory: PositiveMemory
    generator: Array  # (1,) uint64, the state of the random generator
    validation: ProgressiveValidation

    @classmethod
    def start(cls, learners: Learners, d: int, k: int, memory: int, seed: int) -> StreamState:
        """Before the first row, of ``d`` columns and ``k`` classes."""
        _, outputs, spaces = learners[1].net_weights.shape
        return cls(
            *learners,
            mean=np.zeros(d),
            variance=np.zeros(d),
            column_weight=np.zeros(d),
            share=np.full(k, 1 / k),
            weight=np.ones(1),
            memory=PositiveMemory(np.zeros((memory, d)), np.zeros(1, dtype=np.intp)),
            generator=np.array([seed], dtype=np.uint64),
            validation=ProgressiveValidation.start(outputs, spaces),
        )


def copy_arrays(tree: Any) -> Any:
    """A copy of nested tuples of arrays."""
    if isinstance(tree, tuple):
        copies = [copy_arrays(part) for part in tree]
        return type(tree)(*copies) if hasattr(tree, "_fields") else tuple(copies)
    return tree.copy()

"""What is known of a stream: learners, columns, classes, remembered positives, validation."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rarefind._core.saved import rename_fields, saved
from rarefind._core.types import Array, Floats, Ints
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._spaces import LatentSpaces
from rarefind.streams._validation import ProgressiveValidation

Learners: TypeAlias = tuple[Nets, LatentSpaces, Votes]


@saved("stream-memory")
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


@saved("stream-state", 2, upgrade=rename_fields(_FIELDS_OF_1))
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

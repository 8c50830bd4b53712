"""A tree of trees with scores: what ranks rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray, Object, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints
from rarefind.trees._borders import blend
from rarefind.trees._prune import Pruning, leaves_at, node_scores
from rarefind.trees.graph import MetaTree


def _check_width(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if sizes["width"] not in (0, sizes["conditions"]):
        raise StateError("'width' is not that of the conditions")


@saved(
    "tree-ranker",
    state=State(
        {
            "tree": Object("meta-tree", nodes="nodes", conditions="conditions", columns="columns"),
            "score": FloatArray("nodes", low=0, high=1),
            "width": FloatArray("width", low=0),
        },
        _check_width,
    ),
)
class Ranker(NamedTuple):
    """A tree in its shape, the score of each outer node, and bands to break ties by."""

    tree: MetaTree
    score: Floats
    width: Floats  # half the band around each condition's threshold; empty where ties stay

    @classmethod
    def of(cls, grown: MetaTree, shape: Pruning, scores: str, width: Floats) -> Ranker:
        """Give a grown tree its shape; ``width`` is that of all its conditions, or empty."""
        pruned = grown.prune(grown.nodes.depth < shape.depth)
        score = node_scores(grown.nodes, shape, scores)[pruned.nodes]
        return cls(pruned.tree, score, width[pruned.conditions] if width.size else width)

    def priority(self, X: Floats) -> Floats:
        """Score of each row: that of its leaf, moved within the leaf's place by near borders."""
        tree, X = self.tree.on_own_columns(X)
        leaf = tree.apply(X)
        if not self.width.size:
            return self.score[leaf]
        return move_within(leaf, self._mean(tree, X), self.score, tree.is_leaf)

    def blend(self, X: Floats) -> Floats:
        """Mean score of the leaves that each row is near to; of its own alone without bands."""
        tree, X = self.tree.on_own_columns(X)
        return self._mean(tree, X) if self.width.size else self.score[tree.apply(X)]

    def blend_coded(self, coded: Floats) -> Floats:
        """The same of rows whose categories are coded, as of :meth:`MetaTree.encode`."""
        tree = self.tree._replace(levels={})
        return self._mean(tree, coded) if self.width.size else self.score[tree.apply(coded)]

    def _mean(self, tree: MetaTree, X: Floats) -> Floats:
        value = np.where(tree.is_leaf, self.score, 0.0)[:, None]
        return blend(tree, X, self.width, value)[:, 0]


def shape_priorities(
    grown: MetaTree, shapes: list[Pruning], scores: str, width: Floats, X: Floats
) -> Iterator[Floats]:
    """Priorities of the rows by a grown tree in each of several shapes, at little more than one."""
    deepest = grown.apply(X)
    score = [node_scores(grown.nodes, shape, scores) for shape in shapes]
    is_leaf = [leaves_at(grown.nodes, shape.depth) for shape in shapes]
    mean = np.empty((len(X), 0))
    if width.size:
        value = [np.where(leaf, own, 0.0) for leaf, own in zip(is_leaf, score, strict=True)]
        mean = blend(grown, X, width, np.column_stack(value))
    for i, shape in enumerate(shapes):
        leaf = grown.leaf_under(grown.nodes.depth < shape.depth)[deepest]
        yield move_within(leaf, mean[:, i], score[i], is_leaf[i]) if width.size else score[i][leaf]


def move_within(leaf: Ints, mean: Floats, score: Floats, is_leaf: Bools) -> Floats:
    """Move scores towards the mean of near leaves, less than half the way to the next leaf's."""
    own, low, high = score[leaf], *(beside[leaf] for beside in next_scores(score, is_leaf))
    up = np.minimum(np.maximum(mean - own, 0) / np.maximum(1 - own, 1e-300), 1)
    down = np.minimum(np.maximum(own - mean, 0) / np.maximum(own, 1e-300), 1)
    return np.asarray(own + 0.49 * (up * (high - own) - down * (own - low)))


def next_scores(score: Floats, is_leaf: Bools) -> tuple[Floats, Floats]:
    """The next lower and the next higher score of a leaf, or 0 and 1, for each outer node."""
    ranked = np.unique(score[is_leaf])
    low = np.append(0.0, ranked)[np.searchsorted(ranked, score, side="left")]
    high = np.append(ranked, 1.0)[np.searchsorted(ranked, score, side="right")]
    return low, high

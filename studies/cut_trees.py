"""Ordinary trees cut at each depth, with rows ranked by leaves or by the distance to thresholds.

A tree that is grown to depth d is the first d levels of one that is grown deeper, but for splits
that are worth the same: so a tree is grown once, and read at every depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from studies.arrays import Bools, Floats, Ints

#: How rows are ranked: by the share of positives in their leaf; by the distance to the nearest
#: threshold on their way, below zero where positives are not the majority.
LEAF, DISTANCE = "leaf", "distance"


def scores_by_depth(tree: Any, X: Floats, depths: list[int], by: str) -> Floats:
    """The scores of rows, a line a depth, by a tree of scikit-learn (its attribute ``tree_``)."""
    levels = list(_walk(tree, X, max(depths)))
    found = []
    for depth in depths:
        node, gap = levels[min(depth, len(levels) - 1)]
        share = tree.value[node, 0, 1]
        found.append(share if by == LEAF else np.where(share > 0.5, gap, -gap))
    return np.array(found)


def conditions_by_depth(tree: Any, depths: list[int]) -> list[int]:
    """How many conditions the tree has when it is cut at each depth."""
    inner: Bools = tree.children_left >= 0
    depth_of: Ints = np.zeros(inner.size, dtype=np.intp)
    for node in np.flatnonzero(inner):  # parents come before their children
        depth_of[[tree.children_left[node], tree.children_right[node]]] = depth_of[node] + 1
    return [int((inner & (depth_of < depth)).sum()) for depth in depths]


def _walk(tree: Any, X: Floats, deepest: int) -> Iterator[tuple[Ints, Floats]]:
    """The node of each row and its distance to the nearest threshold above, level by level."""
    rows = X.astype(np.float32)  # as scikit-learn compares them
    node: Ints = np.zeros(len(X), dtype=np.intp)
    gap = np.full(len(X), np.finfo(float).max)
    yield node, gap
    for _ in range(deepest):
        moving = np.flatnonzero(tree.children_left[node] >= 0)
        if not moving.size:
            return
        at = node[moving]
        over = rows[moving, tree.feature[at]] - tree.threshold[at]
        node, gap = node.copy(), gap.copy()
        gap[moving] = np.minimum(gap[moving], np.abs(over))
        node[moving] = np.where(over <= 0, tree.children_left[at], tree.children_right[at])
        yield node, gap

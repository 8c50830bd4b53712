"""How far a tree of trees is split, and how its leaves are scored: what held-out rows say.

The trees of the folds are grown whole once. Each is kept as the counts of its outer nodes, those it
was grown on and those held out, so any pruning, smoothing or budget is judged without growing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._typing import Array, Bools, Floats, Ints
from rarefind.metrics._inputs import cumulate
from rarefind.trees._graph import MetaTree, OuterNodes

SMOOTHINGS = (1.0, 4.0, 16.0, 64.0)


class Shape(NamedTuple):
    """How a grown tree is used: how many outer levels of it, and how its scores are smoothed."""

    depth: int
    smoothing: float


class CountedTree(NamedTuple):
    """The outer nodes of a tree, with the rows it was grown on and rows that were held out."""

    nodes: OuterNodes
    held: Floats  # (nodes, 2): weight held out, weight of its positives

    @classmethod
    def of(cls, tree: MetaTree, leaf: Ints, is_positive: Bools, weight: Floats) -> CountedTree:
        """Count held-out rows in their leaves and in all outer nodes above."""
        held = np.zeros((tree.is_leaf.size, 2))
        np.add.at(held, leaf, np.column_stack([weight, weight * is_positive]))
        for node in range(len(held) - 1, 0, -1):
            held[tree.nodes.parent[node]] += held[node]
        return cls(tree.nodes, held)

    def table(self, shape: Shape, scores: str) -> Floats:
        """Score, held-out weight and positives of each leaf of the tree in this shape."""
        chosen = leaves_at(self.nodes, shape.depth) & (self.held[:, 0] > 0)
        score = node_scores(self.nodes, shape, scores)
        return np.column_stack([score, self.held])[chosen]


def leaves_at(nodes: OuterNodes, depth: int) -> Bools:
    """Which outer nodes are leaves if the tree is cut at ``depth``."""
    return np.asarray((nodes.depth == depth) | ((nodes.root < 0) & (nodes.depth < depth)))


def node_scores(nodes: OuterNodes, shape: Shape, scores: str) -> Floats:
    """Score of each outer node: its smoothed precision, or its position from left to right."""
    if scores == "precision":
        return smoothed(nodes.parent, nodes.sums, shape.smoothing)
    return positions(nodes, shape.depth)


def smoothed(parent: Array, sums: Floats, smoothing: float) -> Floats:
    """Precision of each outer node, drawn towards that of its parent by ``smoothing`` rows."""
    score = np.empty(len(parent))
    score[0] = sums[0, 2] / sums[0, 1]
    for node in range(1, len(parent)):
        _, weight, positive = sums[node]
        score[node] = (positive + smoothing * score[parent[node]]) / (weight + smoothing)
    return score


def positions(nodes: OuterNodes, depth: int) -> Floats:
    """TreeRank's scores: 1 for the first leaf of the tree cut at ``depth``, falling evenly.

    Its theory numbers the leaves of a full tree from left to right; here they are those there are.
    """
    is_leaf = leaves_at(nodes, depth)
    leaves, stack = [], [0]
    while stack:
        node = stack.pop()
        if is_leaf[node]:
            leaves.append(node)
        else:
            stack += [int(nodes.second[node]), int(nodes.first[node])]
    score = np.zeros(len(nodes.root))
    score[leaves] = 1 - np.arange(len(leaves)) / len(leaves)
    return score


def ranking_value(
    score: Floats, weight: Floats, positive: Floats, target: str, share: float | None
) -> float:
    """What a ranking is worth, ties in expectation; NaN where it holds one class only.

    ``weight`` is that of each row or leaf, ``positive`` that of its positives. ``target`` is
    ``"average_precision"``, ``"roc_auc"`` or, for a ``share`` of the weight, ``"precision_at_k"``.
    """
    _, w, p = cumulate(score, weight, positive)
    if p[-1] <= 0 or p[-1] >= w[-1]:
        return np.nan
    before_w, before_p = np.append(0.0, w[:-1]), np.append(0.0, p[:-1])
    if target == "precision_at_k":
        assert share is not None
        k = share * w[-1]
        at = int(np.searchsorted(w, k * (1 - 1e-12)))
        part = (k - before_w[at]) / (w[at] - before_w[at])
        return float((before_p[at] + part * (p[at] - before_p[at])) / k)
    if target == "roc_auc":
        negatives = (w - p) - (before_w - before_p)
        return float((negatives * (before_p + p) / 2).sum() / (p[-1] * (w[-1] - p[-1])))
    return float(((p - before_p) * p / w).sum() / p[-1])


def mean_of_folds(values: list[Floats]) -> Floats:
    """Mean over the folds in which the ranking is worth something at all."""
    table = np.array(values)
    known = ~np.isnan(table)
    total = np.where(known, table, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)

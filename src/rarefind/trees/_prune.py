"""How far a tree of trees is split, and how its leaves are scored: what held-out rows say.

The trees of the folds are grown whole once, and every pruning and smoothing of them is judged. How
each ranks the held-out rows is kept, so that another budget needs no growing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.metrics.inputs import cumulate
from rarefind.trees.graph import OuterNodes, left_to_right

SMOOTHINGS = (1.0, 4.0, 16.0, 64.0)
_PLACES = 512
_AROUND = np.geomspace(0.5, 2.0, 5)


class Pruning(NamedTuple):
    """How a grown tree is used: how many outer levels of it, and how its scores are smoothed."""

    depth: int
    smoothing: float


def _check_ranking(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    weight, positive = state["weight"], state["positive"]
    falls = (state["score"][1:] < state["score"][:-1]).all()
    if not sizes["n"] or not falls or weight[0] <= 0 or (positive > weight * (1 + 1e-9)).any():
        raise StateError("the rows are not ranked")


@saved(
    "meta-tree-held-out",
    state=State(
        {
            "score": FloatArray("n"),
            "weight": FloatArray("n", low=0, rising=True),
            "positive": FloatArray("n", low=0, rising=True),
        },
        _check_ranking,
    ),
)
class HeldOutRanking(NamedTuple):
    """Held-out rows as a tree ranks them: scores going down the list, and running sums there."""

    score: Floats
    weight: Floats
    positive: Floats

    @classmethod
    def of(cls, score: Floats, weight: Floats, is_positive: Bools) -> HeldOutRanking:
        """Go down the list."""
        return cls(*cumulate(score, weight, weight * is_positive))

    def thin(self) -> HeldOutRanking:
        """The first places, and ever fewer further down: enough for any budget and threshold."""
        kept = _places(self.score.size)
        return HeldOutRanking(self.score[kept], self.weight[kept], self.positive[kept])

    def worth(self, target: str) -> float:
        """Average precision or ``"roc_auc"``, ties in expectation; NaN for one class."""
        w, p = self.weight, self.positive
        if p[-1] <= 0 or p[-1] >= w[-1]:
            return np.nan
        before_w, before_p = np.append(0.0, w[:-1]), np.append(0.0, p[:-1])
        if target == "roc_auc":
            negatives = (w - p) - (before_w - before_p)
            return float((negatives * (before_p + p) / 2).sum() / (p[-1] * (w[-1] - p[-1])))
        return float(((p - before_p) * p / w).sum() / p[-1])

    def precision(self, share: float) -> float:
        """Precision of the first ``share`` of the weight, ties in expectation."""
        k = share * self.weight[-1]
        hits = np.interp(k, np.append(0.0, self.weight), np.append(0.0, self.positive))
        return float(hits / k)

    def around(self, share: float) -> float:
        """Mean precision of budgets around this one: of one budget alone it would be mostly noise.

        Few held-out rows are within a small budget.
        """
        return float(np.mean([self.precision(min(1.0, share * f)) for f in _AROUND]))

    def rows(self) -> tuple[Floats, Bools, Floats]:
        """Scores, classes and weights: the positives of each score, and then the negatives."""
        positive = np.diff(self.positive, prepend=0.0)
        negative = np.maximum(np.diff(self.weight, prepend=0.0) - positive, 0.0)
        is_positive = np.repeat([True, False], self.score.size)
        return np.tile(self.score, 2), is_positive, np.concatenate([positive, negative])


def _places(n: int) -> Ints:
    """All places of a short list; of a long one the first, and ever fewer of those after them."""
    if n <= _PLACES:
        return np.arange(n)
    first = _PLACES // 2
    further = np.geomspace(first, n - 1, _PLACES - first).round().astype(np.intp)
    return np.unique(np.concatenate([np.arange(first), further]))


def leaves_at(nodes: OuterNodes, depth: int) -> Bools:
    """Which outer nodes are leaves if the tree is cut at ``depth``."""
    return np.asarray((nodes.depth == depth) | ((nodes.root < 0) & (nodes.depth < depth)))


def node_scores(nodes: OuterNodes, shape: Pruning, scores: str) -> Floats:
    """Score of each outer node: its smoothed precision, or its position from left to right."""
    if scores == "precision":
        return smooth(nodes.parent, nodes.sums, shape.smoothing)
    return positions(nodes, shape.depth)


def smooth(parent: Array, sums: Floats, smoothing: float) -> Floats:
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
    leaves = left_to_right(nodes, leaves_at(nodes, depth))
    score = np.zeros(len(nodes.root))
    score[leaves] = 1 - np.arange(len(leaves)) / len(leaves)
    return score


def mean_of_folds(values: list[Floats]) -> Floats:
    """Mean over the folds in which rows of both classes are held out."""
    table = np.array(values)
    known = ~np.isnan(table)
    if not known.any():
        raise ValueError("No fold has held-out rows of both classes: give fewer folds (cv).")
    total = np.where(known, table, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)

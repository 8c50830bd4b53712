"""Binary trees with scores, all of a forest in one table of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import BoolArray, FloatArray, IntArray, Object, StateError
from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.rules.branches import Branch, Split, Test, branches_of
from rarefind.trees._forest_reasons import fill_shares, log_odds
from rarefind.trees._level_order import LevelOrder
from rarefind.trees._random_cuts import CutTree

# Rows that go through all trees together: as many as stay at hand.
_TOGETHER = 512


def _check_trees(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Each node but the roots is the child of one before it: every row comes to a leaf."""
    starts, left, feature = state["starts"], state["left"], state["feature"]
    n, split = sizes["nodes"], state["left"] >= 0
    if starts.size < 2 or starts[0] != 0 or starts[-1] != n:
        raise StateError("'starts' are not those of the trees")
    ends = np.repeat(starts[1:], np.diff(starts))
    first = left[split].astype(np.int64)
    children = np.sort(np.concatenate([first, first + 1]))
    others = np.delete(np.arange(n), starts[:-1])
    if not (
        np.array_equal(split, feature >= 0)
        and (first > np.flatnonzero(split)).all()
        and (first + 1 < ends[split]).all()
        and np.array_equal(children, others)
    ):
        raise StateError("a node leads nowhere")
    sums = state["sums"]
    if (sums[:, 1] > sums[:, 0]).any():
        raise StateError("'sums' has more positives than rows")
    roots = sums[starts[:-1]]
    if not ((roots[:, 1] > 0) & (roots[:, 1] < roots[:, 0])).all():
        raise StateError("a root has rows of one class only")
    return {"columns": int(max([sizes["columns"], feature.max() + 1]))}


@saved(
    "cut-trees",
    state=State(
        {
            "starts": IntArray("*", low=0, strict=True),
            "feature": IntArray("nodes", low=-1, dtype=np.int32),
            "threshold": FloatArray("nodes", inf=True),
            "missing_left": BoolArray("nodes"),
            "left": IntArray("nodes", low=-1, dtype=np.int32),
            "sums": FloatArray("nodes", 2, low=0, single=True),
            "score": FloatArray("nodes", low=0, high=1),
            "levels": Object("level-order", columns="columns"),
        },
        _check_trees,
    ),
)
class CutTrees(NamedTuple):
    """The nodes of all trees, one tree after the other, parents before children.

    A row goes left where its value is at most the threshold, or missing and ``missing_left``; a
    category is the number of its place in the order of ``levels``, a new one is missing.
    """

    starts: Ints  # of the nodes of each tree, its root first, and the end
    feature: Array  # int32, -1 for a leaf
    threshold: Floats  # -inf where it asks only whether the value is missing
    missing_left: Bools
    left: Array  # int32, -1 for a leaf; the right child is the next one
    sums: Floats  # float32 (nodes, 2): the weight of rows and of positives
    score: Floats  # the smoothed precision
    levels: LevelOrder

    @classmethod
    def of(cls, trees: Sequence[CutTree], smoothing: float, levels: LevelOrder) -> CutTrees:
        """Put grown trees together."""
        starts = np.cumsum([0, *(tree.left.size for tree in trees)], dtype=np.int64)
        left = [
            np.where(tree.left >= 0, tree.left + start, -1).astype(np.int32)
            for tree, start in zip(trees, starts[:-1], strict=True)
        ]
        return cls(
            starts,
            np.concatenate([tree.feature for tree in trees]),
            np.concatenate([tree.threshold for tree in trees]),
            np.concatenate([tree.missing_left for tree in trees]),
            np.concatenate(left),
            np.concatenate([tree.sums for tree in trees]).astype(np.float32),
            np.concatenate([smooth_scores(tree.left, tree.sums, smoothing) for tree in trees]),
            levels,
        )

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return self.starts.size - 1

    def mean_score(self, coded: Floats) -> Floats:
        """The mean over the trees of the scores of the leaves that rows come to."""
        rows = np.require(coded, requirements=["C", "W"])
        return _mean_score(rows, *self[:5], self.score)

    def steps(self, row: Floats, tree: int) -> Floats:
        """The conditions that a coded row meets in a tree, for ``explain_by_steps``."""
        return _steps(row, self.starts[tree], *self[1:6], self.levels.is_level)

    def branches(self, tree: int) -> list[Branch]:
        """The branches of one tree, in the table's own values."""
        own = slice(*self.starts[tree : tree + 2].tolist())
        left = np.where(self.left[own] >= 0, self.left[own] - self.starts[tree], -1)

        def split(node: int) -> Split:
            at = int(self.starts[tree]) + node
            column, threshold = int(self.feature[at]), float(self.threshold[at])
            missing = bool(self.missing_left[at])
            if not self.levels.is_level[column]:
                right = Test(low=threshold, missing=not missing)
                return column, Test(high=threshold, missing=missing), right
            values, place = self.levels.of_column(column)
            # A new category goes where a missing value goes: it is not one of the others' side.
            named = frozenset(values[(place <= threshold) != missing].tolist())
            inside, outside = Test(levels=named), Test(levels=named, negated=True, missing=True)
            return (column, outside, inside) if missing else (column, inside, outside)

        return branches_of(left, left + 1, split)


@kernel
def smooth_scores(left: Array, sums: Floats, smoothing: float) -> Floats:
    """Precision of each node, drawn to that of its parent as if ``smoothing`` rows more had it."""
    score = np.empty(left.size)
    score[0] = sums[0, 1] / sums[0, 0]
    for node in range(left.size):
        if left[node] >= 0:
            for child in range(left[node], left[node] + 2):
                weight, positive = sums[child, 0], sums[child, 1]
                own = (positive + smoothing * score[node]) / (weight + smoothing)
                score[child] = min(own, 1.0)
    return score


@kernel
def _next(
    row: Floats, at: int, feature: Array, threshold: Floats, missing_left: Bools, left: Array
) -> int:
    """The child of a node that a row goes to."""
    value = row[feature[at]]
    goes_left = missing_left[at] if np.isnan(value) else value <= threshold[at]
    return left[at] + (0 if goes_left else 1)


@kernel
def _leaf(
    row: Floats,
    root: int,
    feature: Array,
    threshold: Floats,
    missing_left: Bools,
    left: Array,
) -> int:
    at = root
    while left[at] >= 0:
        at = _next(row, at, feature, threshold, missing_left, left)
    return at


@kernel
def leaves_of_rows(X: Floats, rows: Ints, tree: CutTree) -> Ints:
    """The leaf of each of some coded rows in one tree."""
    found = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        found[i] = _leaf(X[rows[i]], 0, tree.feature, tree.threshold, tree.missing_left, tree.left)
    return found


@kernel
def _mean_score(
    X: Floats,
    starts: Ints,
    feature: Array,
    threshold: Floats,
    missing_left: Bools,
    left: Array,
    score: Floats,
) -> Floats:
    """Add up tree after tree, so that a row has the same sum alone and among others."""
    total = np.zeros(X.shape[0])
    for start in range(0, X.shape[0], _TOGETHER):
        stop = min(start + _TOGETHER, X.shape[0])
        for t in range(starts.size - 1):
            for i in range(start, stop):
                leaf = _leaf(X[i], starts[t], feature, threshold, missing_left, left)
                total[i] += score[leaf]
    return total / (starts.size - 1)


@kernel
def _steps(
    row: Floats,
    root: int,
    feature: Array,
    threshold: Floats,
    missing_left: Bools,
    left: Array,
    sums: Floats,
    is_level: Bools,
) -> Floats:
    """The conditions that a row meets in one tree, as ``explain_by_steps`` takes them."""
    depth, at = 0, root
    while left[at] >= 0:
        depth += 1
        at = _next(row, at, feature, threshold, missing_left, left)
    found = np.empty((depth, 5))
    prior = sums[root, 1] / sums[root, 0]
    at = root
    for i in range(depth):
        j = feature[at]
        after = _next(row, at, feature, threshold, missing_left, left)
        found[i, 0] = j
        found[i, 1] = -np.inf
        found[i, 2] = np.inf
        if not is_level[j] and not np.isnan(row[j]):
            found[i, 2 if after == left[at] else 1] = threshold[at]
        before = log_odds(sums[at, 0], sums[at, 1], prior)
        found[i, 4] = log_odds(sums[after, 0], sums[after, 1], prior) - before
        at = after
    fill_shares(found, sums[at, 1] > prior * sums[at, 0])
    return found

"""Trees of trees for one row at a time: all of them in one piece, and all look-ups prepared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.data.bins import find_place
from rarefind.trees._borders import blend_coded, shares_of_sides
from rarefind.trees._ranker import Ranker, next_scores
from rarefind.trees.graph import OuterNodes, TreeConditions, condition_ends, leaves_of


def row_priority(ranker: Ranker) -> Callable[[Floats], float]:
    """What :meth:`Ranker.priority` gives, of one row."""
    tree, score, code = ranker.tree, ranker.score, _row_coder(ranker.tree.levels)
    low, high = (beside.tolist() for beside in next_scores(score, tree.is_leaf))
    scores = score.tolist()
    mean = TreesInOne.of([ranker]) if ranker.width.size else None

    def priority(row: Floats) -> float:
        coded = code(row)
        leaf = leaves_of(coded, tree.conditions, tree.nodes.root, tree.sets)[0]
        own: float = scores[leaf]
        if mean is None:
            return own
        away = mean.total(coded) - own
        up = min(max(away, 0.0) / max(1 - own, 1e-300), 1.0)
        down = min(max(-away, 0.0) / max(own, 1e-300), 1.0)
        return own + 0.49 * (up * (high[leaf] - own) - down * (own - low[leaf]))

    return priority


def row_mean(rankers: Sequence[Ranker]) -> Callable[[Floats], float]:
    """The mean of what :meth:`Ranker.blend` gives for each of some trees, of one row."""
    trees, n, code = TreesInOne.of(rankers), len(rankers), _row_coder(rankers[0].tree.levels)
    return lambda row: trees.total(code(row)) / n


class TreesInOne(NamedTuple):
    """The trees one after the other; numbers of conditions and nodes count within each."""

    conditions: TreeConditions  # with the sides that blending asks for
    band: Floats
    nodes: OuterNodes
    end: Array
    sets: Bools
    value: Floats  # (nodes, 1): the score of a leaf, else 0
    starts: Ints  # of the conditions of each tree, and the end
    node_starts: Ints

    @classmethod
    def of(cls, rankers: Sequence[Ranker]) -> TreesInOne:
        """Put trees together; those without bands get bands of no width."""
        trees = [ranker.tree for ranker in rankers]
        conditions = [shares_of_sides(tree) for tree in trees]
        sizes = [c.feature.size for c in conditions]
        widest = max(tree.sets.shape[1] for tree in trees)
        sets = [np.pad(t.sets, [(0, 0), (0, widest - t.sets.shape[1])]) for t in trees]
        before = np.cumsum([0, *map(len, sets)])[:-1]
        for i, c in enumerate(conditions):
            moved = np.where(c.set_number >= 0, c.set_number + before[i], -1)
            conditions[i] = c._replace(set_number=moved.astype(np.int32))
        bands = [
            2.0 * ranker.width if ranker.width.size else np.zeros(size)
            for ranker, size in zip(rankers, sizes, strict=True)
        ]
        values = [np.where(r.tree.is_leaf, r.score, 0.0)[:, np.newaxis] for r in rankers]
        ends = [condition_ends(t.nodes.root, n) for t, n in zip(trees, sizes, strict=True)]
        return cls(
            TreeConditions._make(map(np.concatenate, zip(*conditions, strict=True))),
            np.concatenate(bands),
            OuterNodes._make(map(np.concatenate, zip(*(t.nodes for t in trees), strict=True))),
            np.concatenate(ends),
            np.concatenate(sets),
            np.concatenate(values),
            np.cumsum([0, *sizes]),
            np.cumsum([0, *(len(t.nodes.root) for t in trees)]),
        )

    def total(self, coded: Floats) -> float:
        """The sum of the means of the leaves that a row is near to, tree by tree in order."""
        return _total(coded, self)


@kernel
def _total(X: Floats, trees: TreesInOne) -> float:
    total = 0.0
    c, nodes = trees.conditions, trees.nodes
    for t in range(trees.starts.size - 1):
        a, b = trees.starts[t], trees.starts[t + 1]
        first, last = trees.node_starts[t], trees.node_starts[t + 1]
        own = TreeConditions(
            c.feature[a:b],
            c.threshold[a:b],
            c.missing_left[a:b],
            c.set_number[a:b],
            c.left[a:b],
            c.right[a:b],
            c.sums[a:b],
        )
        outer = OuterNodes(
            nodes.root[first:last],
            nodes.first[first:last],
            nodes.second[first:last],
            nodes.parent[first:last],
            nodes.depth[first:last],
            nodes.sums[first:last],
        )
        band, end, value = trees.band[a:b], trees.end[first:last], trees.value[first:last]
        total += blend_coded(X, own, band, outer, end, trees.sets, value)[0, 0]
    return total


def _row_coder(levels: Mapping[int, Floats]) -> Callable[[Floats], Floats]:
    """A row as a table of one row with codes for categories, as :meth:`MetaTree.encode` has it."""
    columns = np.array(list(levels), dtype=np.intp)
    known = np.concatenate([np.empty(0), *levels.values()])
    starts = np.cumsum([0, *(own.size for own in levels.values())])
    return lambda row: _code_row(row, columns, known, starts)


@kernel
def _code_row(row: Floats, columns: Ints, levels: Floats, starts: Ints) -> Floats:
    coded = np.empty((1, row.size))
    for j in range(row.size):
        coded[0, j] = row[j]
    for s in range(columns.size):
        value = row[columns[s]]
        if not np.isnan(value):
            place = find_place(value, levels[starts[s] : starts[s + 1]])
            new = starts[s + 1] - starts[s] + 1.0
            coded[0, columns[s]] = new if np.isnan(place) else place
    return coded

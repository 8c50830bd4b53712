"""The model: a tree of trees whose leaves merge, so a graph of conditions.

An outer node holds rows that stand together in the ranking. Its inner tree sends them to two outer
nodes, the first of which goes ahead of the second; several leaves of the inner tree lead to each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import (
    BoolArray,
    DictOf,
    FloatArray,
    IntArray,
    Object,
    StateError,
    Whole,
)
from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.trees._columns import level_codes


@saved(
    "meta-tree-conditions",
    state=State(
        {
            "feature": IntArray("n", low=0, dtype=np.int32),
            "threshold": FloatArray("n", nan=True, inf=True),
            "missing_left": BoolArray("n"),
            "set_number": IntArray("n", low=-1, dtype=np.int32),
            "left": IntArray("n", dtype=np.int32),
            "right": IntArray("n", dtype=np.int32),
            "sums": FloatArray("n", 3, low=0),
        },
        lambda state, _: {"columns": int(state["feature"].max(initial=-1)) + 1},
    ),
)
class TreeConditions(NamedTuple):
    """The inner nodes of all inner trees, an entry each; those of one tree follow each other.

    A condition that holds leads to ``left``, else to ``right``: to another condition, or to the
    outer node ``-1 - left``. It is ``x <= threshold``, or that the level is in a set.
    """

    feature: Array  # int32
    threshold: Floats  # NaN for a set, inf where it asks only whether there is a number
    missing_left: Bools  # where a missing value goes
    set_number: Array  # int32, -1 for a number
    left: Array  # int32
    right: Array  # int32
    sums: Floats  # (n, 3): rows, their weight, the weight of positives


@saved(
    "meta-tree-nodes",
    state=State(
        {
            "root": IntArray("n", low=-1, dtype=np.int32),
            "first": IntArray("n", low=-1, below="n", dtype=np.int32),
            "second": IntArray("n", low=-1, below="n", dtype=np.int32),
            "parent": IntArray("n", low=-1, below="n", dtype=np.int32),
            "depth": IntArray("n", low=0, dtype=np.int32),
            "sums": FloatArray("n", 3, low=0),
        }
    ),
)
class OuterNodes(NamedTuple):
    """The outer nodes, an entry each, parents before children; number 0 is the root."""

    root: Array  # int32: its first condition, -1 for a leaf
    first: Array  # int32: the child that is ranked ahead, -1 for a leaf
    second: Array  # int32
    parent: Array  # int32, -1 for the root
    depth: Array  # int32
    sums: Floats  # (n, 3), as of conditions


def _check_graph(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Everything points to what is there, and always further on: no row goes round in it."""
    c, nodes = state["conditions"], state["nodes"]
    n, outer = sizes["conditions"], np.arange(sizes["nodes"])
    if not outer.size:
        raise StateError("there is no node")
    split = nodes.root >= 0
    children = nodes.first[split], nodes.second[split]
    below = np.concatenate([[0], *children])
    if not (
        (nodes.root < n).all()
        and np.unique(nodes.root[split]).size == split.sum()
        and np.array_equal(np.sort(below), outer)
        and all((child > outer[split]).all() for child in children)
        and nodes.parent[0] == -1
        and all((nodes.parent[child] == outer[split]).all() for child in children)
        and nodes.depth[0] == 0
        and (nodes.depth[1:] == nodes.depth[nodes.parent[1:]] + 1).all()
        and (nodes.first[~split] == -1).all()
        and (nodes.second[~split] == -1).all()
    ):
        raise StateError("a node leads nowhere")
    for sums in (c.sums, nodes.sums):
        if (sums[:, 2] > sums[:, 1] * (1 + 1e-9)).any():
            raise StateError("'sums' has more positives than rows")
    if not 0 < nodes.sums[0, 2] < nodes.sums[0, 1]:
        raise StateError("the root has rows of one class only")
    _check_conditions(c, nodes, n, split)
    _check_level_sets(c, state["sets"], state["levels"])
    return {"columns": max([sizes["columns"], *(j + 1 for j in state["levels"])])}


def _check_conditions(c: TreeConditions, nodes: OuterNodes, n: int, split: Bools) -> None:
    if n and (not split.any() or nodes.root[split].min() != 0):
        raise StateError("a condition belongs to no node")
    owner = _owners(nodes.root, n)
    for child in (c.left, c.right):
        end = np.where(child < 0, -1 - child.astype(np.int64), 0)
        to_child = (end == nodes.first[owner]) | (end == nodes.second[owner])
        within = (child > np.arange(n)) & (child < n)
        within &= owner[np.clip(child, 0, max(n - 1, 0))] == owner
        if not np.where(child >= 0, within, to_child).all():
            raise StateError("a condition leads nowhere")


def _check_level_sets(c: TreeConditions, sets: Bools, levels: dict[int, Floats]) -> None:
    by_set = c.set_number >= 0
    if (c.set_number >= len(sets)).any() or np.isnan(c.threshold[~by_set]).any():
        raise StateError("a condition asks for a set that is not there")
    for column in np.unique(c.feature[by_set]).tolist():
        if column not in levels or levels[column].size + 2 > sets.shape[1]:
            raise StateError("a condition asks for categories that are not there")
    # A column of categories is coded before conditions are asked.
    if np.isin(c.feature[~by_set], list(levels)).any():
        raise StateError("a condition asks for a category as if it were a number")


@saved(
    "meta-tree",
    state=State(
        {
            "conditions": Object("meta-tree-conditions", n="conditions", columns="columns"),
            "nodes": Object("meta-tree-nodes", n="nodes"),
            "sets": BoolArray("sets", "codes"),
            "levels": DictOf(Whole(), FloatArray("*", strict=True)),
        },
        _check_graph,
    ),
)
class MetaTree(NamedTuple):
    """A tree of trees.

    A column of categories has L levels. Its codes are 0 to L - 1 for these, L for a missing value
    in training (later it stays NaN, and goes by ``missing_left``), and L + 1 for a new category.
    """

    conditions: TreeConditions
    nodes: OuterNodes
    sets: Bools  # (sets, codes): whether a code goes left
    levels: dict[
        int, Floats
    ]  # the values of the categories (levels), for the columns that have some

    @property
    def is_leaf(self) -> Bools:
        """Which outer nodes are leaves."""
        return np.asarray(self.nodes.root < 0)

    def apply(self, X: Floats) -> Ints:
        """The outer leaf of each row."""
        return leaves_of(self.encode(X), self.conditions, self.nodes.root, self.sets)

    def encode(self, X: Floats) -> Floats:
        """Rows with codes for categories, also new ones; missing values stay NaN."""
        if not self.levels:
            return np.require(X, requirements=["C", "W"])
        X = np.array(X, order="C")
        for j, values in self.levels.items():
            X[:, j] = level_codes(X[:, j], values)
        return X

    def on_own_columns(self, X: Floats) -> tuple[MetaTree, Floats]:
        """The tree on the columns that its conditions ask for, and these columns of the rows."""
        used = np.unique(self.conditions.feature)
        number = {int(j): i for i, j in enumerate(used)}
        feature = np.searchsorted(used, self.conditions.feature).astype(np.int32)
        levels = {number[j]: values for j, values in self.levels.items() if j in number}
        conditions = self.conditions._replace(feature=feature)
        return self._replace(conditions=conditions, levels=levels), X[:, used]

    def leaf_under(self, is_kept: Bools) -> Ints:
        """For each outer node the leaf it belongs to when only the kept outer nodes are split."""
        found = np.zeros(is_kept.size, dtype=np.intp)
        for node in range(1, is_kept.size):
            parent = self.nodes.parent[node]
            whole = found[parent] == parent and is_kept[parent]
            found[node] = node if whole else found[parent]
        return found

    def prune(self, is_kept: Bools) -> Pruned:
        """The tree with only the kept outer nodes split."""
        leaf = self.leaf_under(is_kept & ~self.is_leaf)
        old = np.flatnonzero(leaf == np.arange(leaf.size))
        split = np.zeros(leaf.size, dtype=bool)
        split[self.nodes.parent[old[1:]]] = True
        kept = np.flatnonzero(split[_owners(self.nodes.root, self.conditions.feature.size)])
        node, place = _numbers(old, leaf.size), _numbers(kept, self.conditions.feature.size)

        conditions = TreeConditions._make(column[kept] for column in self.conditions)
        nodes = OuterNodes._make(column[old] for column in self.nodes)
        inside = split[old]
        tree = MetaTree(
            conditions._replace(
                left=_renumber(conditions.left, node, place),
                right=_renumber(conditions.right, node, place),
            ),
            nodes._replace(
                root=np.where(inside, place[nodes.root], -1).astype(np.int32),
                first=np.where(inside, node[nodes.first], -1).astype(np.int32),
                second=np.where(inside, node[nodes.second], -1).astype(np.int32),
                parent=node[nodes.parent],
            ),
            self.sets,
            self.levels,
        )
        return Pruned(tree, old, kept)


def left_to_right(nodes: OuterNodes, is_leaf: Bools) -> list[int]:
    """The leaves in the order in which they were split apart, the first child first."""
    leaves, stack = [], [0]
    while stack:
        node = stack.pop()
        if is_leaf[node]:
            leaves.append(node)
        else:
            stack += [int(nodes.second[node]), int(nodes.first[node])]
    return leaves


class Pruned(NamedTuple):
    """A tree with fewer outer nodes, and the numbers its nodes and conditions had before."""

    tree: MetaTree
    nodes: Ints
    conditions: Ints


def _numbers(kept: Ints, n: int) -> Array:
    """New number of each of ``n`` things when only some are kept; the last entry stands for -1."""
    number = np.full(n + 1, -1, dtype=np.int32)
    number[kept] = np.arange(kept.size)
    return number


def _renumber(child: Array, node: Array, place: Array) -> Array:
    """Children of conditions, which are conditions or outer nodes, by their new numbers."""
    outer = -1 - node[np.where(child < 0, -1 - child, -1)]
    return np.where(child >= 0, place[np.maximum(child, -1)], outer).astype(np.int32)


def condition_ends(root: Array, n: int) -> Array:
    """Where the conditions of each outer node end, of ``n`` in all; of no use for leaves."""
    starts = np.append(np.sort(root[root >= 0]), n)
    return starts[np.searchsorted(starts, root, side="right").clip(0, starts.size - 1)]


def _owners(root: Array, n: int) -> Ints:
    """The outer node of each condition."""
    owner = np.empty(n, dtype=np.intp)
    end = condition_ends(root, n)
    for node in np.flatnonzero(root >= 0):
        owner[root[node] : end[node]] = node
    return owner


@kernel
def holds(c: TreeConditions, at: int, value: float, sets: Bools) -> bool:
    """Whether a condition holds for the value of its feature."""
    if np.isnan(value):
        return c.missing_left[at]
    if c.set_number[at] >= 0:
        return sets[c.set_number[at], int(value)]
    return value <= c.threshold[at]


@kernel
def next_of(c: TreeConditions, at: int, row: Floats, sets: Bools) -> int:
    """Where a row goes from a condition: to another one, or to the outer node -1 - that."""
    return c.left[at] if holds(c, at, row[c.feature[at]], sets) else c.right[at]


@kernel
def leaves_of(X: Floats, c: TreeConditions, root: Array, sets: Bools) -> Ints:
    """Send each row down the graph to its outer leaf."""
    found = np.empty(X.shape[0], np.intp)
    for i in range(X.shape[0]):
        outer, at = 0, root[0]
        while at >= 0:
            at = next_of(c, at, X[i], sets)
            if at < 0:
                outer = -1 - at
                at = root[outer]
        found[i] = outer
    return found

"""The model: a tree of trees whose leaves merge, so a graph of conditions.

An outer node holds rows that stand together in the ranking. Its inner tree sends them to two outer
nodes, the first of which goes ahead of the second; several leaves of the inner tree lead to each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.trees._columns import level_codes


@saved("meta-tree-conditions")
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


@saved("meta-tree-nodes")
class OuterNodes(NamedTuple):
    """The outer nodes, an entry each, parents before children; number 0 is the root."""

    root: Array  # int32: its first condition, -1 for a leaf
    first: Array  # int32: the child that is ranked ahead, -1 for a leaf
    second: Array  # int32
    parent: Array  # int32, -1 for the root
    depth: Array  # int32
    sums: Floats  # (n, 3), as of conditions


@saved("meta-tree")
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
        c, rows = self.conditions, self.encode(X)
        return _leaves(rows, *c[:-1], self.nodes.root, self.sets)

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


def check_state(tree: MetaTree, n_features: int) -> None:
    """Refuse a tree that kernels would leave, or circle in: files may come from anywhere."""
    c, nodes = tree.conditions, tree.nodes
    n, n_outer = c.feature.size, nodes.root.size
    whole = (
        all(column.shape == (n,) for column in c[:-1])
        and all(column.shape == (n_outer,) for column in nodes[:-1])
        and all(column.dtype == np.int32 for column in (*nodes[:-1], c.feature, c.set_number))
        and c.left.dtype == c.right.dtype == np.int32
        and c.missing_left.dtype == tree.sets.dtype == np.bool_
        and n_outer > 0
    )
    if not whole or not _leads_on(tree, n_features):
        raise ValueError("A tree of the model is malformed.")


def _leads_on(tree: MetaTree, n_features: int) -> bool:
    """Whether everything points to what is there, and always further on."""
    c, nodes = tree.conditions, tree.nodes
    n, outer = c.feature.size, np.arange(nodes.root.size)
    split = nodes.root >= 0
    children = nodes.first[split], nodes.second[split]
    sizes = [tree.levels[j].size for j in c.feature[c.set_number >= 0].tolist()]
    if not (
        ((c.feature >= 0) & (c.feature < n_features)).all()
        and (nodes.root < n).all()
        and all(((child > outer[split]) & (child < outer.size)).all() for child in children)
        and (nodes.parent < outer).all()
        and (c.set_number < len(tree.sets)).all()
        and all(size + 2 <= tree.sets.shape[1] for size in sizes)
    ):
        return False
    owner = _owners(nodes.root, n)
    if not np.isin(owner, outer[split]).all():
        return False
    for child in (c.left, c.right):
        end = np.where(child < 0, -1 - child, 0)
        to_child = (end == nodes.first[owner]) | (end == nodes.second[owner])
        within = (child > np.arange(n)) & (child < n)
        within &= owner[np.clip(child, 0, max(n - 1, 0))] == owner
        if not np.where(child >= 0, within, to_child).all():
            return False
    return True


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
def goes_left(
    value: float, threshold: float, missing_left: bool, set_number: int, sets: Bools
) -> bool:
    """Whether a condition holds."""
    if np.isnan(value):
        return missing_left
    if set_number >= 0:
        return sets[set_number, int(value)]
    return value <= threshold


@kernel
def _leaves(
    X: Floats,
    feature: Array,
    threshold: Floats,
    missing_left: Bools,
    set_number: Array,
    left: Array,
    right: Array,
    root: Array,
    sets: Bools,
) -> Ints:
    """Send each row down the graph to its outer leaf."""
    found = np.empty(X.shape[0], np.intp)
    for i in range(X.shape[0]):
        outer, at = 0, root[0]
        while at >= 0:
            value = X[i, feature[at]]
            holds = goes_left(value, threshold[at], missing_left[at], set_number[at], sets)
            at = left[at] if holds else right[at]
            if at < 0:
                outer = -1 - at
                at = root[outer]
        found[i] = outer
    return found

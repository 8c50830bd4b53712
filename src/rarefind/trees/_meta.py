"""Growing a tree of trees: an inner tree, its leaves merged to two sides, and again on each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats
from rarefind.trees._columns import TreeColumns
from rarefind.trees._criteria import CRITERIA
from rarefind.trees._grow import FEATURE, LEFT, RIGHT, grow
from rarefind.trees._merge import best_cut, shrunk
from rarefind.trees.graph import MetaTree, OuterNodes, TreeConditions


class Plan(NamedTuple):
    """How a tree of trees is grown."""

    inner_depth: int
    outer_depth: int
    criterion: str
    order: str
    target: str
    min_rows: int
    n_features: int
    shrinkage: float = 0.0
    budget: float | None = None  # weight of the rows that will be checked

    def scale(self, share: float) -> Plan:
        """The same for a share of the rows."""
        return self if self.budget is None else self._replace(budget=share * self.budget)


class _OuterPart(NamedTuple):
    """The rows of an outer node: where they stand, and the weight of those ranked ahead."""

    node: int
    start: int
    stop: int
    ahead: float
    seed: int  # by its place in the tree, so that a deeper tree begins as a shallower one


class _InnerTree(NamedTuple):
    """An inner tree with the side of each of its leaves."""

    splits: Array
    levels: Array
    sums: Floats
    goes_left: Bools


def grow_meta_tree(
    columns: TreeColumns, is_positive: Bools, weight: Floats, plan: Plan, seed: int
) -> MetaTree:
    """Grow a tree of trees on all rows of the columns."""
    n = is_positive.size
    order = columns.order.copy()
    rows = np.arange(n, dtype=np.int32)
    node_of, slot_of = np.empty(n, np.int32), np.empty(n, np.int32)
    builder = _MetaTreeBuilder(columns)
    builder.add_node(-1, 0, np.array([n, weight.sum(), weight[is_positive].sum()]))
    parts = [_OuterPart(0, 0, n, 0.0, seed)]
    while parts:
        part = parts.pop()
        if builder.depth[part.node] >= plan.outer_depth:
            continue
        splits, levels, sums = grow(
            columns.codes,
            order,
            columns.n_codes,
            columns.is_set,
            rows[part.start : part.stop],
            part.start,
            is_positive,
            weight,
            plan.inner_depth,
            (CRITERIA[plan.criterion], plan.min_rows, plan.shrinkage),
            plan.n_features,
            part.seed,
            node_of,
            slot_of,
        )
        if len(splits) == 1:
            continue
        grown = _merge(splits, levels, sums, plan, part.ahead)
        first, second = builder.add_tree(part.node, grown)
        n_left = _partition(rows, order, part.start, part.stop, grown.goes_left, node_of)
        middle, ahead = part.start + n_left, part.ahead + builder.sums[first][1]
        seeds = np.random.RandomState(part.seed).randint(2**31 - 1, size=2).tolist()
        parts.append(_OuterPart(second, middle, part.stop, ahead, seeds[1]))
        parts.append(_OuterPart(first, part.start, middle, part.ahead, seeds[0]))
    return builder.finish()


def _merge(splits: Array, levels: Array, sums: Floats, plan: Plan, ahead: float) -> _InnerTree:
    """Choose the leaves that go left, for the budget where it ends within this node."""
    leaf = splits[:, FEATURE] < 0
    checked = None if plan.budget is None else plan.budget - ahead
    if checked is not None and not 0 < checked < sums[0, 1]:
        checked = None
    left = np.zeros(len(splits), dtype=bool)
    positive, weight = sums[leaf, 2], sums[leaf, 1]
    if plan.order == "precision" and plan.shrinkage > 0:
        positive = shrunk(positive, weight, plan.shrinkage)
    left[leaf] = best_cut(positive, weight, plan.order, plan.target, checked)
    return _InnerTree(splits, levels, sums, left)


@kernel
def _partition(
    rows: Array, order: Array, start: int, stop: int, goes_left: Bools, node_of: Array
) -> int:
    """Put the rows whose node goes left first, in rows and every order; how many they are."""
    aside = np.empty(stop - start, np.int32)
    n_left = 0
    for column in range(-1, order.shape[0]):
        line = rows if column < 0 else order[column]
        n_left, n_right = 0, 0
        for i in range(start, stop):
            row = line[i]
            if goes_left[node_of[row]]:
                line[start + n_left] = row
                n_left += 1
            else:
                aside[n_right] = row
                n_right += 1
        for i in range(n_right):  # a slice takes ten times as long to compile
            line[start + n_left + i] = aside[i]
    return n_left


class _MetaTreeBuilder:
    """Collects conditions and outer nodes while the tree grows."""

    def __init__(self, columns: TreeColumns) -> None:
        self.columns = columns
        self.conditions: list[tuple[int, float, bool, int, int, int, Floats]] = []
        self.sets: list[Bools] = []
        self.root: list[int] = []
        self.first: list[int] = []
        self.second: list[int] = []
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.sums: list[Floats] = []

    def add_node(self, parent: int, depth: int, sums: Floats) -> int:
        """Add an outer leaf."""
        for column, value in (
            (self.root, -1),
            (self.first, -1),
            (self.second, -1),
            (self.parent, parent),
            (self.depth, depth),
        ):
            column.append(value)
        self.sums.append(sums)
        return len(self.root) - 1

    def add_tree(self, node: int, grown: _InnerTree) -> tuple[int, int]:
        """Give an outer leaf its inner tree and two children."""
        leaf = grown.splits[:, FEATURE] < 0
        depth = self.depth[node] + 1
        first = self.add_node(node, depth, grown.sums[leaf & grown.goes_left].sum(axis=0))
        second = self.add_node(node, depth, grown.sums[leaf & ~grown.goes_left].sum(axis=0))
        self.root[node], self.first[node], self.second[node] = len(self.conditions), first, second
        side = _sides(grown.splits, np.where(grown.goes_left, first, second))
        kept = _preorder(grown.splits, side)
        number = {inner: len(self.conditions) + i for i, inner in enumerate(kept)}
        for inner in kept:
            left, right = (
                int(number.get(child, -1 - side[child])) for child in grown.splits[inner, LEFT:]
            )
            self.conditions.append((*self._condition(grown, inner), left, right, grown.sums[inner]))
        return first, second

    def _condition(self, grown: _InnerTree, inner: int) -> tuple[int, float, bool, int]:
        feature, low, high, missing_left = map(int, grown.splits[inner, :LEFT])
        if not self.columns.is_set[feature]:
            threshold = self.columns.threshold(feature, low, high)
            return feature, threshold, bool(missing_left), -1
        missing = self.columns.n_codes[feature]
        goes_left = np.append(grown.levels[inner], False)
        goes_left[missing + 1] = missing_left  # for a set, where most rows go: so does a new level
        self.sets.append(goes_left)
        return feature, np.nan, bool(goes_left[missing]), len(self.sets) - 1

    def finish(self) -> MetaTree:
        """Turn what was collected into arrays."""
        columns: list[Any] = [list(column) for column in zip(*self.conditions, strict=True)]
        feature, threshold, missing_left, set_number, left, right, sums = columns or [[]] * 7
        return MetaTree(
            TreeConditions(
                np.array(feature, dtype=np.int32),
                np.array(threshold, dtype=np.float64),
                np.array(missing_left, dtype=np.bool_),
                np.array(set_number, dtype=np.int32),
                np.array(left, dtype=np.int32),
                np.array(right, dtype=np.int32),
                np.array(sums, dtype=np.float64).reshape(-1, 3),
            ),
            OuterNodes(
                np.array(self.root, dtype=np.int32),
                np.array(self.first, dtype=np.int32),
                np.array(self.second, dtype=np.int32),
                np.array(self.parent, dtype=np.int32),
                np.array(self.depth, dtype=np.int32),
                np.array(self.sums, dtype=np.float64),
            ),
            np.array(self.sets) if self.sets else np.zeros((0, 1), dtype=bool),
            {int(j): self.columns.least[j] for j in np.flatnonzero(self.columns.is_set)},
        )


def _sides(splits: Array, side: Array) -> Array:
    """The outer node that all leaves below an inner node lead to, -1 where there are two."""
    side = side.copy()
    for inner in range(len(splits) - 1, -1, -1):  # children come after their parents
        if splits[inner, FEATURE] >= 0:
            left, right = side[splits[inner, LEFT]], side[splits[inner, RIGHT]]
            side[inner] = left if left == right else -1
    return side


def _preorder(splits: Array, side: Array) -> list[int]:
    """The inner nodes below which two outer nodes are reached, parents first."""
    kept, stack = [], [0]
    while stack:
        inner = stack.pop()
        if side[inner] < 0:
            kept.append(inner)
            stack += [int(splits[inner, RIGHT]), int(splits[inner, LEFT])]
    return kept

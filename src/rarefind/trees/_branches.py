"""Trees of trees broken into branches: every path from the root to an outer leaf is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rarefind.rules.branches import Branch, Test
from rarefind.trees._paths import all_paths
from rarefind.trees.graph import MetaTree


def branches_of_trees(trees: Sequence[MetaTree]) -> list[Branch]:
    """The branches of several trees of trees."""
    return [branch for tree in trees for branch in meta_tree_branches(tree)]


def meta_tree_branches(tree: MetaTree) -> list[Branch]:
    """The branches of a tree of trees; more than 10,000 are refused."""
    found = []
    for path in all_paths(tree):
        branch: Branch = {}
        for number, holds in path:
            column, test = int(tree.conditions.feature[number]), _test(tree, number, holds)
            branch[column] = branch[column] & test if column in branch else test
        found.append({j: test for j, test in branch.items() if not test.says_nothing})
    return [branch for branch in found if branch]


def _test(tree: MetaTree, number: int, holds: bool) -> Test:
    c = tree.conditions
    missing = bool(c.missing_left[number]) == holds
    if c.set_number[number] < 0:
        threshold = float(c.threshold[number])
        if holds:
            return Test(high=threshold, missing=missing)
        return Test(low=threshold, missing=missing)
    levels = tree.levels[int(c.feature[number])]
    left = tree.sets[c.set_number[number]]
    goes = left[: levels.size] == holds
    new = bool(left[levels.size + 1]) == holds
    # A category that was not seen in training is not one of the known ones.
    named = levels[np.flatnonzero(goes != new)]
    return Test(levels=frozenset(named.tolist()), negated=new, missing=missing)

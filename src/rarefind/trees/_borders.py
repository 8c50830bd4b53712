"""Ties inside a leaf, broken by how near the row is to a border and what lies beyond it.

Near a threshold a row is taken to be on both sides, in shares that change evenly from one border of
a band around it to the other. So it reaches several leaves, and the mean of their scores says where
it stands inside its own leaf. It never leaves the leaf's place in the ranking.
"""

from __future__ import annotations

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats
from rarefind.trees.graph import MetaTree, condition_ends, goes_left

# Twice as much is a number still.
_WIDEST = 1e300


def band_widths(tree: MetaTree, X: Floats, weight: Floats) -> Floats:
    """Half the band of each condition: how far the rows that come to it lie from it on average."""
    c = tree.conditions
    width = _mean_distances(tree.encode(X), *c[:-1], tree.nodes.root, tree.sets, weight)
    # Three digits: people read them.
    return np.array([float(f"{min(w, _WIDEST):.3g}") for w in width])


def blend(tree: MetaTree, X: Floats, width: Floats, value: Floats) -> Floats:
    """Sum of the values of the outer nodes that each row reaches, by its shares in them.

    Bands are ``width`` to each side of a threshold. Each column of ``value`` is a number for every
    outer node: the scores of leaves, and 0 for those that are none.
    """
    c, nodes = tree.conditions, tree.nodes
    end = condition_ends(nodes.root, c.feature.size)
    outer = (nodes.root, end, nodes.first, nodes.second)
    kinds = (c.feature, c.threshold, 2.0 * width, c.missing_left, c.set_number)
    sides = (_shares_at(tree, c.left), _shares_at(tree, c.right))
    return _blend(tree.encode(X), *kinds, *sides, *outer, tree.sets, np.ascontiguousarray(value))


def _shares_at(tree: MetaTree, child: Array) -> Array:
    """Where the kernel finds the share of each child: the last two places hold 1 and 0."""
    n = child.size
    is_first = np.zeros(tree.nodes.root.size, dtype=bool)
    is_first[tree.nodes.first[~tree.is_leaf]] = True
    ends = np.where(is_first[np.where(child < 0, -1 - child, 0)], n, n + 1)
    return np.where(child >= 0, child, ends).astype(np.int32)


@kernel
def _blend(
    X: Floats,
    feature: Array,
    threshold: Floats,
    band: Floats,
    missing_left: Bools,
    set_number: Array,
    left: Array,
    right: Array,
    root: Array,
    end: Array,
    first: Array,
    second: Array,
    sets: Bools,
    value_of: Floats,
) -> Floats:
    """Follow the shares of each row from the outer root to the leaves."""
    found = np.zeros((X.shape[0], value_of.shape[1]))
    mass = np.empty(root.size)
    share = np.empty(feature.size + 2)  # of what comes to a condition, which goes to first
    share[feature.size] = 1.0
    share[feature.size + 1] = 0.0
    for i in range(X.shape[0]):
        mass[0] = 1.0
        for node in range(root.size):
            if mass[node] > 0.0:
                for s in range(value_of.shape[1]):
                    found[i, s] += mass[node] * value_of[node, s]
            if root[node] < 0:
                continue
            if mass[node] == 0.0:
                mass[first[node]] = 0.0
                mass[second[node]] = 0.0
                continue
            for at in range(end[node] - 1, root[node] - 1, -1):
                value = X[i, feature[at]]
                if band[at] > 0.0 and not np.isnan(value):
                    holds = min(max(0.5 - (value - threshold[at]) / band[at], 0.0), 1.0)
                elif goes_left(value, threshold[at], missing_left[at], set_number[at], sets):
                    holds = 1.0
                else:
                    holds = 0.0
                share[at] = holds * share[left[at]] + (1.0 - holds) * share[right[at]]
            mass[first[node]] = mass[node] * share[root[node]]
            mass[second[node]] = mass[node] * (1.0 - share[root[node]])
    return found


@kernel
def _mean_distances(
    X: Floats,
    feature: Array,
    threshold: Floats,
    missing_left: Bools,
    set_number: Array,
    left: Array,
    right: Array,
    root: Array,
    sets: Bools,
    weight: Floats,
) -> Floats:
    """Mean distance of the rows to each threshold that they meet; 0 where categories are split."""
    n = np.zeros(feature.size)
    total = np.zeros(feature.size)
    for i in range(X.shape[0]):
        at = root[0]
        while at >= 0:
            value = X[i, feature[at]]
            distance = abs(value - threshold[at])
            if np.isfinite(distance):
                n[at] += weight[i]
                total[at] += weight[i] * distance
            holds = goes_left(value, threshold[at], missing_left[at], set_number[at], sets)
            at = left[at] if holds else right[at]
            if at < 0:
                at = root[-1 - at]
    for at in range(n.size):
        if n[at] > 0.0:
            total[at] /= n[at]
    return total

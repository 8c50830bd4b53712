"""Ties inside a leaf, broken by how near the row is to a border and what lies beyond it.

Near a threshold a row is taken to be on both sides, in shares that change evenly from one border of
a band around it to the other. So it reaches several leaves, and the mean of their scores says where
it stands inside its own leaf. It never leaves the leaf's place in the ranking.
"""

from __future__ import annotations

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats
from rarefind.trees.graph import (
    MetaTree,
    OuterNodes,
    TreeConditions,
    condition_ends,
    holds,
    next_of,
)

# Twice as much is a number still.
_WIDEST = 1e300


def band_widths(tree: MetaTree, X: Floats, weight: Floats) -> Floats:
    """Half the band of each condition: how far the rows that come to it lie from it on average."""
    rows = tree.encode(X)
    width = _mean_distances(rows, tree.conditions, tree.nodes.root, tree.sets, weight)
    # Three digits: people read them.
    return np.array([float(f"{min(w, _WIDEST):.3g}") for w in width])


def blend(tree: MetaTree, X: Floats, width: Floats, value: Floats) -> Floats:
    """Sum of the values of the outer nodes that each row reaches, by its shares in them.

    Bands are ``width`` to each side of a threshold. Each column of ``value`` is a number for every
    outer node: the scores of leaves, and 0 for those that are none.
    """
    c, nodes, values = shares_of_sides(tree), tree.nodes, np.ascontiguousarray(value)
    end = condition_ends(nodes.root, c.feature.size)
    return blend_coded(tree.encode(X), c, 2.0 * width, nodes, end, tree.sets, values)


def shares_of_sides(tree: MetaTree) -> TreeConditions:
    """The conditions with sides that say where the kernel finds the share of each child."""
    c = tree.conditions
    return c._replace(left=_shares_at(tree, c.left), right=_shares_at(tree, c.right))


def _shares_at(tree: MetaTree, child: Array) -> Array:
    """Where the kernel finds the share of each child: the last two places hold 1 and 0."""
    n = child.size
    is_first = np.zeros(tree.nodes.root.size, dtype=bool)
    is_first[tree.nodes.first[~tree.is_leaf]] = True
    ends = np.where(is_first[np.where(child < 0, -1 - child, 0)], n, n + 1)
    return np.where(child >= 0, child, ends).astype(np.int32)


@kernel
def blend_coded(
    X: Floats,
    c: TreeConditions,
    band: Floats,
    nodes: OuterNodes,
    end: Array,
    sets: Bools,
    value_of: Floats,
) -> Floats:
    """Follow the shares of each row from the outer root to the leaves.

    The sides of ``c`` are those of :func:`shares_of_sides`, and ``band`` is twice the width.
    """
    n, outer = c.feature.size, nodes.root.size
    found = np.zeros((X.shape[0], value_of.shape[1]))
    mass = np.empty(outer)
    share = np.empty(n + 2)  # of what comes to a condition, which goes to first
    share[n] = 1.0
    share[n + 1] = 0.0
    for i in range(X.shape[0]):
        mass[0] = 1.0
        for node in range(outer):
            if mass[node] > 0.0:
                for s in range(value_of.shape[1]):
                    found[i, s] += mass[node] * value_of[node, s]
            root, first, second = nodes.root[node], nodes.first[node], nodes.second[node]
            if root < 0:
                continue
            if mass[node] == 0.0:
                mass[first] = 0.0
                mass[second] = 0.0
                continue
            for at in range(end[node] - 1, root - 1, -1):
                value = X[i, c.feature[at]]
                if band[at] > 0.0 and not np.isnan(value):
                    left = min(max(0.5 - (value - c.threshold[at]) / band[at], 0.0), 1.0)
                else:
                    left = 1.0 if holds(c, at, value, sets) else 0.0
                share[at] = left * share[c.left[at]] + (1.0 - left) * share[c.right[at]]
            mass[first] = mass[node] * share[root]
            mass[second] = mass[node] * (1.0 - share[root])
    return found


@kernel
def _mean_distances(
    X: Floats, c: TreeConditions, root: Array, sets: Bools, weight: Floats
) -> Floats:
    """Mean distance of the rows to each threshold that they meet; 0 where categories are split."""
    n = np.zeros(c.feature.size)
    total = np.zeros(c.feature.size)
    for i in range(X.shape[0]):
        at = root[0]
        while at >= 0:
            distance = abs(X[i, c.feature[at]] - c.threshold[at])
            if np.isfinite(distance):
                n[at] += weight[i]
                total[at] += weight[i] * distance
            at = next_of(c, at, X[i], sets)
            if at < 0:
                at = root[-1 - at]
    for at in range(n.size):
        if n[at] > 0.0:
            total[at] /= n[at]
    return total

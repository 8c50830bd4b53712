"""Why a forest puts a row where it does: what most of its trees ask of the row."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Bools, Floats
from rarefind.rules import Condition
from rarefind.trees._paths import interval, plain
from rarefind.trees.graph import MetaTree, OuterNodes, TreeConditions, holds

_CONDITIONS_SHOWN = 5


class _Asked(NamedTuple):
    """What one tree asks of a feature; the bounds of a feature with categories are infinite."""

    low: float
    high: float
    weight: float
    change: float = 0.0  # of the log-odds of a positive


def explain_by_trees(
    trees: list[MetaTree], row: Floats, raw_row: Floats, names: list[str]
) -> list[Condition]:
    """The features that most of the trees go by, each with the bounds that are typical of them.

    A bound is the median of those of the trees, weighted by what the feature adds in each; there is
    none where most of that weight comes without it.
    """
    asked: dict[int, list[_Asked]] = defaultdict(list)
    for tree in trees:
        for feature, own in _asked_by(tree, row).items():
            asked[feature].append(own)
    share = {j: sum(own.weight for own in found) / len(trees) for j, found in asked.items()}
    top = sorted(share, key=lambda j: -share[j])[:_CONDITIONS_SHOWN]
    total = sum(share[j] for j in top) or 1.0
    said = [_typical(names[j], asked[j], float(raw_row[j]), share[j] / total) for j in top]
    return [
        replace(condition, lowers=sum(own.change for own in asked[j]) < 0)
        for j, condition in zip(top, said, strict=True)
        if share[j] > 0
    ]


def _asked_by(tree: MetaTree, row: Floats) -> dict[int, _Asked]:
    """What the path of a coded row through a tree asks of each feature it meets."""
    steps = _steps(row, tree.conditions, tree.nodes, tree.sets)
    found: dict[int, _Asked] = {}
    for feature, low, high, weight, change in steps.tolist():
        before = found.get(int(feature))
        if before is not None:
            low, high = max(low, before.low), min(high, before.high)
            weight, change = weight + before.weight, change + before.change
        found[int(feature)] = _Asked(low, high, weight, change)
    return found


@kernel
def _steps(row: Floats, c: TreeConditions, nodes: OuterNodes, sets: Bools) -> Floats:
    """The conditions that a row meets: feature, lower and upper bound, share and change of each.

    Shares are those of :func:`rarefind.trees._paths.path_weights`.
    """
    found = np.empty((c.feature.size, 5))
    prior = nodes.sums[0, 2] / nodes.sums[0, 1]
    n, leaf, at = 0, 0, nodes.root[0]
    while at >= 0:
        left = holds(c, at, row[c.feature[at]], sets)
        found[n, 0] = c.feature[at]
        found[n, 1] = -np.inf
        found[n, 2] = np.inf
        if c.set_number[at] < 0:
            found[n, 2 if left else 1] = c.threshold[at]
        before = _log_odds(c.sums[at], prior)
        at = c.left[at] if left else c.right[at]
        if at < 0:
            leaf = -1 - at
            at = nodes.root[leaf]
            found[n, 3] = _log_odds(nodes.sums[leaf], prior) - before
        else:
            found[n, 3] = _log_odds(c.sums[at], prior) - before
        found[n, 4] = found[n, 3]
        n += 1
    side = 1.0 if nodes.sums[leaf, 2] > prior * nodes.sums[leaf, 1] else -1.0
    total = 0.0
    for i in range(n):
        found[i, 3] = max(side * found[i, 3], 0.0)
        total += found[i, 3]
    for i in range(n):
        found[i, 3] = found[i, 3] / total if total > 0.0 else 1.0 / n
    return found[:n]


@kernel
def _log_odds(sums: Floats, prior: float) -> float:
    return np.log((sums[2] + prior) / (sums[1] - sums[2] + 1.0 - prior))


def _typical(name: str, asked: list[_Asked], value: float, weight: float) -> Condition:
    if np.isnan(value):
        return Condition(name, "=", "missing", f"{name} is missing", weight)
    bounded = [own for own in asked if own.low > -np.inf or own.high < np.inf]
    weights = np.array([own.weight for own in bounded])
    low = _median(np.array([own.low for own in bounded]), weights) if bounded else -np.inf
    high = _median(np.array([own.high for own in bounded]), weights) if bounded else np.inf
    if np.isinf(low) and np.isinf(high):
        # A category, or trees that do not agree on a side: what is left to say is the value.
        return Condition(name, "=", value, f"{name} = {plain(value)}", weight)
    found = interval(name, low, high)
    return Condition(name, found.op, found.value, found.raw_unit_text, weight)


def _median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weight lies, one of them."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(running, running[-1] / 2)])

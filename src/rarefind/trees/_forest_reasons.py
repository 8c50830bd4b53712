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
    """The features that most of the trees go by on the way of a coded row."""
    steps = [_steps(row, tree.conditions, tree.nodes, tree.sets) for tree in trees]
    return explain_by_steps(steps, raw_row, names)


def explain_by_steps(
    steps: list[Floats], raw_row: Floats, names: list[str], digits: int | None = None
) -> list[Condition]:
    """The features that most of the trees go by, each with the bounds that are typical of them.

    A bound is the median of those of the trees, weighted by what the feature adds in each; there is
    none where most of that weight comes without it.

    Parameters
    ----------
    steps : list of ndarray
        For each tree a line for each condition that the row meets: the feature, the lower and the
        upper bound, the share in where the row ends, and the change of the log-odds.
    raw_row : ndarray of shape (d,)
        The row as it is in the table.
    names : list of str
        Names of the features.
    digits : int, default=None
        Bounds are rounded to so many, or as many more as it takes to hold for the row.
    """
    asked: dict[int, list[_Asked]] = defaultdict(list)
    for own_steps in steps:
        for feature, own in _asked_by(own_steps).items():
            asked[feature].append(own)
    share = {j: sum(own.weight for own in found) / len(steps) for j, found in asked.items()}
    top = sorted(share, key=lambda j: -share[j])[:_CONDITIONS_SHOWN]
    total = sum(share[j] for j in top) or 1.0
    said = [_typical(names[j], asked[j], float(raw_row[j]), share[j] / total, digits) for j in top]
    return [
        replace(condition, lowers=sum(own.change for own in asked[j]) < 0)
        for j, condition in zip(top, said, strict=True)
        if share[j] > 0
    ]


def _asked_by(steps: Floats) -> dict[int, _Asked]:
    """What the path of a row through a tree asks of each feature it meets."""
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
        before = log_odds(c.sums[at, 1], c.sums[at, 2], prior)
        at = c.left[at] if left else c.right[at]
        if at < 0:
            leaf = -1 - at
            at = nodes.root[leaf]
            found[n, 4] = log_odds(nodes.sums[leaf, 1], nodes.sums[leaf, 2], prior) - before
        else:
            found[n, 4] = log_odds(c.sums[at, 1], c.sums[at, 2], prior) - before
        n += 1
    fill_shares(found[:n], nodes.sums[leaf, 2] > prior * nodes.sums[leaf, 1])
    return found[:n]


@kernel
def fill_shares(steps: Floats, ends_above: bool) -> None:
    """Fill the share of each condition: what it adds towards the side of the base rate reached."""
    side, total = 1.0 if ends_above else -1.0, 0.0
    for i in range(len(steps)):
        steps[i, 3] = max(side * steps[i, 4], 0.0)
        total += steps[i, 3]
    for i in range(len(steps)):
        steps[i, 3] = steps[i, 3] / total if total > 0.0 else 1.0 / len(steps)


@kernel
def log_odds(weight: float, positive: float, prior: float) -> float:
    """The log-odds of a positive, as if one row more had the share of all rows."""
    return np.log((positive + prior) / (weight - positive + 1.0 - prior))


def _typical(
    name: str, asked: list[_Asked], value: float, weight: float, digits: int | None = None
) -> Condition:
    if np.isnan(value):
        return Condition(name, "=", "missing", f"{name} is missing", weight)
    bounded = [own for own in asked if own.low > -np.inf or own.high < np.inf]
    weights = np.array([own.weight for own in bounded])
    low = _median(np.array([own.low for own in bounded]), weights) if bounded else -np.inf
    high = _median(np.array([own.high for own in bounded]), weights) if bounded else np.inf
    if np.isinf(low) and np.isinf(high):
        # A category, or trees that do not agree on a side: what is left to say is the value.
        return Condition(name, "=", value, f"{name} = {plain(value)}", weight)
    if digits is not None:
        low, high = (_rounded(bound, value, digits) for bound in (low, high))
    found = interval(name, low, high)
    return Condition(name, found.op, found.value, found.raw_unit_text, weight)


def _median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weight lies, one of them."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(running, running[-1] / 2)])


def _rounded(bound: float, value: float, digits: int) -> float:
    """A bound with few digits that still has the value on the same side."""
    for some in range(digits, 17):
        short = float(f"{bound:.{some}g}")
        if (value <= bound) == (value <= short):
            return short
    return bound

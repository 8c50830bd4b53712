"""Why a forest puts a row where it does: what most of its trees ask of the row."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rarefind._core.types import Floats
from rarefind.rules import Condition
from rarefind.trees._paths import interval, merge_conditions, path_weights, plain, row_path
from rarefind.trees.graph import MetaTree

_CONDITIONS_SHOWN = 5


def explain_by_trees(
    trees: list[MetaTree], row: Floats, raw_row: Floats, names: list[str]
) -> list[Condition]:
    """The features that most of the trees go by, each with the bounds that are typical of them.

    A bound is the median of those of the trees, weighted by what the feature adds in each; there is
    none where most of that weight comes without it.
    """
    asked: dict[str, list[Condition]] = defaultdict(list)
    for tree in trees:
        path = row_path(tree, row)
        for condition in merge_conditions(tree, path, names, path_weights(tree, path), raw_row):
            asked[condition.feature].append(condition)
    share = {name: sum(c.weight for c in found) / len(trees) for name, found in asked.items()}
    top = sorted(share, key=lambda name: -share[name])[:_CONDITIONS_SHOWN]
    total = sum(share[name] for name in top) or 1.0
    return [
        _typical(asked[name], float(raw_row[names.index(name)]), share[name] / total)
        for name in top
        if share[name] > 0
    ]


def _typical(conditions: list[Condition], value: float, weight: float) -> Condition:
    name = conditions[0].feature
    if np.isnan(value):
        return Condition(name, "=", "missing", f"{name} is missing", weight)
    bounds = [_bounds(condition) for condition in conditions]
    known = [(b, c.weight) for b, c in zip(bounds, conditions, strict=True) if b is not None]
    if not known:  # a column of categories
        return Condition(name, "=", value, f"{name} = {plain(value)}", weight)
    weights = np.array([w for _, w in known])
    low = _median(np.array([low for (low, _), _ in known]), weights)
    high = _median(np.array([high for (_, high), _ in known]), weights)
    if np.isinf(low) and np.isinf(high):
        # The trees do not agree on a side: what is left to say is the value.
        return Condition(name, "=", value, f"{name} = {plain(value)}", weight)
    found = interval(name, low, high)
    return Condition(name, found.op, found.value, found.raw_unit_text, weight)


def _bounds(condition: Condition) -> tuple[float, float] | None:
    if condition.op == "<=":
        return -np.inf, float(condition.value)
    if condition.op == ">":
        return float(condition.value), np.inf
    if condition.op == "between":
        low, high = condition.value
        return float(low), float(high)
    return None


def _median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weight lies, one of them."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(running, running[-1] / 2)])

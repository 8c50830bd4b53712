"""Why a row stands where it stands: the conditions that hold for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rarefind._core.types import Floats
from rarefind.conditions._condition_list import ConditionList
from rarefind.conditions._matrix import with_combinations
from rarefind.rules import Condition, Reason
from rarefind.rules.branch_nodes import column_node, condition_of
from rarefind.rules.branches import Branch

_CONDITIONS_SHOWN = 5


def reasons_of(
    listed: ConditionList,
    X: Floats,
    names: list[str],
    scores: Floats,
    ranks: Sequence[float | None],
) -> list[Reason]:
    """Reasons of rows; a condition's weight is shared by its columns."""
    held = listed.held(X)
    extended = with_combinations(X, listed.combinations)
    branches = listed.tests.branches()
    reasons = []
    for i, (score, rank) in enumerate(zip(scores.tolist(), ranks, strict=True)):
        fired = held.indices[held.indptr[i] : held.indptr[i + 1]].tolist()
        weights = [(branches[c], float(listed.weights[c])) for c in fired]
        because = _because(listed, weights, extended[i], names)
        added = _by_column(listed, weights, names)
        reasons.append(Reason(score, rank, because, base=listed.start, contributions=added))
    return reasons


def _because(
    listed: ConditionList, weights: list[tuple[Branch, float]], row: Floats, names: list[str]
) -> list[Condition]:
    """What the conditions that raise the score ask of each column, together."""
    asked: Branch = {}
    share: dict[int, float] = {}
    for branch, weight in weights:
        if weight <= 0:
            continue
        for column, test in branch.items():
            asked[column] = asked[column] & test if column in asked else test
            share[column] = share.get(column, 0.0) + weight / len(branch)
    total = sum(share.values())
    found = []
    for column in sorted(share, key=lambda j: -share[j])[:_CONDITIONS_SHOWN]:
        name = names[_main_column(listed, column, len(names))]
        text = column_node(column, names, listed.combinations)
        condition = condition_of(name, text, asked[column], float(row[column]))
        found.append(replace(condition, weight=share[column] / total))
    return found


def _by_column(
    listed: ConditionList, weights: list[tuple[Branch, float]], names: list[str]
) -> dict[str, float]:
    """What each column adds to the score."""
    added = dict.fromkeys(names, 0.0)
    for branch, weight in weights:
        for column in branch:
            part = weight / len(branch)
            if column < len(names):
                added[names[column]] += part
                continue
            columns = listed.combinations[column - len(names)].columns
            for j in columns:
                added[names[j]] += part / len(columns)
    return added


def _main_column(listed: ConditionList, column: int, n_features: int) -> int:
    """The column itself, or the one that a combination names first."""
    if column < n_features:
        return column
    combination = listed.combinations[column - n_features]
    return int(np.array(combination.columns)[0])

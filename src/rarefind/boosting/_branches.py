"""Boosted trees broken into branches, in the units of the columns."""

from __future__ import annotations

import numpy as np

from rarefind.boosting._coding import Coding
from rarefind.boosting._trees import Trees
from rarefind.rules.branches import Branch, xgboost_branches


def booster_branches(trees: Trees, coding: Coding) -> list[Branch]:
    """The branches of all trees; a new category goes where missing values go, as in the coding."""
    sets = dict(zip(np.flatnonzero(coding.is_set).tolist(), coding.levels, strict=True))

    def below(column: int, code: float) -> float:
        return float(np.nextafter(coding.value(column, code), -np.inf))

    def known(column: int) -> frozenset[float]:
        return frozenset(sets[column].tolist())

    def level(column: int, code: int) -> float:
        return float(sets[column][code])

    return [
        branch for tree in trees.parse() for branch in xgboost_branches(tree, below, known, level)
    ]

"""Categories in the order of how many positives they have: then a cut among them is a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import BoolArray, DictOf, FloatArray, StateError, Whole
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats
from rarefind.trees._columns import level_codes

# The precision of a category is drawn to that of all rows as if that many rows more had it.
_SHRINKAGE = 10.0


def _check_order(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    levels, place = state["levels"], state["place"]
    if list(levels) != np.flatnonzero(state["is_level"]).tolist() or levels.keys() != place.keys():
        raise StateError("'levels' are not those of the columns that have some")
    for j, values in levels.items():
        if not np.array_equal(np.sort(place[j]), np.arange(values.size)):
            raise StateError("'place' is not the order of the categories")


@saved(
    "level-order",
    state=State(
        {
            "is_level": BoolArray("columns"),
            "levels": DictOf(Whole(), FloatArray("*", strict=True)),
            "place": DictOf(Whole(), FloatArray("*", low=0)),
        },
        _check_order,
    ),
)
class LevelOrder(NamedTuple):
    """The categories of the columns that have some, and the place of each, rising by precision."""

    is_level: Bools  # (d,)
    levels: dict[int, Floats]  # the values, rising
    place: dict[int, Floats]

    @classmethod
    def of(cls, X: Floats, is_positive: Bools, weight: Floats, is_level: Bools) -> LevelOrder:
        """Order the categories of some columns."""
        levels, place = {}, {}
        base = weight[is_positive].sum() / weight.sum()
        for j in np.flatnonzero(is_level).tolist():
            known = ~np.isnan(X[:, j])
            values, number = np.unique(X[known, j], return_inverse=True)
            total = np.bincount(number, weights=weight[known], minlength=values.size)
            own = (weight * is_positive)[known]
            positive = np.bincount(number, weights=own, minlength=values.size)
            precision = (positive + _SHRINKAGE * base) / (total + _SHRINKAGE)
            rank = np.empty(values.size)
            rank[np.argsort(precision, kind="stable")] = np.arange(values.size)
            levels[j], place[j] = values, rank
        return cls(is_level, levels, place)

    def encode(self, X: Floats) -> Floats:
        """Rows with places for categories; missing values and new categories are NaN."""
        if not self.levels:
            return X
        X = np.array(X, order="C")
        for j, values in self.levels.items():
            code = level_codes(X[:, j], values)
            is_known = code < values.size  # neither missing nor new
            X[:, j] = np.nan
            X[is_known, j] = self.place[j][code[is_known].astype(np.intp)]
        return X

    def of_column(self, column: int) -> tuple[Floats, Floats]:
        """The categories of a column, and their places."""
        return self.levels[column], self.place[column]

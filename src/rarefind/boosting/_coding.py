"""Columns as XGBoost is given them: codes of bins that see the positives, codes of categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from rarefind._core.fields import BoolArray, FloatArray, ListOf, Maybe, Object, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.data import PositiveAwareBinner
from rarefind.rules.branches import least_rounding_to

# Rows that are coded at a time when they are explained, and when they are scored.
BLOCK = 100_000
SCORED = 16_384
_LARGEST = float(np.finfo(np.float32).max)


def _check_coding(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    sets = int(state["is_set"].sum())
    if sizes["sets"] != sets or sizes.get("numbers", sizes["d"] - sets) != sizes["d"] - sets:
        raise StateError("the bins are not those of the columns")


@saved(
    "coding",
    state=State(
        {
            "binner": Maybe(Object("positive-aware-binner", d="numbers")),
            "levels": ListOf(FloatArray("*", strict=True), size="sets"),
            "is_set": BoolArray("d"),
        },
        _check_coding,
    ),
)
class Coding(NamedTuple):
    """How the columns of a table become the numbers that trees split on.

    A number becomes the code of its bin, compared in 64 bits, or stays as it is; a level becomes
    its place among the levels of the fit, and a new category is a missing value.
    """

    binner: PositiveAwareBinner | None  # of the columns that hold numbers; None leaves them
    levels: list[Floats]  # of the columns of categories
    is_set: Bools

    @classmethod
    def learn(
        cls, X: Floats, positive: Bools, is_set: Bools, max_bins: int | None, n_jobs: int
    ) -> Coding:
        """Cut the columns, or with ``max_bins=None`` leave numbers as they are."""
        binner = None
        if max_bins is not None and not is_set.all():
            binner = PositiveAwareBinner(max_bins=max_bins, pos_label=True, n_jobs=n_jobs)
            binner.fit(X[:, ~is_set] if is_set.any() else X, positive).set_params(n_jobs=None)
        levels = [np.unique(X[~np.isnan(X[:, j]), j]) for j in np.flatnonzero(is_set)]
        return cls(binner, levels, is_set)

    @property
    def feature_types(self) -> list[str]:
        """The types of the columns for XGBoost."""
        return ["c" if levels else "q" for levels in self.is_set]

    @property
    def max_bin(self) -> int:
        """Bins that XGBoost needs to keep every code apart; levels it keeps apart anyway."""
        sizes = [cuts.size for cuts in self.binner.cuts_] if self.binner is not None else []
        return max([*sizes, 0]) + 2

    def codes(self, X: Floats, n_threads: int = 1) -> Array:
        """The columns as 32-bit floats, in which all codes are exact; laid out as they are."""
        codes = np.empty(X.shape, dtype=np.float32, order=layout(X))
        numbers = np.flatnonzero(~self.is_set)
        if self.binner is not None:
            self.binner._code(X, codes, n_threads, numbers)
        elif not self.is_set.any():
            np.clip(X, -_LARGEST, _LARGEST, out=codes, casting="same_kind")
        else:
            codes[:, numbers] = np.clip(X[:, numbers], -_LARGEST, _LARGEST)
        for j, levels in zip(np.flatnonzero(self.is_set), self.levels, strict=True):
            codes[:, j] = _places(X[:, j], levels)
        return codes

    def n_levels(self) -> list[int | None]:
        """The number of categories of each column, None for numbers."""
        sizes = iter(self.levels)
        return [next(sizes).size if is_set else None for is_set in self.is_set]

    def value(self, column: int, code: float) -> float:
        """The number that a tree's threshold on the codes of a column stands for."""
        return float(self.values(np.array([column]), np.array([code]))[0])

    def values(self, columns: Ints, codes: Floats) -> Floats:
        """The same of many thresholds, each on the column of its number."""
        if self.binner is None:
            return least_rounding_to(codes)
        found = np.empty(codes.size)
        place = np.cumsum(~self.is_set) - 1  # among the columns of numbers, which have bins
        for j in np.unique(columns):
            edges = np.concatenate([[-np.inf], self.binner.cuts_[place[j]], [np.inf]])
            own = np.ceil(codes[columns == j]).clip(0, edges.size - 1).astype(np.intp)
            found[columns == j] = edges[own]
        return found


def layout(X: Floats) -> Literal["C", "F"]:
    """Whether rows or columns are in one piece of memory."""
    return "C" if X.flags.c_contiguous else "F"


def _places(column: Floats, levels: Floats) -> Floats:
    if not levels.size:
        return np.full(column.size, np.nan)
    place = np.minimum(np.searchsorted(levels, column), levels.size - 1)
    return np.where(levels[place] == column, place, np.nan)

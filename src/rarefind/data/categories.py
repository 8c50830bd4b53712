"""Columns of categories, of pandas and polars, for estimators that split on sets of levels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from rarefind._core.types import Floats

__all__ = ["Levels", "by_place", "code_levels", "learn_levels", "with_codes"]

#: The levels of each column of categories, by its name, in the order of their codes.
Levels: TypeAlias = dict[str, list[Any]]


def learn_levels(frame: pd.DataFrame) -> Levels:
    """The levels of columns of categories, sorted: pandas and polars order them differently."""
    return {
        str(name): _sorted(frame[name].cat.remove_unused_categories().cat.categories.tolist())
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype)
    }


def by_place(levels: Levels, names: list[str]) -> dict[int, list[Any]]:
    """The levels by the place of their column among all columns."""
    return {names.index(name): own for name, own in levels.items()}


def with_codes(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """The table with codes in place of levels; columns that it lacks are left to others to miss."""
    coded = {name: code_levels(frame[name], own) for name, own in levels.items() if name in frame}
    return frame.assign(**coded)


def code_levels(column: pd.Series[Any], levels: list[Any]) -> Floats:
    """The place of each value among the levels: NaN if missing, one beyond the last if new."""
    known = pd.Index(levels, dtype=object)
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Each category is looked up once; that of a missing value is the last, -1.
        place = np.append(known.get_indexer(column.cat.categories.astype(object)), -1)
        codes = place[column.cat.codes]
    else:
        codes = known.get_indexer(pd.Index(column.astype(object)))
    return np.where(column.isna(), np.nan, np.where(codes < 0, len(levels), codes))


def _sorted(levels: list[Any]) -> list[Any]:
    try:
        return sorted(levels)
    except TypeError:  # numbers and texts
        return sorted(levels, key=str)

"""The rows that trees learn from: weights, levels, and the columns of any part of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from rarefind._typing import Array, ArrayLike, Bools, Floats, Ints
from rarefind.trees._columns import Columns, read_columns


class TrainingRows(NamedTuple):
    """Rows with weight, and how their columns are to be read."""

    X: Floats
    is_positive: Bools
    weight: Floats
    is_set: Bools
    splitter: str
    max_bins: int

    def columns(self) -> Columns:
        """Read the columns of all rows."""
        return read_columns(self.X, self.is_positive, self.is_set, self.splitter, self.max_bins)

    def part(self, columns: Columns, rows: Ints) -> Columns:
        """The columns of some rows; bins are cut anew, as they have seen the others' labels."""
        rows = np.sort(rows)
        if columns.exact:
            return columns.take(rows)
        return read_columns(
            self.X[rows], self.is_positive[rows], self.is_set, "histogram", self.max_bins
        )


def training_weights(
    X: Floats, y: Array, sample_weight: ArrayLike | None, class_weight: Any
) -> Floats:
    """Weight of each row: its own times that of its class."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y)
    return np.asarray(weight)


def set_columns(categorical: Any, names: list[str]) -> Bools:
    """Which columns hold levels: by number, by name, or one truth value a column."""
    d = len(names)
    is_set = np.zeros(d, dtype=bool)
    if categorical is None:
        return is_set
    given = np.asarray(categorical)
    if given.dtype == bool:
        if given.shape != (d,):
            raise ValueError(
                f"categorical_features holds {given.size} truth values for {d} columns."
            )
        return given.copy()
    for name in given.ravel().tolist():
        if isinstance(name, str):
            if name not in names:
                raise ValueError(f"categorical_features names {name!r}, which is no column.")
            is_set[names.index(name)] = True
        elif isinstance(name, int) and -d <= name < d:
            is_set[name] = True
        else:
            raise ValueError(f"categorical_features holds {name!r}; there are {d} columns.")
    return is_set

"""The rows that trees learn from: weights, levels, and the columns of any part of them."""

from __future__ import annotations

from numbers import Integral
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
    given = list(categorical)
    if given and all(isinstance(name, bool | np.bool_) for name in given):
        if len(given) != d:
            raise ValueError(
                f"categorical_features holds {len(given)} truth values for {d} columns."
            )
        return np.array(given, dtype=bool)
    for name in given:
        if isinstance(name, str):
            if name not in names:
                raise ValueError(f"categorical_features names {name!r}, which is no column.")
            is_set[names.index(name)] = True
        elif isinstance(name, Integral) and -d <= int(name) < d:
            is_set[int(name)] = True
        else:
            raise ValueError(f"categorical_features holds {name!r}; there are {d} columns.")
    return is_set

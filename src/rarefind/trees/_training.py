"""The rows that trees learn from: weights, levels, and the columns of any part of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats, Ints
from rarefind.trees._columns import TreeColumns, read_columns


class TrainingRows(NamedTuple):
    """Rows with weight, and how their columns are to be read."""

    X: Floats
    is_positive: Bools
    weight: Floats
    is_set: Bools
    splitter: str
    max_bins: int

    def columns(self) -> TreeColumns:
        """Read the columns of all rows."""
        return read_columns(self.X, self.is_positive, self.is_set, self.splitter, self.max_bins)

    def part(self, columns: TreeColumns, rows: Ints) -> TreeColumns:
        """The columns of some rows; bins are cut anew, as they have seen the others' labels."""
        rows = np.sort(rows)
        if columns.exact:
            return columns.take(rows)
        return read_columns(
            self.X[rows], self.is_positive[rows], self.is_set, "histogram", self.max_bins
        )

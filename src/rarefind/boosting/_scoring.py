"""Codes for scoring: trees that are grown need no more of a column than where they split it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from rarefind._core.kernels import kernel, read_only
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.boosting._coding import Coding, layout
from rarefind.data.bins import WORTH_THREADS, fill_codes, find_place


class Scoring(NamedTuple):
    """How columns become codes that go the same way in all trees as those of a coding.

    Between two thresholds that trees ask for, all bins stand for one: of 255 cuts few are left to
    search. A column that no tree asks for is 0.
    """

    numbers: list[tuple[int, Floats, Array]]  # column, its cuts, and the code between them
    levels: list[tuple[int, Floats]]  # column, and its levels
    unused: Ints

    @classmethod
    def of(cls, coding: Coding, thresholds: dict[int, Array], asked: Bools) -> Scoring | None:
        """For trees with these thresholds on columns of numbers; None where there are no bins."""
        if coding.binner is None:
            return None
        numbers, places = [], np.flatnonzero(~coding.is_set).tolist()
        for j, cuts in zip(places, coding.binner.cuts_, strict=True):
            if asked[j]:
                first = np.unique(np.ceil(thresholds[j])).astype(np.intp)
                first = first[(first > 0) & (first <= cuts.size)]
                numbers.append((j, cuts[first - 1], np.append(0, first).astype(np.float32)))
        sets = np.flatnonzero(coding.is_set).tolist()
        levels = [(j, own) for j, own in zip(sets, coding.levels, strict=True) if asked[j]]
        return cls(numbers, levels, np.flatnonzero(~asked))

    def codes(self, X: Floats, n_threads: int) -> Array:
        """The columns as 32-bit floats, laid out as they are."""
        codes = np.empty(X.shape, dtype=np.float32, order=layout(X))
        codes[:, self.unused] = 0
        # Threads are started anew each time: for a few rows that takes longer than the work.
        if n_threads == 1 or X.size < WORTH_THREADS:
            for j, cuts, names in self.numbers:
                fill_codes(X[:, j], cuts, names, codes[:, j])
        else:
            Parallel(n_threads, require="sharedmem")(
                delayed(fill_codes)(X[:, j], cuts, names, codes[:, j])
                for j, cuts, names in self.numbers
            )
        for j, levels in self.levels:
            _fill_places(read_only(X[:, j]), read_only(levels), codes[:, j])
        return codes


@kernel
def _fill_places(column: Floats, levels: Floats, codes: Array) -> None:
    """The place of each value among the categories, NaN for a value that is not one of them."""
    for i in range(column.size):
        codes[i] = find_place(column[i], levels)

"""A table as the tree builder reads it: whole-number codes by column, and their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.data import PositiveAwareBinner
from rarefind.data.bins import find_code

# Up to this many rows every different value is a place to split; beyond it, the cuts of bins are.
EXACT_ROWS = 50_000


class TreeColumns(NamedTuple):
    """Codes of the values of each column, rising with them; missing has the code after the last.

    A column of numbers has a code for each different value, with the rows in its order, or a code
    for each bin. A column of categories has a code for each of them.
    """

    codes: Array  # int32 (d, n)
    order: Array  # int32 (d, n), rows by code, positives first; of no columns if codes are bins
    n_codes: Array  # int32 (d,), without the one for missing values
    is_set: Bools  # (d,), whether the codes are levels
    least: list[Floats]  # the least value of each code
    greatest: list[Floats]  # and the greatest, the same where codes are not bins

    @property
    def exact(self) -> bool:
        """Whether every different value has a code of its own."""
        return len(self.order) > 0

    def threshold(self, column: int, low: int, high: int) -> float:
        """The number t such that ``x <= t`` for codes up to ``low`` and not from ``high`` on."""
        if high >= self.n_codes[column]:
            return np.inf  # all numbers on one side, missing values on the other
        return shortest_between(self.greatest[column][low], self.least[column][high])

    def take(self, rows: Ints) -> TreeColumns:
        """Only these rows, which rise; codes without rows stay."""
        place = np.full(self.codes.shape[1], -1, dtype=np.int32)
        place[rows] = np.arange(rows.size, dtype=np.int32)
        order = self.order
        if self.exact:
            order = place[order]
            order = order[order >= 0].reshape(len(order), rows.size)
        return self._replace(codes=np.ascontiguousarray(self.codes[:, rows]), order=order)


def read_columns(
    X: Floats, positive: Bools, is_set: Bools, splitter: str, max_bins: int
) -> TreeColumns:
    """Code the columns: every different value, or bins that see the positives."""
    exact = splitter == "exact" or (splitter == "auto" and len(X) <= EXACT_ROWS)
    d, n = X.shape[1], len(X)
    codes = np.empty((d, n), dtype=np.int32)
    order = np.empty((d if exact else 0, n), dtype=np.int32)
    least: list[Floats] = [np.empty(0)] * d
    greatest = list(least)
    for j in np.flatnonzero(is_set | exact):
        order_of_column, least[j] = _distinct(X[:, j], codes[j])
        greatest[j] = least[j]
        if exact:
            order[j] = order_of_column
            _positives_first(order[j], codes[j], positive)
    binned = np.flatnonzero(~(is_set | exact))
    if binned.size:
        binner = PositiveAwareBinner(max_bins=max_bins, pos_label=True)
        binner.fit(X[:, binned], positive)
        for j, cuts in zip(binned, binner.cuts_, strict=True):
            least[j], greatest[j] = _bin(np.ascontiguousarray(X[:, j]), cuts, codes[j])
    n_codes = np.array([values.size for values in least], dtype=np.int32)
    return TreeColumns(codes, order, n_codes, is_set, least, greatest)


def level_codes(column: Floats, levels: Floats) -> Floats:
    """Codes of categories: NaN for a missing value, the last code for a category that is new."""
    place = np.minimum(np.searchsorted(levels, column), max(0, levels.size - 1))
    known = levels[place] == column if levels.size else np.zeros(column.size, dtype=bool)
    return np.where(np.isnan(column), np.nan, np.where(known, place, levels.size + 1))


def _distinct(column: Floats, codes: Array) -> tuple[Ints, Floats]:
    """Fill the codes of all different values; the order of the rows, and the values."""
    order = np.argsort(column)
    ranked = column[order]
    present = ranked.size - int(np.isnan(ranked).sum())
    starts = np.append(True, ranked[1:] != ranked[:-1])
    starts[present:] = False
    first = np.flatnonzero(starts)
    code = np.full(ranked.size, first.size, dtype=np.int32)
    code[:present] = np.repeat(
        np.arange(first.size, dtype=np.int32), np.diff(np.append(first, present))
    )
    codes[order] = code
    return order, ranked[first]


@kernel
def _positives_first(order: Array, codes: Array, is_positive: Bools) -> None:
    """Among rows of the same code put positives first: the first row tells if there are any."""
    start = 0
    while start < order.size:
        stop = start
        ahead = start  # where the next positive goes
        while stop < order.size and codes[order[stop]] == codes[order[start]]:
            if is_positive[order[stop]]:
                order[ahead], order[stop] = order[stop], order[ahead]
                ahead += 1
            stop += 1
        start = stop


@kernel
def _bin(column: Floats, cuts: Floats, codes: Array) -> tuple[Floats, Floats]:
    """Fill the number of cuts at or below each value; a missing value gets the next code.

    Returns the least and the greatest value with each code.
    """
    least = np.full(cuts.size + 1, np.inf)
    greatest = np.full(cuts.size + 1, -np.inf)
    for i in range(column.size):
        value = column[i]
        if np.isnan(value):
            codes[i] = cuts.size + 1
            continue
        low = find_code(value, cuts)
        codes[i] = low
        least[low] = min(least[low], value)
        greatest[low] = max(greatest[low], value)
    return least, greatest


def shortest_between(low: float, high: float) -> float:
    """A number t with ``low <= t < high``: their middle, rounded to as few digits as will do.

    People read it, and other programs read it as the same number.

    Examples
    --------
    >>> from rarefind.trees._columns import shortest_between
    >>> shortest_between(221.0, 221.5), shortest_between(0.1234, 0.1239)
    (221.0, 0.1236)
    """
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        short = float(f"{middle:.{digits}g}")
        if low <= short < high:
            return short
    return float(low)

"""ADWIN: the mean of a stream over a window that drops its rows from before a change.

Whenever some cut of the window into an older and a newer part has means further apart than noise
explains, the oldest rows are dropped, until no cut does. The window is an exponential histogram:
buckets of 1, 2, 4, ... rows, at most 5 of each size, of which only sums are kept, and cuts are
tried between buckets. The constants are those of River.

References
----------
A. Bifet, R. Gavaldà, Learning from time-changing data with adaptive windowing, SDM 2007 (ADWIN2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray, IntArray, StateError
from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Floats, Ints

LEVELS = 40  # room for 5·(2^40 − 1) rows; beyond them the oldest are dropped
BUCKETS = 5
CLOCK = 32  # rows between two checks for a change: River's grace of 10 is always over
LEAST = 5  # rows in either part of a cut

# The places in Adwin.count.
_ROWS, _WIDTH = 0, 1


def _check_window(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    rows = int(state["used"] @ 2 ** np.arange(LEVELS))
    if state["count"][_WIDTH] != rows or state["count"][_ROWS] < rows:
        raise StateError("the rows are not those of the buckets")


@saved(
    "adwin",
    state=State(
        {
            "total": FloatArray(LEVELS, BUCKETS + 1, low=0),
            "spread": FloatArray(LEVELS, BUCKETS + 1, low=0),
            "used": IntArray(LEVELS, low=0, high=BUCKETS, dtype=np.intp),
            "count": IntArray(2, low=0, high=2**62, dtype=np.intp),
        },
        _check_window,
    ),
)
class Adwin(NamedTuple):
    """The window of a stream. Level l has buckets of 2^l rows, the oldest first; the rest is 0.

    The arrays are the whole state: a copy of them continues in the same way.
    """

    total: Floats  # (levels, buckets + 1), the sum of the values in a bucket
    spread: Floats  # (levels, buckets + 1), and of their squared distances to its mean
    used: Ints  # (levels,), buckets in use
    count: Ints  # type: ignore[assignment]  # (2,), rows ever taken in, rows in the window

    @classmethod
    def empty(cls) -> Adwin:
        """A window before the first row."""
        shape = (LEVELS, BUCKETS + 1)
        used, count = np.zeros(LEVELS, dtype=np.intp), np.zeros(2, dtype=np.intp)
        return cls(np.zeros(shape), np.zeros(shape), used, count)

    @property
    def width(self) -> int:
        """The rows in the window."""
        return int(self.count[_WIDTH])

    @property
    def mean(self) -> float:
        """The mean of the rows in the window, 0 if there are none."""
        return float(self.total.sum()) / max(self.width, 1)


@kernel
def adwin_add(state: Adwin, value: float, delta: float) -> int:
    """Take in a value from 0 to 1, and cut the window where its parts differ with risk ``delta``.

    Returns 0 if nothing was cut, 1 if the newer part was the higher one in the last cut, −1 if the
    older part was.
    """
    # The kernels below are given bare arrays: reading them off the tuple costs more than the work.
    total, spread, used, count = state
    count[_ROWS] += 1
    count[_WIDTH] += 1 - _append(total, spread, used, value)
    change = 0
    if count[_ROWS] % CLOCK == 0:
        found = _find_change(total, spread, used, count[_WIDTH], delta)
        while found != 0:
            change = found
            count[_WIDTH] -= _drop_oldest(total, spread, used)
            found = _find_change(total, spread, used, count[_WIDTH], delta)
    return change


@kernel
def _append(total: Floats, spread: Floats, used: Ints, value: float) -> int:
    """Put in a bucket of one row; return how many old rows this pushed out of the last level.

    Of six buckets of one size, the two oldest become one of the next.
    """
    level, inner = 0, 0.0
    while True:
        total[level, used[level]] = value
        spread[level, used[level]] = inner
        used[level] += 1
        if used[level] <= BUCKETS:
            return 0
        if level + 1 == used.size:
            return _drop_oldest(total, spread, used)
        first, second = total[level, 0], total[level, 1]
        value = first + second
        # Two buckets of n rows add n/2·(difference of means)² to their own spreads.
        inner = spread[level, 0] + spread[level, 1] + (first - second) ** 2 / (2 << level)
        _shift(total, spread, used, level, 2)
        level += 1


@kernel
def _drop_oldest(total: Floats, spread: Floats, used: Ints) -> int:
    """Take out the oldest bucket; return its rows."""
    level = used.size - 1
    while used[level] == 0:
        level -= 1
    _shift(total, spread, used, level, 1)
    return 1 << level


@kernel
def _shift(total: Floats, spread: Floats, used: Ints, level: int, n: int) -> None:
    """Take the ``n`` oldest buckets out of a level."""
    for k in range(n, used[level]):
        total[level, k - n] = total[level, k]
        spread[level, k - n] = spread[level, k]
    used[level] -= n
    for k in range(used[level], used[level] + n):
        total[level, k] = spread[level, k] = 0.0


@kernel
def _find_change(total: Floats, spread: Floats, used: Ints, n: int, delta: float) -> int:
    """1 or −1 if means rise or fall at the first cut, from the oldest, where they differ; or 0."""
    whole, variance = _moments(total, spread, used, n)
    risk = np.log(2 * np.log(n) / delta)
    older, n_older = 0.0, 0
    for level in range(used.size - 1, -1, -1):
        for k in range(used[level]):
            older += total[level, k]
            n_older += 1 << level
            n_newer = n - n_older
            if n_newer < LEAST:
                return 0
            if n_older < LEAST:
                continue
            # ε_cut with the variance; River counts 4 rows of either part less in 1/m.
            share = 1 / (n_older - LEAST + 1) + 1 / (n_newer - LEAST + 1)
            least = np.sqrt(2 * share * variance * risk) + 2 / 3 * share * risk
            rise = (whole - older) / n_newer - older / n_older
            if abs(rise) > least:
                return 1 if rise > 0 else -1
    return 0


@kernel
def _moments(total: Floats, spread: Floats, used: Ints, n: int) -> tuple[float, float]:
    """The sum of the values in the window of ``n`` rows, and their variance."""
    whole, inner, between = 0.0, 0.0, 0.0
    for level in range(used.size):
        for k in range(used[level]):
            whole += total[level, k]
            inner += spread[level, k]
    for level in range(used.size):
        size = 1 << level
        for k in range(used[level]):
            between += size * (total[level, k] / size - whole / n) ** 2
    return whole, (inner + between) / n

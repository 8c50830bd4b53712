"""Which periods the rows of a table cover whole: its first and its last may be cut off."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rarefind._core.types import Bools, Floats, Ints
from rarefind.data.clock import Times, period_bounds

# A period is cut off if rows begin so much of its length later, or end so much earlier, than in
# any other period.
_CUT_OFF = 0.05
_UNITS = [pd.Timedelta(1, unit).as_unit("ns").value for unit in ("D", "h", "min")]


def in_whole_periods(times: Times, per: str) -> Bools:
    """Whether each row is in a period that the rows cover whole.

    The start of the first period is compared with that of the others, and the end of the last one,
    so that a shop that closes at night or at weekends has whole days and weeks. A single period is
    compared with the calendar.

    Parameters
    ----------
    times : Times
        When the rows were; none is missing.
    per : str
        A period of :data:`rarefind.data.clock.PERIODS`.

    Returns
    -------
    ndarray of bool
    """
    numbers, place = np.unique(times.periods(per), return_inverse=True)
    before, behind = _gaps(times, place, *period_bounds(numbers, per))
    whole = np.ones(numbers.size, dtype=bool)
    whole[0] = before[0] <= before[1:].max(initial=0.0) + _CUT_OFF
    whole[-1] &= behind[-1] <= behind[:-1].max(initial=0.0) + _CUT_OFF
    return whole[place]


def _gaps(times: Times, place: Ints, start: Ints, end: Ints) -> tuple[Floats, Floats]:
    """What each period lacks before its first row and behind its last, as shares of its length."""
    first = np.full(start.size, np.iinfo(np.int64).max)
    last = np.full(start.size, np.iinfo(np.int64).min)
    np.minimum.at(first, place, times.local)
    np.maximum.at(last, place, times.local)
    # A date stands for its whole day, a time without minutes for its whole hour.
    step = next((unit for unit in _UNITS if not (times.local % unit).any()), 0)
    length = (end - start).astype(float)
    return (first - start) / length, (end - last - step) / length

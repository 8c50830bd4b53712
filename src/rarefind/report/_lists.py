"""Lists of rows to check, period by period, and how sure a share of them is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rarefind._core.types import Array, Bools, Floats
from rarefind.metrics import budget as checks_bought
from rarefind.metrics.intervals import share_interval

MISSING_TIME = np.iinfo(np.int64).min
PERIODS = {"hour": "h", "day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
#: A table of more periods is too long to read.
_MOST = 16


def listed(
    score: Floats, budget: int | float | str, per: str | None = None, time: Array | None = None
) -> Bools:
    """The rows that a budget checks: those with the highest scores, of each period with ``per``."""
    lists = np.zeros(score.size, dtype=int)
    if per is not None and time is not None:
        lists = period_codes(time, per)
    sizes = np.bincount(lists[lists >= 0])
    checks = [int(checks_bought(budget, max(1, size))) for size in sizes]
    return top_of_each(score, lists, np.array(checks, dtype=int))


def top_of_each(score: Floats, lists: Array, checks: Array) -> Bools:
    """The first rows of each list by score, so many of each; rows of no list (-1) are left out."""
    order = np.lexsort((-score, lists))
    order = order[lists[order] >= 0]
    own = lists[order]
    place = np.arange(order.size) - np.searchsorted(own, own)
    chosen = np.zeros(score.size, dtype=bool)
    chosen[order[place < checks[own]]] = True
    return chosen


def places(score: Floats) -> Floats:
    """Scores without ties that give the same list: among equals, earlier rows come first."""
    found = np.empty(score.size)
    found[np.argsort(-score, kind="stable")] = -np.arange(score.size)
    return found


def period_codes(time: Array, per: str) -> Array:
    """The period of each row, from 0 on in order; -1 where the time is missing."""
    return pd.factorize(_periods(time, per), sort=True)[0]


def over_time(time: Array, columns: dict[str, Array]) -> tuple[str, pd.DataFrame]:
    """Sums of columns over periods long enough for a short table, and how long they are."""
    known = time != MISSING_TIME
    for per in list(PERIODS)[1:]:
        periods = _periods(time[known], per)
        if len(pd.unique(periods)) <= _MOST:
            break
    whole = {name: values[known] for name, values in columns.items()}
    found = pd.DataFrame({"rows": 1, **whole}).groupby(periods).sum()
    starts = pd.PeriodIndex(found.index).to_timestamp()
    found.insert(0, "start", starts.strftime("%Y-%m-%d"))
    return per, found.reset_index(drop=True)


def share(hits: float, of: float) -> dict[str, float] | None:
    """A share with its exact 95 % interval, of Clopper and Pearson; None of nothing."""
    if of <= 0:
        return None
    low, high = share_interval(hits, of)
    return {"value": hits / of, "low": low, "high": high}


def _periods(time: Array, per: str) -> Any:
    # NumPy reads the smallest integer as a missing time, as pandas writes it.
    return pd.DatetimeIndex(time.astype("datetime64[ns]")).to_period(PERIODS[per])

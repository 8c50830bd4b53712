"""The days of a desk: by the clocks of its time zone."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd

from rarefind._core.types import Ints
from rarefind.data.clock import Times, period_around

__all__ = ["day_begins", "day_of", "days_of", "local_times"]


def local_times(instants: Ints, zone: str) -> Times:
    """Times of a desk, as instants and as its clocks showed them."""
    own = pd.DatetimeIndex(np.asarray(instants, dtype="datetime64[ns]"), tz="UTC")
    local = own.tz_convert(zone).tz_localize(None).to_numpy()
    return Times(np.asarray(instants, dtype=np.int64), local.view(np.int64))


def days_of(instants: Ints, zone: str) -> list[str]:
    """The day of each time, such as ``2026-01-31``."""
    numbers = local_times(instants, zone).periods("day")
    names = {int(number): _name(int(number)) for number in np.unique(numbers)}
    return [names[number] for number in numbers.tolist()]


def day_of(instant: int, zone: str) -> str:
    """The day of a time."""
    return days_of(np.array([instant]), zone)[0]


def day_begins(day: str, zone: str) -> int:
    """When a day begins, as an instant."""
    noon = pd.Timestamp(f"{day} 12:00", tz=zone)
    return period_around(int(noon.as_unit("ns").value), zone, "day")[0]


def _name(number: int) -> str:
    return date.fromordinal(date(1970, 1, 1).toordinal() + number).isoformat()

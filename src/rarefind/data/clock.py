"""The one clock: times, time zones and periods are read here.

Rows are ordered by the instant. A row's period is that of the local time as its column writes it:
``2026-01-01 00:30`` in Paris is 1 January, whatever the day is in UTC.

Nothing heavy is imported before a column is read: the command line checks periods first.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from rarefind._core.types import Array, Bools, Ints

__all__ = [
    "PERIODS",
    "Clock",
    "Times",
    "check_per",
    "has_dates",
    "nanoseconds",
    "period_around",
    "period_bounds",
    "period_names",
    "period_starts",
    "read_times",
    "time_order",
]

#: Periods that a budget can be spent in.
PERIODS = ("hour", "day", "week", "month", "quarter")
# What pandas calls them; years are of use in tables only.
_FREQUENCIES = {
    "hour": "h",
    "day": "D",
    "week": "W",
    "month": "M",
    "quarter": "Q",
    "year": "Y",
}
_MISSING = -(2**63)  # NumPy's and pandas' number of a time that is not known


class Times(NamedTuple):
    """When rows were: one entry a row, in nanoseconds since 1970.

    Attributes
    ----------
    instant : ndarray of int64
        The time in UTC, which orders rows. Times without a zone are taken as they are.
    local : ndarray of int64
        The local time, as a clock on the spot showed it, which says the period.
    """

    instant: Ints
    local: Ints

    @property
    def known(self) -> Bools:
        """Which times are not missing."""
        return self.instant != _MISSING

    def at(self, rows: Any) -> Times:
        """The times of some rows."""
        return Times(self.instant[rows], self.local[rows])

    def periods(self, per: str) -> Ints:
        """The number of the period of each row; missing times have a number below all others."""
        import numpy as np
        import pandas as pd

        local = pd.DatetimeIndex(self.local.view("datetime64[ns]"))
        return np.asarray(local.to_period(_FREQUENCIES[per]).asi8)


def nanoseconds(name: str, length: str | pd.Timedelta) -> int:
    """Read a length of time; ``name`` says in errors what it is the length of."""
    import pandas as pd

    found: Any = pd.NaT
    with suppress(TypeError, ValueError):
        found = pd.Timedelta(length)
    if found is pd.NaT:
        raise ValueError(f"{name}: {length!r} is not a length of time such as '7D' or '1h'.")
    return int(found.as_unit("ns").value)


def check_per(per: str | None, time: str | None) -> None:
    """Refuse a period of rows that have no time; any other word is taken for a column."""
    if per in PERIODS and time is None:
        raise ValueError(
            f"A budget for each {per} needs the column with the time of a row: name it as the time."
        )


def read_times(column: pd.Series[Any], *, allow_missing: bool = False) -> Times:
    """Read a column of times.

    Parameters
    ----------
    column : Series
        Datetimes with or without a time zone, dates, periods, or text: ISO 8601 with or without
        offsets, or another form that all values share and that can be read in one way only.
    allow_missing : bool, default=False
        Whether times may be missing.

    Returns
    -------
    Times
    """
    return Clock().read(column, allow_missing=allow_missing)


def has_dates(column: pd.Series[Any]) -> bool:
    """Whether a column may hold times; numbers only order rows."""
    import pandas as pd

    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def time_order(column: pd.Series[Any]) -> Array:
    """Numbers that order rows in time: instants, or a column of numbers as it is."""
    if has_dates(column):
        return read_times(column).instant
    _check_none_missing(column, column.isna().to_numpy())
    return column.to_numpy()


def period_names(numbers: Array, per: str) -> Array:
    """What periods are called: ``2026-01-31``, ``2026-01``, ``2026Q1``."""
    import numpy as np
    import pandas as pd

    freq = _FREQUENCIES[per]
    return np.array([str(pd.Period(ordinal=int(n), freq=freq)) for n in numbers], dtype=object)


def period_starts(numbers: Array, per: str) -> Array:
    """The first day of each period, as text."""
    import numpy as np
    import pandas as pd

    freq = _FREQUENCIES[per]
    starts = [pd.Period(ordinal=int(n), freq=freq).start_time for n in numbers]
    return np.array([f"{start:%Y-%m-%d}" for start in starts], dtype=object)


def period_bounds(numbers: Array, per: str) -> tuple[Ints, Ints]:
    """When periods begin and end by the local clock, in nanoseconds since 1970."""
    import numpy as np
    import pandas as pd

    freq = _FREQUENCIES[per]

    def start(number: int) -> int:
        return int(pd.Period(ordinal=number, freq=freq).start_time.as_unit("ns").value)

    begin = [start(int(number)) for number in numbers]
    end = [start(int(number) + 1) for number in numbers]
    return np.array(begin, dtype=np.int64), np.array(end, dtype=np.int64)


def period_around(instant: int, zone: str, per: str) -> tuple[int, int]:
    """When the period of a time begins and ends by the clocks of a time zone, as instants."""
    import pandas as pd

    local = pd.Timestamp(instant, tz="UTC").tz_convert(zone).tz_localize(None)
    period = local.to_period(_FREQUENCIES[per])
    begin, end = (
        each.start_time.tz_localize(zone, nonexistent="shift_forward", ambiguous=True)
        for each in (period, period + 1)
    )
    return int(begin.as_unit("ns").value), int(end.as_unit("ns").value)


class Clock:
    """Reads a column that comes in pieces: text is read as its first piece is written."""

    def __init__(self) -> None:
        self._form: str | None = None

    def read(self, column: pd.Series[Any], *, allow_missing: bool = False) -> Times:
        """The times of a piece; see :func:`read_times`."""
        import pandas as pd
        from pandas.api import types as pt

        name = str(column.name)
        if not has_dates(column):
            raise ValueError(
                f"Column {name!r} has numbers, such as {column.iloc[0]}, and not times: write "
                "dates, as 2026-01-31, or convert it with pandas.to_datetime."
                if len(column)
                else f"Column {name!r} has numbers and not times."
            )
        if isinstance(column.dtype, pd.PeriodDtype):
            column = column.dt.to_timestamp()
        if pt.is_datetime64_any_dtype(column.dtype):
            times = _of_datetimes(column)
        elif pt.infer_dtype(column, skipna=True) in ("datetime", "date", "datetime64"):
            times = _of_objects(column)
        else:
            times = self._of_text(column, name)
        if not allow_missing:
            _check_none_missing(column, ~times.known)
        return times

    def _of_text(self, column: pd.Series[Any], name: str) -> Times:
        from rarefind.data._dates import written_form
        from rarefind.data.decode import texts

        text = texts(column).to_pandas()
        known = text.dropna()
        if self._form is None and len(known):
            self._form = written_form(known, name)
        return _of_text(text, self._form or "ISO8601", name)


def _of_datetimes(column: pd.Series[Any]) -> Times:
    if getattr(column.dtype, "tz", None) is None:
        instant = _nanoseconds(column)
        return Times(instant, instant)
    return Times(
        _nanoseconds(column.dt.tz_convert("UTC").dt.tz_localize(None)),
        _nanoseconds(column.dt.tz_localize(None)),
    )


def _of_objects(column: pd.Series[Any]) -> Times:
    """Times of Python, each of which may have a zone of its own."""
    import pandas as pd

    times = column.map(pd.Timestamp, na_action="ignore")
    local = times.map(lambda time: time.replace(tzinfo=None), na_action="ignore")
    instant = pd.to_datetime(times, utc=True).dt.tz_localize(None)
    return Times(_nanoseconds(instant), _nanoseconds(pd.to_datetime(local)))


def _of_text(text: pd.Series[Any], form: str, name: str) -> Times:
    from rarefind.data._dates import to_instants, to_local

    instant = to_instants(text, form).dt.tz_localize(None)
    unread = instant.isna() & text.notna()
    if unread.any():
        raise ValueError(
            f"Column {name!r} has {str(text[unread].iloc[0])!r}, which is not a date: write dates, "
            "as 2026-01-31."
        )
    return Times(_nanoseconds(instant), _nanoseconds(to_local(text, form)))


def _nanoseconds(column: pd.Series[Any]) -> Ints:
    import numpy as np

    return np.asarray(column.to_numpy(dtype="datetime64[ns]").view(np.int64))


def _check_none_missing(column: pd.Series[Any], missing: Bools) -> None:
    count = int(missing.sum())
    if count:
        from rarefind.data.row_numbers import RowError, position_of

        raise RowError(
            f"Column {str(column.name)!r} has {count:,} missing "
            f"{'time' if count == 1 else 'times'} of {missing.size:,}, the first in",
            position_of(column, int(missing.argmax())),
            ": fill them in, or leave those rows out.",
        )

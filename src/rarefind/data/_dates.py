"""Dates written as text: which way they are written, and what they say."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

_TIME = (
    r"(?P<between>[T ])(?P<hour>\d{1,2}):\d{2}(?P<seconds>:\d{2})?(?P<fraction>\.\d{1,9})?"
    r"(?P<half> ?[AaPp][Mm])?(?P<zone> ?(?:Z|[+-]\d{2}:?\d{2}))?"
)
_ISO = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}(?:{_TIME})?")
_DATE = re.compile(
    r"(?P<first>\d{4}|\d{1,2})(?P<sep>[-/.])\d{1,2}(?P=sep)(?P<last>\d{4}|\d{1,2})"
    rf"(?:{_TIME})?"
)


def date_format(values: pd.Series[Any]) -> str | None:
    """How all known values are written, as a format for :func:`to_dates`; None if no dates.

    Dates that could be read day first and month first alike are not guessed at.
    """
    known = values.dropna()
    if known.empty:
        return None
    first = str(known.iloc[0])
    if _ISO.fullmatch(first) and known.str.fullmatch(_ISO.pattern).all():
        form = "ISO8601%z" if re.search(r":\d{2}.*(Z|[+-]\d{2}:?\d{2})$", first) else "ISO8601"
        return form if fits(known, form) else None
    found = _DATE.fullmatch(first)
    if not found:
        return None
    possible = [form for form in _orders(found) if fits(known, form)]
    return possible[0] if len(possible) == 1 else None


def fits(known: pd.Series[Any], form: str) -> bool:
    """Whether all values can be read in a format."""
    # Most columns without dates show it at once.
    return bool(
        to_dates(known.head(50), form).notna().all() and to_dates(known, form).notna().all()
    )


def is_ambiguous(known: pd.Series[Any], form: str) -> bool:
    """Whether the values can also be read with day and month exchanged."""
    if "%d." in form or not ("%d" in form and "%m" in form) or form.startswith("%Y"):
        return False
    exchanged = form.replace("%d", "%%").replace("%m", "%d").replace("%%", "%m")
    return fits(known, exchanged)


def to_dates(values: pd.Series[Any], form: str) -> pd.Series[Any]:
    """Read dates; what cannot be read is missing. Without a zone in the format, as the clock shows.

    Columns with a zone come out in UTC.
    """
    pandas_form = "ISO8601" if form.startswith("ISO8601") else form
    dates = pd.to_datetime(values, format=pandas_form, errors="coerce", utc=True)
    return dates if "%z" in form else dates.dt.tz_localize(None)


def _orders(found: re.Match[str]) -> list[str]:
    """The formats that one value allows."""
    sep, time = found["sep"], _time_format(found)
    if len(found["first"]) == 4:
        return [f"%Y{sep}%m{sep}%d{time}"] if len(found["last"]) <= 2 else []
    if len(found["last"]) != 4:
        return []  # a year of two digits could be anything
    day_first, month_first = f"%d{sep}%m{sep}%Y{time}", f"%m{sep}%d{sep}%Y{time}"
    # Points are only written where the day comes first.
    return [day_first] if sep == "." else [day_first, month_first]


def _time_format(found: re.Match[str]) -> str:
    if not found["between"]:
        return ""
    hour = "%I" if found["half"] else "%H"
    parts = [found["between"], hour, ":%M"]
    parts += [":%S"] if found["seconds"] else []
    parts += [".%f"] if found["fraction"] else []
    parts += [re.sub(r"\S+", "%p", found["half"])] if found["half"] else []
    parts += [re.sub(r"\S+", "%z", found["zone"])] if found["zone"] else []
    return "".join(parts)

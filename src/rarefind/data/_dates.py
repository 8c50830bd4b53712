"""Dates written as text: which way they are written, and what they say."""

from __future__ import annotations

import re
from datetime import UTC, timezone
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

# An offset, behind a time.
_OFFSET = re.compile(
    r"(\d:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?|T\d{2}|T\d{4}|T\d{6})"
    r" ?(?:Z|[+-]\d{2}(?::?\d{2})?)$"
)


def date_format(
    values: pd.Series[Any], day_first: bool | None = None, asked: str | None = None
) -> str | None:
    """How all known values are written, as a form for :func:`to_dates`; None of other text.

    Dates that could be read day first and month first alike are not guessed at: ``day_first`` has
    to say it, or the form that was asked for.
    """
    known = values.dropna()
    if known.empty:
        return None
    first = str(known.iloc[0])
    if asked is not None and re.search(r"\d", first) and fits(known, asked):
        return asked
    if _ISO.fullmatch(first) and known.str.fullmatch(_ISO.pattern).all():
        form = "ISO8601%z" if re.search(r":\d{2}.*(Z|[+-]\d{2}:?\d{2})$", first) else "ISO8601"
        return form if fits(known, form) else None
    found = _DATE.fullmatch(first)
    if not found:
        return None
    possible = [form for form in _orders(found) if fits(known, form)]
    if len(possible) == 2:
        if asked is not None and "%d" in asked and "%m" in asked:
            day_first = asked.index("%d") < asked.index("%m")
        possible = [] if day_first is None else possible[:1] if day_first else possible[1:]
    return possible[0] if possible else None


def is_undecided_date(known: pd.Series[Any]) -> bool:
    """Whether values could be dates with the day first, and with the month first."""
    known = known.dropna()
    found = None if known.empty else _DATE.fullmatch(str(known.iloc[0]))
    forms = [] if found is None else _orders(found)
    return len(forms) == 2 and all(fits(known, form) for form in forms)


def fits(known: pd.Series[Any], form: str) -> bool:
    """Whether all values can be read in a format."""
    # Most columns of something else show it at once.
    return bool(
        to_instants(known.head(50), form).notna().all() and to_instants(known, form).notna().all()
    )


def is_ambiguous(known: pd.Series[Any], form: str) -> bool:
    """Whether the values can also be read with day and month exchanged."""
    if "%d." in form or not ("%d" in form and "%m" in form) or form.startswith("%Y"):
        return False
    exchanged = form.replace("%d", "%%").replace("%m", "%d").replace("%%", "%m")
    return fits(known, exchanged)


def written_form(known: pd.Series[Any], name: str) -> str:
    """The one form that all times of a column are written in; an error names what is not."""
    found = date_format(known)
    if found is not None:
        return found
    if to_instants(known, "ISO8601").notna().all():
        return "ISO8601"  # also without dashes, or by month
    first = _DATE.fullmatch(str(known.iloc[0]))
    forms = (_orders(first) if first else []) or ["ISO8601"]
    if all(fits(known, form) for form in forms):
        raise ValueError(
            f"Column {name!r} has dates such as {str(known.iloc[0])!r}, which could be read day "
            "first or month first: say which by a date format (--date-format %d/%m/%Y), or write "
            "them as 2026-01-31."
        )
    form = max(forms, key=lambda form: int(to_instants(known, form).notna().sum()))
    bad = known[to_instants(known, form).isna()].iloc[0]
    raise ValueError(
        f"Column {name!r} has {str(bad)!r}, which is not a date: write dates, as 2026-01-31."
    )


def to_dates(values: pd.Series[Any], form: str) -> pd.Series[Any]:
    """Read dates; what cannot be read is missing. Without an offset in the form, as written.

    Times with offsets keep them: in one time zone where all have the same offset, else as one
    timestamp each.
    """
    instants = to_instants(values, form)
    if "%z" not in form:
        return instants.dt.tz_localize(None)
    offsets = to_local(values, form) - instants.dt.tz_localize(None)
    different = offsets.dropna().unique()
    if len(different) == 1:
        return instants.dt.tz_convert(_zone(different[0]))
    zones = {offset: _zone(offset) for offset in different}
    zoned = [
        pd.NaT if pd.isna(offset) else instant.tz_convert(zones[offset])
        for instant, offset in zip(instants, offsets, strict=True)
    ]
    return pd.Series(zoned, index=values.index, dtype=object) if len(different) else instants


def to_instants(values: pd.Series[Any], form: str) -> pd.Series[Any]:
    """The times in UTC; those without an offset as if they were."""
    return pd.to_datetime(values, format=_pandas_form(form), errors="coerce", utc=True)


def to_local(values: pd.Series[Any], form: str) -> pd.Series[Any]:
    """The times as written, without their offsets."""
    if "%z" in form or form == "ISO8601":
        values = values.str.replace(_OFFSET, r"\g<1>", regex=True)
    form = re.sub(" ?%z", "", form)
    return pd.to_datetime(values, format=form, errors="coerce")


def _pandas_form(form: str) -> str:
    return "ISO8601" if form.startswith("ISO8601") else form


def _zone(offset: Any) -> timezone:
    # That of zero is UTC by name, as pandas reads it.
    return UTC if not offset else timezone(pd.Timedelta(offset).to_pytimedelta())


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

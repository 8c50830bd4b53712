"""Amounts, numbers, dates and times, as a language writes them, in the time zone of the desk."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date, format_datetime, format_time, format_timedelta
from babel.numbers import format_decimal, format_percent
from babel.units import format_unit

from rarefind.desk.api.views import instant
from rarefind.desk.clock import DeskClock
from rarefind.desk.schema import Schema

__all__ = ["Formats"]

_SECOND = timedelta(seconds=1)
_UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_SYMBOLS = {"hour": "h", "minute": "min", "second": "s"}


class Formats:
    """Writes what pages show; in templates it is called ``show``.

    Times are nanoseconds since 1970 in UTC, as they are stored.

    Parameters
    ----------
    locale : Locale
    schema : Schema
    clock : DeskClock

    Examples
    --------
    >>> from rarefind.desk.clock import ManualClock
    >>> from types import SimpleNamespace as Some
    >>> schema = Some(transaction=Some(minor_units=2, time_zone="Europe/Paris"))
    >>> show = Formats(Locale("en", "GB"), schema, ManualClock(1_769_860_800 * 10**9))
    >>> show.amount(123456), show.time(0), show.percent(0.125, 1)
    ('1,234.56', '1 Jan 1970, 01:00', '12.5%')
    >>> [show.length(seconds * 10**9).replace("\xa0", " ") for seconds in (1_800, 30_915, 777_600)]
    ['30 minutes', '8 h 35 min', '9 days']
    """

    def __init__(self, locale: Locale, schema: Schema, clock: DeskClock) -> None:
        self._locale, self._clock = locale, clock
        self._minor_units = schema.transaction.minor_units
        self._zone = ZoneInfo(schema.transaction.time_zone)

    def number(self, number: float, digits: int | None = None) -> str:
        """A number, by default with as many digits as it needs, at most three after the point."""
        form = None if digits is None else "#,##0" + ("." + "0" * digits if digits else "")
        return _decimal(number or 0, form, str(self._locale))

    def amount(self, minor: int) -> str:
        """An amount that is stored in minor units."""
        units = self._minor_units
        return self.number(Decimal(minor).scaleb(-units), units)  # type: ignore[arg-type]

    def percent(self, share: float, digits: int = 0) -> str:
        """A share of 1 in per cent."""
        pattern = "#,##0" + ("." + "0" * digits if digits else "")
        own = self._locale.percent_formats[None].pattern
        return _percent(share or 0, own.replace("#,##0", pattern), str(self._locale))

    def day(self, time: int) -> str:
        """The day of a time."""
        return format_date(self._local(time), "medium", locale=self._locale)

    def date(self, day: str) -> str:
        """A day that is stored as 2026-01-31."""
        return format_date(date.fromisoformat(day), "medium", locale=self._locale)

    def time(self, time: int) -> str:
        """A time with its day, to the minute."""
        parts = (self.day(time), self.clock(time))
        return self._locale.datetime_formats["medium"].format(parts[1], parts[0])

    def clock(self, time: int) -> str:
        """A time of a day, to the minute."""
        return format_time(self._local(time), "short", locale=self._locale)

    def ago(self, time: int) -> str:
        """How long ago it was, or how far ahead, in words."""
        delta = instant(time) - instant(self._clock.now())
        if abs(delta) < _SECOND:
            delta = -_SECOND
        return format_timedelta(delta, add_direction=True, locale=self._locale)

    def length(self, nanoseconds: int) -> str:
        """How long something takes, as people say it: in one unit, or rounded to two of them."""
        seconds = max(round(nanoseconds / 10**9), 0)
        sizes = list(_UNITS.values())
        place = next((i for i, size in enumerate(sizes) if seconds >= size), len(sizes) - 1)
        if place + 1 < len(sizes):
            # Rounded up, it may be a whole larger unit: 59 min 59.7 s.
            smaller = sizes[place + 1]
            seconds = (seconds + smaller // 2) // smaller * smaller
            place -= place > 0 and seconds >= sizes[place - 1]
        unit, size = list(_UNITS.items())[place]
        count, rest = divmod(seconds, size)
        if not rest:
            return format_unit(count, f"duration-{unit}", locale=self._locale)
        below = list(_UNITS)[place + 1]
        return f"{self._short(count, unit)} {self._short(rest // _UNITS[below], below)}"

    def _short(self, count: int, unit: str) -> str:
        symbol = _SYMBOLS.get(unit)
        if symbol is not None:  # the same in every language
            return f"{count}\u00a0{symbol}"
        return format_unit(count, f"duration-{unit}", length="short", locale=self._locale)

    def iso(self, time: int) -> str:
        """A time for machines, as ``<time datetime=…>`` has it."""
        return self._local(time).isoformat(timespec="seconds")

    def exactly(self, time: int) -> str:
        """A time with its day and seconds."""
        return format_datetime(self._local(time), "medium", locale=self._locale)

    def _local(self, time: int) -> datetime:
        return instant(time).astimezone(self._zone)


@lru_cache(4_096)  # charts write the same few numbers again and again
def _decimal(number: float, form: str | None, locale: str) -> str:
    return format_decimal(number or 0, form, locale=locale)


@lru_cache(4_096)
def _percent(share: float, form: str, locale: str) -> str:
    return format_percent(share, form, locale=locale)

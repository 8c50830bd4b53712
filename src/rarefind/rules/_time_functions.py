"""Functions of times: what the clock of a time's own zone shows, and how far two are apart.

In databases a time is a TIMESTAMP; one with a time zone is read by the clock of the session's. In
SQLite it is a text as 2026-01-31 12:30:00.25, without a zone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from rarefind.rules._function import Function
from rarefind.rules._parse import RuleError
from rarefind.rules.sql_values import as_double

_MICROSECOND = timedelta(microseconds=1)
_MINUTE = 60_000_000.0  # in microseconds
_SECONDS = 19  # characters of a text with whole seconds


def _part(
    name: str,
    run: Callable[[datetime], int],
    expression: Callable[[Any], pl.Expr],
    field: str,
    sqlite: str,
) -> Function:
    """A part of what a clock and a calendar show."""

    def sql(dialect: str, time: str) -> str:
        if dialect == "sqlite":
            return as_double(sqlite.format(f"substr({time}, 1, {_SECONDS})"), dialect)
        if name == "weekday" and dialect == "mysql":
            return as_double(f"(WEEKDAY({time}) + 1)", dialect)
        if name == "weekday" and dialect == "ansi":
            raise RuleError("Standard SQL has no weekday: write the query for a database.")
        return as_double(f"EXTRACT({field} FROM {time})", dialect)

    return Function(
        ("time",),
        "number",
        lambda time: float(run(time)),
        lambda time: expression(time.dt).cast(pl.Float64),
        sql,
    )


def _instant(time: datetime) -> datetime:
    # Of two times of one zone Python would subtract what the clock shows, also where it is changed.
    return time if time.tzinfo is None else time.astimezone(UTC)


def _minutes_between(first: datetime, second: datetime) -> float:
    return ((_instant(second) - _instant(first)) // _MICROSECOND) / _MINUTE


def _minutes_expression(first: pl.Expr, second: pl.Expr) -> pl.Expr:
    apart = (second - first).dt.total_microseconds().cast(pl.Float64)
    # By a plain number Polars would multiply with its inverse, which is rounded otherwise.
    return apart / pl.when(apart.is_not_null()).then(_MINUTE)


def _minutes_sql(dialect: str, first: str, second: str) -> str:
    if dialect == "sqlite":
        apart = f"({_sqlite_microseconds(second)} - {_sqlite_microseconds(first)})"
    elif dialect == "duckdb":
        apart = f"date_diff('microsecond', {first}, {second})"
    elif dialect == "postgresql":
        apart = f"(EXTRACT(EPOCH FROM ({second} - {first})) * 1000000)"
    elif dialect == "mysql":
        apart = f"TIMESTAMPDIFF(MICROSECOND, {first}, {second})"
    else:
        raise RuleError("Standard SQL cannot count minutes: write the query for a database.")
    minute = "float8 '60000000'" if dialect == "postgresql" else "6e7"
    return f"({as_double(apart, dialect)} / {minute})"


def _sqlite_microseconds(time: str) -> str:
    """Microseconds since 1970: its own functions would round to thousandths of a second."""
    seconds = f"CAST(strftime('%s', substr({time}, 1, {_SECONDS})) AS INTEGER)"
    rest = f"CAST(substr(substr({time}, {_SECONDS + 2}) || '000000', 1, 6) AS INTEGER)"
    return f"({seconds} * 1000000 + {rest})"


#: The functions of times by name. Monday is weekday 1, Sunday 7.
TIME_FUNCTIONS = {
    "hour": _part("hour", lambda t: t.hour, lambda t: t.hour(), "HOUR", "strftime('%H', {})"),
    "weekday": _part(
        "weekday",
        datetime.isoweekday,
        lambda t: t.weekday(),
        "ISODOW",
        "((strftime('%w', {}) + 6) % 7 + 1)",
    ),
    "day": _part("day", lambda t: t.day, lambda t: t.day(), "DAY", "strftime('%d', {})"),
    "month": _part("month", lambda t: t.month, lambda t: t.month(), "MONTH", "strftime('%m', {})"),
    "minutes_between": Function(
        ("time", "time"),
        "number",
        _minutes_between,
        _minutes_expression,
        _minutes_sql,
    ),
}

"""What the values of a column mean: the one place that says which are numbers, texts and truths."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from rarefind.rules._parse import RuleError

_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal, Fraction)
_DATES = (date, np.datetime64)  # a timestamp is a date, too


def as_number(name: str, value: Any) -> float | None:
    """A value as the nearest double; None where it is missing."""
    if _is_missing(value):
        return None
    if not isinstance(value, _NUMBERS):
        raise _wrong_kind(name, value, "number")
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    exact = isinstance(value, int | Fraction) or (isinstance(value, Decimal) and value.is_finite())
    if exact and np.isinf(number):
        raise RuleError(f"The column {name!r} holds a number that is too large for a rule.")
    return number


def as_text(name: str, value: Any) -> str | None:
    """A value as text; None where it is missing."""
    if isinstance(value, str):
        return str(value)
    if _is_missing(value):
        return None
    raise _wrong_kind(name, value, "text")


def as_truth(name: str, value: Any) -> bool | None:
    """True, false and the numbers 1 and 0; None where it is missing."""
    if value is True or value is False:
        return value
    if _is_missing(value):
        return None
    if isinstance(value, _NUMBERS) and (value == 0 or value == 1):
        return bool(value)
    raise _wrong_kind(name, value, "truth")


def as_time(name: str, value: Any) -> datetime | None:
    """A time to the microsecond, a date at its midnight; None where it is missing."""
    if type(value) is datetime:
        return value
    if _is_missing(value):
        return None
    if not isinstance(value, _DATES):
        raise _wrong_kind(name, value, "time")
    return pd.Timestamp(value).floor("us").to_pydatetime()


def as_any_value(name: str, value: Any) -> Any:
    """A value of a column that can hold anything: whole numbers stay exact."""
    if _is_missing(value):
        return None
    if isinstance(value, bool | int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, _NUMBERS):
        return as_number(name, value)
    if isinstance(value, str):
        return str(value)
    return pd.Timestamp(value) if isinstance(value, _DATES) else value


#: How the values of a column are read, by what the rule needs.
VALUES: dict[str | None, Callable[[str, Any], Any]] = {
    "number": as_number,
    "text": as_text,
    "truth": as_truth,
    "time": as_time,
    None: as_any_value,
}


def family(value: Any) -> str:
    """What can be compared with a value of :func:`as_any_value`."""
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, pd.Timestamp):
        return "date" if value.tzinfo is None else "date with a time zone"
    return type(value).__name__


def check_comparable(left: str, one: str, right: str, other: str) -> None:
    """Raise on two columns of which one has numbers and the other texts, or the like."""
    if one != other:
        raise RuleError(
            f"The column {left!r} holds a {one} and {right!r} a {other}: they cannot be compared."
        )


def _is_missing(value: Any) -> bool:
    # NaN, and what pandas has in its place, is not equal to itself.
    return value is None or value is pd.NA or bool(value != value)


def _wrong_kind(name: str, value: Any, kind: str) -> RuleError:
    hint = ": write true, false, 1 or 0." if kind == "truth" else "."
    return RuleError(f"The column {name!r} holds {value!r:.60}, and a {kind} is needed{hint}")

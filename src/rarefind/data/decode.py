"""A column of any type as numbers, booleans, dates or text."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api import types as pt

from rarefind._core.types import Array, Floats
from rarefind.data._dates import date_format
from rarefind.data.types import (
    FALSE_WORDS,
    TRUE_WORDS,
    OtherTypeError,
    Text,
    clean,
    convert,
    convert_fitting,
)

_NESTED = (list, tuple, dict, set, np.ndarray)
#: The zone of times that are read as they are written, with whatever offset.
LOCAL = "local"


def kind_of(column: pd.Series[Any]) -> str:
    """What a column holds by its type: number, boolean, date or text."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "text"
    if pt.is_complex_dtype(dtype):
        raise ValueError(f"Column {column.name!r} holds complex numbers: give two real columns.")
    if pt.is_bool_dtype(dtype):
        return "boolean"
    if pt.is_numeric_dtype(dtype) or pt.is_timedelta64_dtype(dtype):
        return "number"
    if pt.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return "date"
    return _kind_of_objects(column) if pt.is_object_dtype(dtype) else "text"


def numbers(column: pd.Series[Any], written: str | None) -> Floats:
    """A column as floats, NaN where missing; durations in seconds."""
    kind = _known_kind(column)
    if kind == "missing":
        return np.full(len(column), np.nan)
    if kind == "date":
        raise _type_error(column, "numbers", "dates")
    if kind == "text":
        column = _convert(column, written, "number")
    elif pt.is_timedelta64_dtype(column.dtype):
        column = column.dt.total_seconds()
    elif pt.is_object_dtype(column.dtype):
        column = column.map(float, na_action="ignore")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    check_no_infinity(str(column.name), values)
    return values


def check_no_infinity(name: str, values: Floats) -> None:
    """Raise on infinity: mostly it comes from a division by 0, and it cannot be scaled."""
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise ValueError(
            f"Column {name!r} has infinite values in {infinite} of {len(values)} rows: "
            "replace them by numbers, or leave them empty."
        )


def booleans(column: pd.Series[Any], written: str | None) -> Floats:
    """A column as 0 and 1, NaN where missing."""
    kind = _known_kind(column)
    if kind == "missing":
        return np.full(len(column), np.nan)
    if kind == "date":
        raise _type_error(column, "true and false", "dates")
    if kind == "text":
        column = _convert(column, written, "boolean")
    elif pt.is_object_dtype(column.dtype):
        column = column.map(float, na_action="ignore")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise _type_error(column.where(~np.isin(values, (0, 1))), "true and false", "other numbers")
    return values


def dates(column: pd.Series[Any], written: str | None, zone: str | None) -> Array:
    """A column as datetime64[us] by the clock of a time zone, NaT where missing.

    The zone is what :func:`time_zone` said at the fit: its name, or ``"local"`` for the time as it
    is written. Files of version 0.1.0 have None for UTC, and names of offsets.
    """
    kind = _known_kind(column)
    if column.isna().all():
        return np.full(len(column), np.datetime64("NaT", "us"))
    if kind in ("number", "boolean"):
        raise _type_error(column, "dates", f"{kind}s")
    if kind == "text":
        guess = written or f"date:{date_format(texts(column).to_pandas()) or 'ISO8601'}"
        column = _convert(column, written, guess)
    elif isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if pt.is_object_dtype(column.dtype):
        column = _as_written(column) if zone == LOCAL else _one_zone(column)
    if column.dt.tz is not None:
        own = column if zone == LOCAL else column.dt.tz_convert(zone or "UTC")
        column = own.dt.tz_localize(None)
    return column.to_numpy(dtype="datetime64[us]")


def _one_zone(column: pd.Series[Any]) -> pd.Series[Any]:
    """Times of Python as a column: in UTC where some have a zone, which may differ."""
    zoned = any(getattr(time, "tzinfo", None) is not None for time in column.dropna())
    return pd.to_datetime(column, utc=zoned)


def _as_written(column: pd.Series[Any]) -> pd.Series[Any]:
    """Times of Python as a column, without the zone of each."""
    times = column.map(pd.Timestamp, na_action="ignore")
    return pd.to_datetime(times.map(lambda time: time.replace(tzinfo=None), na_action="ignore"))


def time_zone(column: pd.Series[Any]) -> str:
    """The zone whose clock a column of dates is read by: the one it names, else as it is written.

    An offset is not a zone: ``+01:00`` in winter is ``+02:00`` in summer, and nine o'clock is nine
    o'clock in both.
    """
    name = str(getattr(column.dtype, "tz", LOCAL))
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError):
        return LOCAL


def texts(column: pd.Series[Any]) -> Text:
    """A column as cleaned Arrow text, null where missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = pa.array([level_text(level) for level in column.cat.categories], pa.string())
        codes = column.cat.codes.to_numpy()
        return clean(levels.take(pa.array(codes, mask=codes < 0)))
    if pt.is_string_dtype(column.dtype) and not pt.is_object_dtype(column.dtype):
        return clean(pa.array(column.to_numpy(dtype=object), pa.string(), from_pandas=True))
    values = column.to_numpy(dtype=object)
    known = column.notna().to_numpy()
    written = [
        level_text(value) if there else None for value, there in zip(values, known, strict=True)
    ]
    return clean(pa.array(written, pa.string()))


def _known_kind(column: pd.Series[Any]) -> str:
    kind = kind_of(column)
    # A column of which nothing is known fits everywhere.
    nothing = kind in ("text", "date") and column.isna().all()
    return "missing" if nothing else kind


def _convert(column: pd.Series[Any], written: str | None, kind: str) -> pd.Series[Any]:
    """Text as the type it was at fit.

    Where the column was text at fit, for example numbers as words, another word counts as missing.
    Where it was of the type itself, it is an error.
    """
    text, name = texts(column), str(column.name)
    start = _start(column)
    read = convert_fitting(text, written) if written else convert(text, kind, name, start)
    return read.rename(name)


def _kind_of_objects(column: pd.Series[Any]) -> str:
    found = pt.infer_dtype(column, skipna=True)
    if found in ("integer", "floating", "decimal", "mixed-integer-float"):
        return "number"
    if found == "boolean":
        return "boolean"
    if found in ("date", "datetime", "datetime64"):
        return "date"
    if found.startswith("mixed") and column.map(lambda value: isinstance(value, _NESTED)).any():
        raise ValueError(
            f"Column {column.name!r} has lists or other nested values: "
            "spread them over columns of their own or drop the column."
        )
    return "text"


def level_text(value: Hashable) -> str:
    """A value as a level's name: 2.0 is "2", as whole numbers beside missing ones become floats."""
    if isinstance(value, (bool, np.bool_)):
        return (TRUE_WORDS if value else FALSE_WORDS)[0]
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _type_error(column: pd.Series[Any], before: str, now: str) -> ValueError:
    place = int(column.notna().to_numpy().argmax())
    return OtherTypeError(
        f": the column had {before} at fit and has {now} now. Correct the column, or fit again.",
        str(column.name),
        before,
        column.iloc[place],
        _start(column) + place,
    )


def _start(column: pd.Series[Any]) -> int:
    """The position of the first row; a piece of a file counts the rows of the file."""
    return int(column.index[0]) if isinstance(column.index, pd.RangeIndex) else 0

"""The columns of a table as rules take them: the same values as those of records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from rarefind._core.types import Table
from rarefind.data.frames import as_frame
from rarefind.rules._parse import RuleError
from rarefind.rules._values import VALUES, check_comparable
from rarefind.rules.syntax import Column, Compare, Node

_TYPES: dict[str | None, Any] = {"number": pl.Float64, "text": pl.String, "truth": pl.Boolean}
_TEXTS = (pl.String, pl.Categorical, pl.Enum)


def as_columns(table: Table, needed: Mapping[str, set[str | None]]) -> pl.DataFrame:
    """The columns that rules need, and the first where they need none; NaN is a missing value.

    A column can be needed as more than one kind: numbers that are all 0 or 1 as truths, too.
    """
    if not isinstance(table, Mapping | pl.DataFrame | pd.DataFrame):
        table = as_frame(table)
    names = list(table.keys() if isinstance(table, Mapping) else table.columns)
    missing = [name for name in needed if name not in names]
    if missing:
        raise RuleError(f"The table has no column {missing[0]!r}.")
    columns = dict(needed) or {name: {None} for name in names[:1]}
    return pl.DataFrame([_column(name, kinds, table[name]) for name, kinds in columns.items()])


def check_pairs(tree: Node, kinds: Mapping[str, str | None], schema: Mapping[str, Any]) -> None:
    """Raise where a rule compares two columns of which one has numbers and the other texts."""
    for node in tree.walk():
        if isinstance(node, Compare) and isinstance(node.left, Column):
            left, right = node.left.name, getattr(node.right, "name", None)
            if right is not None and kinds[left] in (None, "time"):
                one, other = (_family(schema[name]) for name in (left, right))
                if "missing" not in (one, other):
                    check_comparable(left, one, right, other)
                if kinds[left] is None:
                    _check_one_zone(left, schema[left], right, schema[right])


def _column(name: str, kinds: set[str | None], values: Any) -> pl.Series:
    kind = "time" if "time" in kinds else next(iter(kinds)) if len(kinds) == 1 else None
    series = _as_series(name, kind, values).alias(name)
    for asked in kinds:
        _check_type(name, asked, series.dtype)
    if kind == "time":
        return series.cast(pl.Datetime("us", getattr(series.dtype, "time_zone", None)))
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if "truth" in kinds and series.dtype.is_numeric():
        _check_truths(name, series)
    return _plain(series) if kind is None else series


def _as_series(name: str, kind: str | None, values: Any) -> pl.Series:
    if isinstance(values, pl.Series):
        return values
    if isinstance(values, pd.Series | np.ndarray):
        values = pd.Series(values)
        if values.dtype != object or (kind in ("text", None) and _all_texts(values)):
            return pl.Series(name, pa.Array.from_pandas(values))
    # Values of Python are read one by one, as those of records.
    read = VALUES[kind]
    plain = [read(name, value) for value in values]
    if kind == "time":
        return _times(name, plain)
    try:
        return pl.Series(name, plain, dtype=_TYPES.get(kind))
    except (TypeError, OverflowError):
        raise RuleError(f"The column {name!r} holds values of several types.") from None


def _times(name: str, values: list[datetime | None]) -> pl.Series:
    """Times of Python as a column, by the clock of the zone that they share."""
    zones = {None if time.tzinfo is None else str(time.tzinfo) for time in values if time}
    if len(zones) > 1:
        raise RuleError(f"The column {name!r} holds times of several zones: bring them to one.")
    if not zones or zones == {None}:
        return pl.Series(name, values, dtype=pl.Datetime("us"))
    instants = [None if t is None else t.astimezone(UTC).replace(tzinfo=None) for t in values]
    series = pl.Series(name, instants, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC")
    (zone,) = zones
    try:
        return series.dt.convert_time_zone(str(zone))
    except pl.exceptions.ComputeError:
        raise RuleError(
            f"The column {name!r} holds times at {zone}, which does not name a time zone: bring "
            "them to one."
        ) from None


def _check_one_zone(left: str, one: Any, right: str, other: Any) -> None:
    """Raise where two columns show their instants by two clocks, which another rule asks."""
    if getattr(one, "time_zone", None) != getattr(other, "time_zone", None):
        raise RuleError(
            f"The columns {left!r} and {right!r} are of two time zones: bring them to one."
        )


def _all_texts(values: pd.Series[Any]) -> bool:
    return bool(pd.api.types.infer_dtype(values, skipna=True) == "string")


def _plain(series: pl.Series) -> pl.Series:
    """Columns of which a rule says nothing, in types that can be compared with each other."""
    if series.dtype in _TEXTS:
        return series.cast(pl.String)
    if series.dtype == pl.Boolean:
        return series.cast(pl.Int64)
    if series.dtype == pl.Float32 or series.dtype.is_decimal():
        return series.cast(pl.Float64)
    if series.dtype in (pl.Date, pl.Datetime):
        zone = getattr(series.dtype, "time_zone", None)
        if zone is not None:
            series = series.dt.convert_time_zone("UTC")
        return series.cast(pl.Datetime("us", None if zone is None else "UTC"))
    return series


def _family(dtype: Any) -> str:
    """What columns of a type can be compared with."""
    if dtype == pl.Null:
        return "missing"
    if dtype.is_numeric():
        return "number"
    if dtype == pl.String:
        return "text"
    if dtype == pl.Datetime:
        return "date" if dtype.time_zone is None else "date with a time zone"
    return str(dtype)


def _check_type(name: str, kind: str | None, dtype: Any) -> None:
    holds = {
        "number": dtype.is_numeric() or dtype == pl.Boolean,
        "text": dtype in _TEXTS,
        "truth": dtype.is_numeric() or dtype == pl.Boolean,
        "time": dtype in (pl.Date, pl.Datetime),
        None: True,
    }[kind]
    if not (holds or dtype == pl.Null):
        raise RuleError(f"The column {name!r} holds {dtype}, and a {kind} is needed.")


def _check_truths(name: str, series: pl.Series) -> None:
    others = series.filter((series != 0) & (series != 1))
    if len(others):
        VALUES["truth"](name, others[0])  # raises

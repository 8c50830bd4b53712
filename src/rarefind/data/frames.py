"""One door to the tables of others: pandas, polars, Arrow and NumPy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.utils import check_array

from rarefind._core.types import Array, Ints, Table
from rarefind.data.types import from_arrow, without_views


def as_frame(table: Table) -> pd.DataFrame:
    """Any table in pandas; columns without names of their own are called x0, x1 and so on."""
    table = rows_of_dicts(table)
    if isinstance(table, pd.DataFrame):
        frame = table
    elif _is_arrow(table):
        table = table.to_arrow() if hasattr(table, "to_arrow") else pa.table(table)
        _check_unique(table.column_names)
        frame = from_arrow(table)
    else:
        values = check_array(table, dtype=None, ensure_all_finite=False)
        frame = pd.DataFrame(values).infer_objects()
    if not frame.shape[1]:
        raise ValueError(
            f"Found a table with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is "
            "required."
        )
    if not has_names(table):
        return frame.set_axis([f"x{i}" for i in range(frame.shape[1])], axis=1)
    _check_unique(frame.columns)
    return frame


def rows_of_dicts(table: Table) -> Table:
    """A dict, which is a row, or a list of them as a table; anything else as it is."""
    if isinstance(table, Mapping) and not issparse(table):  # SciPy has one that is a mapping
        table = [table]
    if isinstance(table, list) and table and all(isinstance(row, Mapping) for row in table):
        return pd.DataFrame(table)
    return table


def has_names(table: Table) -> bool:
    """Whether the columns have names, not only positions."""
    table = rows_of_dicts(table)
    if isinstance(table, pd.DataFrame):
        return all(isinstance(name, str) for name in table.columns)
    return _is_arrow(table)


def as_piece(table: Table, start: int) -> pd.DataFrame | Any:
    """A piece of a larger table, in pandas or Arrow: what has no index is counted from ``start``.

    Columnar tables stay in Arrow, which can be read without a copy of it all.
    """
    if isinstance(table, pd.DataFrame):
        return as_frame(table)
    if _is_arrow(table):
        table = table.to_arrow() if hasattr(table, "to_arrow") else pa.table(table)
        _check_unique(table.column_names)
        return without_views(table)
    frame = as_frame(table)
    return frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)


def column_names(piece: pd.DataFrame | Any) -> list[str]:
    """Names of the columns of a piece."""
    return list(piece.columns if isinstance(piece, pd.DataFrame) else piece.column_names)


def part_of(
    piece: pd.DataFrame | Any, columns: list[str], rows: Ints | None = None, start: int = 0
) -> pd.DataFrame:
    """Some columns and rows of a piece, in pandas.

    Rows kept in Arrow would be small pieces of memory between large ones, which could not be given
    back then.
    """
    if isinstance(piece, pd.DataFrame):
        part = piece[columns]
        return part if rows is None else part.iloc[rows]
    part = piece.select(columns)
    if rows is None:
        return from_arrow(part)
    return from_arrow(part.take(rows)).set_axis(rows + start, axis=0)


def _is_arrow(table: Table) -> bool:
    # polars, DuckDB and others; lists and arrays have neither.
    return hasattr(table, "to_arrow") or hasattr(table, "__arrow_c_stream__")


def _check_unique(names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"The table has more than one column named {', '.join(map(repr, twice))}: "
            "give each column a name of its own."
        )


def entity_codes(column: pd.Series[Any]) -> Array:
    """A number for each entity; a row without an entity stands alone."""
    codes = pd.factorize(column)[0].astype(np.int64)
    nobody = codes < 0
    codes[nobody] = -1 - np.arange(nobody.sum())
    return codes

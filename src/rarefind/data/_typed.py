"""Tables of text with the types that their columns are found to have, or had before."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pyarrow as pa

from rarefind.data._dates import is_undecided_date
from rarefind.data._office_numbers import PREFIX, plain_numbers_of
from rarefind.data.types import (
    TYPES,
    Hints,
    Types,
    clean,
    convert,
    hints_of,
    infer_type,
    is_doubtful,
    types_of,
)


def with_types(
    table: Any, types: Types, start: int = 0, date_format: str | None = None
) -> pd.DataFrame:
    """A table of text with types; those that are not known are found in it.

    ``start`` is the position of its first row in the file.
    """
    hints = Hints(date_format=date_format)
    columns: dict[str, Any] = {}
    found: Types = {}
    doubtful: dict[str, Any] = {}
    for name in table.column_names:
        text = clean(table.column(name))
        found[name] = types.get(name, "missing")
        if found[name] == "missing":
            found[name] = infer_type(text, hints)
            if is_doubtful(text, found[name]):
                doubtful[name] = text
        columns[name] = None if name in doubtful else convert(text, found[name], name, start)
    if doubtful:
        certain = {name: kind for name, kind in found.items() if name not in doubtful}
        hints = hints_of(certain, hints)
        for name, text in doubtful.items():
            found[name] = infer_type(text, hints)
            columns[name] = convert(text, found[name], name, start)
            if not types:
                _tell_doubt(name, text, found[name])
    frame = as_number(pd.DataFrame(columns), types)
    frame.attrs[TYPES] = found
    return frame


def _tell_doubt(name: str, text: Any, kind: str) -> None:
    """Say what was made of values that could be read in two ways."""
    value = text.drop_null()[0].as_py()
    if kind == "text" and is_undecided_date(text.to_pandas()):
        made = "as text. Say --date-format %d/%m/%Y, or write dates as 2026-01-31."
    elif kind == "text":
        made = "as text. Write numbers without a mark of thousands, as 1234 or 1.5."
    elif kind.startswith("date:"):
        made = f"as {kind.removeprefix('date:')}, as the other dates of the file are."
    elif kind.startswith(PREFIX):
        made = (
            f"as {plain_numbers_of(text, kind).drop_null()[0]}, by the other numbers of the file."
        )
    else:
        return
    warnings.warn(
        f"Column {name!r} has {value!r}, which could be read in two ways: it is read {made}",
        stacklevel=2,
    )


def as_number(frame: pd.DataFrame, types: Types) -> pd.DataFrame:
    """Turn whole numbers into floats where the table to be like has floats."""
    for name in frame.columns:
        if types.get(name) == "number" and pd.api.types.is_integer_dtype(frame[name].dtype):
            frame[name] = frame[name].astype("float64")
    frame.attrs[TYPES] = types_of(frame)
    return frame


def with_fractions(table: Any, types: Types) -> Any:
    """As :func:`as_number`, for an Arrow table."""
    for i, field in enumerate(table.schema):
        if types.get(field.name) == "number" and pa.types.is_integer(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64(), safe=False))
    return table

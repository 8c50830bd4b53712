"""Columns that a few odd values turn into text: nearly all are numbers, or dates.

One `n.a!` among a thousand amounts makes the column text, and a model learns next to nothing from
it. That may be meant (codes of places, as 2A004), so it is told and not refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import infer_dtype

from rarefind.data.row_numbers import RowNumbers
from rarefind.data.types import CODE, TYPES, clean, fits_type, in_words, infer_type

_FEWEST_VALUES = 20
_MOST_STRAYS = 0.05
# A word for what is not known may stand in more rows.
_MOST_MARKED, _MOST_WORDS = 0.5, 3
# Different values, of the first ones, by which the other type is guessed.
_GLANCE, _GUESSED_BY = 1000, 20

Text = Any


def tell_strays(table: pd.DataFrame, numbers: Callable[[], RowNumbers]) -> None:
    """Warn of columns that a few values turn into text.

    Parameters
    ----------
    table : DataFrame
        As read from a file, with its types.
    numbers : callable
        Gives the numbers of its rows in the file; asked for only where there is something to tell.
    """
    for name, kind in table.attrs.get(TYPES, {}).items():
        # Bytes and lengths of time are text too, in files that have types of their own.
        if kind == "text" and infer_dtype(table[name], skipna=True) == "string":
            text = clean(pa.array(table[name].astype("string"), pa.string()))
            found = _strays(text)
            if found is not None:
                _tell(name, text, *found, numbers)


def _strays(text: Text) -> tuple[str, Text] | None:
    """The type that nearly all values have, and which values have another; None of plain text."""
    known = len(text) - text.null_count
    if known < _FEWEST_VALUES:
        return None
    best, fewest = None, _MOST_MARKED * known
    for kind in _kinds(pc.unique(text.slice(0, _GLANCE)).drop_null().slice(0, _GUESSED_BY)):
        odd = pc.invert(fits_type(text, kind))
        strays = pc.sum(odd).as_py() or 0
        if strays <= fewest:
            best, fewest = (kind, odd), strays
    if best is None or not fewest or _has_codes(text, best[0]):
        return None
    words = len(pc.unique(text.filter(best[1], null_selection_behavior="drop")))
    return best if words <= _MOST_WORDS or fewest <= _MOST_STRAYS * known else None


def _kinds(values: Text) -> list[str]:
    """Types of single values other than text."""
    found = {infer_type(values.slice(i, 1)) for i in range(len(values))}
    return sorted(kind for kind in found if kind.startswith(("number", "integer", "date:")))


def _has_codes(text: Text, kind: str) -> bool:
    return not kind.startswith("date:") and bool(
        pc.any(pc.match_substring_regex(text, CODE), min_count=0).as_py()
    )


def _tell(name: str, text: Text, kind: str, odd: Text, numbers: Callable[[], RowNumbers]) -> None:
    first, count = pc.index(odd, True).as_py(), pc.sum(odd).as_py()
    known = len(text) - text.null_count
    others = "" if count == 1 else f" and {count - 1:,} more"
    warnings.warn(
        f"Column {name!r} is read as text: {known - count:,} of {known:,} values are "
        f"{in_words(kind)}, but not {text[first].as_py()[:80]!r} in row "
        f"{numbers().of([first])[0]:,}{others}. Correct or empty "
        f"{'it' if count == 1 else 'them'}, unless the column is meant to be text.",
        stacklevel=2,
    )

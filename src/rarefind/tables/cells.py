"""Text in lists that a spreadsheet will open: never run as a formula, and the same when read back.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a new line is written with an
apostrophe before it, which a spreadsheet takes as the mark of a text. So is one that begins so
behind apostrophes of its own, so that taking one away always gives the text back. Numbers are not
texts, and stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def safe_text(value: Any) -> Any:
    """A text as it is written; anything else as it is.

    Examples
    --------
    >>> safe_text("=1+1"), safe_text("C4711"), safe_text(-5)
    ("'=1+1", 'C4711', -5)
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def original_text(value: Any) -> Any:
    """A text as it was before :func:`safe_text`; anything else as it is.

    Examples
    --------
    >>> original_text("'=1+1"), original_text("'tis")
    ('=1+1', "'tis")
    """
    is_marked = isinstance(value, str) and value.startswith("'") and _FORMULA.match(value)
    return value[1:] if is_marked else value


def safe_cells(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its texts and the names of its columns as they are written."""
    return _each_text(table, safe_text)


def original_cells(table: pd.DataFrame) -> pd.DataFrame:
    """A table that was written by :func:`safe_cells`, as it was before."""
    return _each_text(table, original_text)


def _each_text(table: pd.DataFrame, change: Any) -> pd.DataFrame:
    texts = {
        name: column.map(change, na_action="ignore")
        for name, column in table.items()
        if pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype)
    }
    changed = table.assign(**{str(name): column for name, column in texts.items()})
    return changed.rename(columns=change)

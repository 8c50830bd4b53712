"""What a function of the language is: its kinds, and how each way of running has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Function:
    """A function; it is missing where one of its arguments is."""

    #: The kinds of its arguments, and of what it gives.
    takes: tuple[str, ...]
    gives: str
    #: Of known values, of expressions, and of SQL in a dialect.
    run: Callable[..., Any]
    expression: Callable[..., pl.Expr]
    sql: Callable[..., str]

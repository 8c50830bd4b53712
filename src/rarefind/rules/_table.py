"""A rule as a Polars expression, to be run on a whole table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

import polars as pl

from rarefind.rules._functions import function_of
from rarefind.rules.syntax import (
    And,
    Arithmetic,
    Column,
    Compare,
    Filled,
    FunctionCall,
    IsIn,
    IsMissing,
    Minus,
    Node,
    Not,
    Number,
    Or,
    Text,
    Truth,
)

_TYPES: dict[str | None, Any] = {"number": pl.Float64, "text": pl.String, "truth": pl.Boolean}


def as_expression(node: Node, kinds: Mapping[str, str | None]) -> pl.Expr:
    """The node as an expression: null where it is missing or unknown."""

    def inner(part: Node) -> pl.Expr:
        return as_expression(part, kinds)

    if isinstance(node, Column):
        kind = kinds[node.name]
        column = pl.col(node.name)
        return column if kind in (None, "time") else column.cast(_TYPES[kind])
    if isinstance(node, Number):
        return pl.lit(node.value, pl.Float64)
    if isinstance(node, Text | Truth):
        return pl.lit(node.value)
    if isinstance(node, Minus):
        return -inner(node.part)
    if isinstance(node, Arithmetic):
        # Of infinities it can be NaN, which is missing. Polars makes two copies of what fill_nan or
        # a condition is asked of, so that long sums would take for ever.
        return _arithmetic(node.op, inner(node.left), inner(node.right)).replace(math.nan, None)
    if isinstance(node, Filled):
        return pl.coalesce(inner(node.part), inner(node.value))
    if isinstance(node, FunctionCall):
        return function_of(node).expression(*map(inner, node.arguments))
    if isinstance(node, Compare):
        left, right = inner(node.left), inner(node.right)
        if isinstance(node.left, Column) and kinds[node.left.name] == "time":
            # As instants, by one clock.
            left, right = (part.dt.convert_time_zone("UTC") for part in (left, right))
        return _compare(node.op, left, right)
    if isinstance(node, IsIn):
        if not node.values:
            return pl.when(inner(node.part).is_not_null()).then(pl.lit(node.negated))
        values = pl.Series([value.value for value in node.values])
        found = inner(node.part).is_in(values.implode())
        return ~found if node.negated else found
    if isinstance(node, IsMissing):
        part = inner(node.part)
        return part.is_not_null() if node.negated else part.is_null()
    if isinstance(node, Not):
        return ~inner(node.part)
    assert isinstance(node, And | Or)
    parts = [inner(part) for part in node.items]
    return reduce(lambda a, b: a | b if isinstance(node, Or) else a & b, parts)


def _arithmetic(op: str, left: pl.Expr, right: pl.Expr) -> pl.Expr:
    if op == "/":
        return left / right.replace(0.0, None)
    return left + right if op == "+" else left - right if op == "-" else left * right


def _compare(op: str, left: pl.Expr, right: pl.Expr) -> pl.Expr:
    if op == "=":
        return left == right
    if op == "!=":
        return left != right
    if op == "<":
        return left < right
    if op == "<=":
        return left <= right
    return left > right if op == ">" else left >= right

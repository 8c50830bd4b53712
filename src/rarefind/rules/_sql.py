"""A rule as a condition in SQL."""

from __future__ import annotations

from collections.abc import Mapping

from rarefind.rules.sql_words import check_dialect, sql_name, sql_number, sql_text
from rarefind.rules.syntax import (
    And,
    Arithmetic,
    Column,
    Compare,
    Filled,
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

_DOUBLE = {"sqlite": "REAL", "mysql": "DOUBLE", "duckdb": "DOUBLE"}


def as_sql(node: Node, kinds: Mapping[str, str | None], dialect: str) -> str:
    """The node in SQL; every part has parentheses, so that no dialect's order matters."""
    check_dialect(dialect)

    def inner(part: Node) -> str:
        return as_sql(part, kinds, dialect)

    if isinstance(node, Column):
        name = sql_name(node.name, dialect)
        if kinds[node.name] != "number":
            return name
        # Whole numbers would be divided without a rest.
        return f"CAST({name} AS {_DOUBLE.get(dialect, 'DOUBLE PRECISION')})"
    if isinstance(node, Number):
        return sql_number(node.value, dialect)
    if isinstance(node, Text):
        return sql_text(node.value, dialect)
    if isinstance(node, Truth):
        return "(1 = 1)" if node.value else "(1 = 0)"
    if isinstance(node, Minus):
        return f"(- {inner(node.part)})"
    if isinstance(node, Arithmetic):
        left, right = inner(node.left), inner(node.right)
        if node.op == "/":
            right = f"NULLIF({right}, {sql_number(0.0, dialect)})"
        return f"({left} {node.op} {right})"
    if isinstance(node, Filled):
        return f"COALESCE({inner(node.part)}, {inner(node.value)})"
    if isinstance(node, Compare):
        op = "<>" if node.op == "!=" else node.op
        return f"({inner(node.left)} {op} {inner(node.right)})"
    if isinstance(node, IsIn):
        word = "NOT IN" if node.negated else "IN"
        return f"({inner(node.part)} {word} ({', '.join(map(inner, node.values))}))"
    if isinstance(node, IsMissing):
        return f"({inner(node.part)} IS {'NOT ' if node.negated else ''}NULL)"
    if isinstance(node, Not):
        return f"(NOT {inner(node.part)})"
    assert isinstance(node, And | Or)
    return "(" + (" OR " if isinstance(node, Or) else " AND ").join(map(inner, node.items)) + ")"

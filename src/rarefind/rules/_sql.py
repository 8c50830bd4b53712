"""A rule as a condition in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rarefind.rules._functions import function_of
from rarefind.rules.sql_values import sql_arithmetic, sql_column
from rarefind.rules.sql_words import check_dialect, sql_name, sql_number, sql_text
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


def as_sql(
    node: Node,
    kinds: Mapping[str, str | None],
    dialect: str,
    column: Callable[[str], str] | None = None,
) -> str:
    """The node in SQL; every part has parentheses, so that no dialect's order matters.

    ``column`` writes a column by its name where it is not one of the table's own.
    """
    check_dialect(dialect)

    def inner(part: Node) -> str:
        return as_sql(part, kinds, dialect, column)

    if isinstance(node, Column):
        if column is not None:
            return column(node.name)
        return sql_column(sql_name(node.name, dialect), kinds[node.name], dialect)
    if isinstance(node, Number):
        return sql_number(node.value, dialect)
    if isinstance(node, Text):
        return sql_text(node.value, dialect)
    if isinstance(node, Truth):
        return "(1 = 1)" if node.value else "(1 = 0)"
    if isinstance(node, Minus):
        return f"(- {inner(node.part)})"
    if isinstance(node, Arithmetic):
        return sql_arithmetic(node, inner(node.left), inner(node.right), dialect)
    if isinstance(node, Filled):
        return f"COALESCE({inner(node.part)}, {inner(node.value)})"
    if isinstance(node, FunctionCall):
        return function_of(node).sql(dialect, *map(inner, node.arguments))
    if isinstance(node, Compare):
        op = "<>" if node.op == "!=" else node.op
        if dialect == "sqlite" and _are_unknown(node, kinds):
            return f"({_in_sqlite(node, op, dialect)})"
        return f"({inner(node.left)} {op} {inner(node.right)})"
    if isinstance(node, IsIn):
        if not node.values:
            return f"CASE WHEN {inner(node.part)} IS NOT NULL THEN {inner(Truth(node.negated))} END"
        word = "NOT IN" if node.negated else "IN"
        return f"({inner(node.part)} {word} ({', '.join(map(inner, node.values))}))"
    if isinstance(node, IsMissing):
        return f"({inner(node.part)} IS {'NOT ' if node.negated else ''}NULL)"
    if isinstance(node, Not):
        return f"(NOT {inner(node.part)})"
    assert isinstance(node, And | Or)
    return "(" + (" OR " if isinstance(node, Or) else " AND ").join(map(inner, node.items)) + ")"


def _are_unknown(node: Compare, kinds: Mapping[str, str | None]) -> bool:
    """Whether the rule does not say what its two columns hold."""
    return isinstance(node.left, Column) and kinds[node.left.name] is None


def _in_sqlite(node: Compare, op: str, dialect: str) -> str:
    """Two columns of any type: a whole number beside a fraction is compared as one, too."""
    assert isinstance(node.left, Column)
    assert isinstance(node.right, Column)
    left, right = (sql_name(part.name, dialect) for part in (node.left, node.right))
    return (
        f"CASE WHEN 'real' IN (typeof({left}), typeof({right})) "
        f"THEN CAST({left} AS REAL) {op} CAST({right} AS REAL) ELSE {left} {op} {right} END"
    )

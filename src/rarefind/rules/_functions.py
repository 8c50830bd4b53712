"""The functions of the language: what each takes and gives, and how each way of running has it."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import reduce
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import polars as pl

from rarefind.rules._function import Function
from rarefind.rules._parse import RuleError
from rarefind.rules._time_functions import TIME_FUNCTIONS
from rarefind.rules.sql_values import as_double
from rarefind.rules.syntax import FunctionCall, Node


def function_of(node: FunctionCall) -> Function:
    """The function that is called; an error where there is none, or it takes something else."""
    function = FUNCTIONS.get(node.name)
    if function is None:
        near = get_close_matches(node.name, [*FUNCTIONS, "coalesce"], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(FUNCTIONS)}."
        raise RuleError(f"There is no function {node.name!r}: {hint}")
    if len(node.arguments) != len(function.takes):
        form = f"{node.name}({', '.join(function.takes)})"
        raise RuleError(f"In {str(node)!r:.80} there are other arguments than in {form}.")
    return function


def check_functions(tree: Node) -> None:
    """Raise where a rule calls a function that the language does not have."""
    for node in tree.walk():
        if isinstance(node, FunctionCall):
            function_of(node)


_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


def _lower(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _upper(text: str) -> str:
    return text.upper() if text.isascii() else text.translate(_UPPER)


def _letters(name: str, old: str, new: str) -> Function:
    """Letters of ASCII in the other case: of all others, databases have several opinions."""

    def sql(dialect: str, text: str) -> str:
        if dialect == "sqlite":
            return f"{name}({text})"  # of ASCII only there
        if dialect == "mysql":
            return reduce(lambda t, pair: f"REPLACE({t}, '{pair[0]}', '{pair[1]}')", pairs, text)
        if dialect == "ansi":
            raise RuleError(
                f"Standard SQL has no function for the ASCII letters of {name}: write the query "
                "for a database."
            )
        return f"translate({text}, '{old}', '{new}')"

    pairs = list(zip(old, new, strict=True))
    return Function(
        ("text",),
        "text",
        _lower if name == "lower" else _upper,
        lambda text: text.str.replace_many(list(old), list(new)),
        sql,
    )


def _length_sql(dialect: str, text: str) -> str:
    name = "length" if dialect in ("sqlite", "duckdb") else "CHAR_LENGTH"
    return as_double(f"{name}({text})", dialect)


def _starts_sql(dialect: str, text: str, part: str) -> str:
    if dialect in ("duckdb", "postgresql"):
        return f"starts_with({text}, {part})"
    if dialect == "sqlite":
        return f"(substr({text}, 1, length({part})) = {part})"
    return f"(SUBSTRING({text} FROM 1 FOR CHAR_LENGTH({part})) = {part})"


def _ends_sql(dialect: str, text: str, part: str) -> str:
    if dialect == "duckdb":
        return f"ends_with({text}, {part})"
    if dialect == "sqlite":
        return f"(substr({text}, length({text}) - length({part}) + 1) = {part})"
    if dialect in ("postgresql", "mysql"):
        return f"(RIGHT({text}, CHAR_LENGTH({part})) = {part})"
    start = f"CHAR_LENGTH({text}) - CHAR_LENGTH({part}) + 1"
    return f"(SUBSTRING({text} FROM {start}) = {part})"


def _contains_sql(dialect: str, text: str, part: str) -> str:
    if dialect == "duckdb":
        return f"contains({text}, {part})"
    if dialect == "sqlite":
        return f"(instr({text}, {part}) > 0)"
    return f"(POSITION({part} IN {text}) > 0)"


def _about_parts(run: Callable[[str, str], bool], expression: Any, sql: Any) -> Function:
    return Function(("text", "text"), "truth", run, expression, sql)


#: The functions by name; coalesce is none, which has a value for what is missing.
FUNCTIONS = {
    "lower": _letters("lower", ascii_uppercase, ascii_lowercase),
    "upper": _letters("upper", ascii_lowercase, ascii_uppercase),
    "length": Function(
        ("text",),
        "number",
        lambda text: float(len(text)),
        lambda text: text.str.len_chars().cast(pl.Float64),
        _length_sql,
    ),
    "starts_with": _about_parts(
        str.startswith, lambda text, part: text.str.starts_with(part), _starts_sql
    ),
    "ends_with": _about_parts(str.endswith, lambda text, part: text.str.ends_with(part), _ends_sql),
    "contains": _about_parts(
        str.__contains__, lambda text, part: text.str.contains(part, literal=True), _contains_sql
    ),
    **TIME_FUNCTIONS,
}

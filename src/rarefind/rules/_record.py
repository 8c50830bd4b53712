"""A rule as a function of one record, made of small functions once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

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

#: Gives a value, or None for what is missing or unknown.
Run = Callable[[Mapping[str, Any]], Any]

_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def as_function(node: Node, kinds: Mapping[str, str | None]) -> Run:
    """The node as a function of a record."""

    def inner(part: Node) -> Run:
        return as_function(part, kinds)

    if isinstance(node, Column):
        return _column(node.name, kinds[node.name])
    if isinstance(node, Number | Text | Truth):
        value = node.value
        return lambda record: value
    if isinstance(node, Minus):
        part = inner(node.part)
        return lambda record: None if (value := part(record)) is None else -value
    if isinstance(node, Arithmetic):
        return _arithmetic(node.op, inner(node.left), inner(node.right))
    if isinstance(node, Filled):
        part, other = inner(node.part), inner(node.value)
        return lambda record: other(record) if (value := part(record)) is None else value
    if isinstance(node, Compare):
        return _compare(_COMPARE[node.op], inner(node.left), inner(node.right))
    if isinstance(node, IsIn):
        return _is_in(inner(node.part), frozenset(v.value for v in node.values), node.negated)
    if isinstance(node, IsMissing):
        part, negated = inner(node.part), node.negated
        return lambda record: (part(record) is None) != negated
    if isinstance(node, Not):
        part = inner(node.part)
        return lambda record: None if (value := part(record)) is None else not value
    assert isinstance(node, And | Or)
    return _join([inner(part) for part in node.items], isinstance(node, Or))


def _column(name: str, kind: str | None) -> Run:
    def number(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if value is None or value != value:  # NaN is missing
            return None
        return float(value) if type(value) is not str else _raise_wrong_kind(name, value, kind)

    def text(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if type(value) is str:
            return value
        return None if value is None or value != value else _raise_wrong_kind(name, value, kind)

    def truth(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if value is None or value != value:
            return None
        return bool(value) if value in (0, 1) else _raise_wrong_kind(name, value, kind)

    def any_kind(record: Mapping[str, Any]) -> Any:
        value = record[name]
        return None if value is None or value != value else value

    return {"number": number, "text": text, "truth": truth, None: any_kind}[kind]


def _raise_wrong_kind(name: str, value: Any, kind: str | None) -> Any:
    raise TypeError(f"The column {name!r} of the record holds {value!r}, and a {kind} is needed.")


def _compare(compare: Callable[[Any, Any], bool], left: Run, right: Run) -> Run:
    def run(record: Mapping[str, Any]) -> Any:
        a, b = left(record), right(record)
        return None if a is None or b is None else compare(a, b)

    return run


def _arithmetic(op: str, left: Run, right: Run) -> Run:
    if op == "/":

        def divide(record: Mapping[str, Any]) -> Any:
            a, b = left(record), right(record)
            return None if a is None or b is None or b == 0 else a / b

        return divide
    work = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op]

    def run(record: Mapping[str, Any]) -> Any:
        a, b = left(record), right(record)
        return None if a is None or b is None else work(a, b)

    return run


def _is_in(part: Run, values: frozenset[Any], negated: bool) -> Run:
    def run(record: Mapping[str, Any]) -> Any:
        value = part(record)
        return None if value is None else (value in values) != negated

    return run


def _join(parts: list[Run], is_or: bool) -> Run:
    """Whether all hold, or one of them; unknown where the unknown ones decide."""

    def run(record: Mapping[str, Any]) -> Any:
        unknown = False
        for part in parts:
            value = part(record)
            if value is None:
                unknown = True
            elif value == is_or:
                return is_or
        return None if unknown else not is_or

    return run

"""A rule as a function of one record, made of small functions once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from rarefind.rules._functions import function_of
from rarefind.rules._values import (
    as_any_value,
    as_number,
    as_text,
    as_time,
    as_truth,
    check_comparable,
    family,
)
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

# Whole numbers up to here are doubles.
_SAFE = 2**1023

# So many conditions are joined two by two, which is faster than a loop; more would nest too deep.
_FEW = 4

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
        if isinstance(node.left, Number) and node.op != "/":
            return _arithmetic_with(node.op, node.left.value, inner(node.right))
        return _arithmetic(node.op, inner(node.left), inner(node.right))
    if isinstance(node, Filled):
        part, other = inner(node.part), inner(node.value)
        return lambda record: other(record) if (value := part(record)) is None else value
    if isinstance(node, FunctionCall):
        return _call(function_of(node).run, [inner(part) for part in node.arguments])
    if isinstance(node, Compare):
        return _comparison(node, kinds)
    if isinstance(node, IsIn):
        values = frozenset(v.value for v in node.values)
        if isinstance(node.part, Column) and kinds[node.part.name] == "text":
            return _text_is_in(node.part.name, values, node.negated)
        return _is_in(inner(node.part), values, node.negated)
    if isinstance(node, IsMissing):
        part, negated = inner(node.part), node.negated
        return lambda record: (part(record) is None) != negated
    if isinstance(node, Not):
        part = inner(node.part)
        return lambda record: None if (value := part(record)) is None else not value
    assert isinstance(node, And | Or)
    return _join([inner(part) for part in node.items], isinstance(node, Or))


def _column(name: str, kind: str | None) -> Run:
    # The types that most values have come first, without a further call.
    def number(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if type(value) is float:
            return value if value == value else None
        if type(value) is int and -_SAFE < value < _SAFE:
            return float(value)
        return as_number(name, value)

    def text(record: Mapping[str, Any]) -> Any:
        value = record[name]
        return value if type(value) is str else as_text(name, value)

    def truth(record: Mapping[str, Any]) -> Any:
        value = record[name]
        return value if value is True or value is False else as_truth(name, value)

    def time(record: Mapping[str, Any]) -> Any:
        return as_time(name, record[name])

    def any_kind(record: Mapping[str, Any]) -> Any:
        return as_any_value(name, record[name])

    kinds = {"number": number, "text": text, "truth": truth, "time": time, None: any_kind}
    return kinds[kind]


def _call(work: Callable[..., Any], arguments: list[Run]) -> Run:
    first, *others = arguments
    if not others:
        return lambda record: None if (value := first(record)) is None else work(value)
    (second,) = others

    def run(record: Mapping[str, Any]) -> Any:
        a, b = first(record), second(record)
        return None if a is None or b is None else work(a, b)

    return run


def _comparison(node: Compare, kinds: Mapping[str, str | None]) -> Run:
    """Two values compared: what most rules consist of, so that the usual forms take one call."""
    compare, left, right = _COMPARE[node.op], node.left, node.right
    if isinstance(left, Column):
        kind = kinds[left.name]
        if isinstance(right, Column) and kind in (None, "time"):
            return _compare_columns(left.name, right.name, node.op == "=")
        if isinstance(right, Number):
            return _compare_number(compare, left.name, right.value)
        if isinstance(right, Text):
            return _compare_text(compare, left.name, right.value)
        if kind == "number":
            return _compare_with(compare, left.name, as_function(right, kinds))
    return _compare(compare, as_function(left, kinds), as_function(right, kinds))


def _compare_number(compare: Callable[[Any, Any], bool], name: str, limit: float) -> Run:
    """A column and a number as it is written."""
    number = _column(name, "number")

    def run(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if type(value) is float and value == value:
            return compare(value, limit)
        value = number(record)
        return None if value is None else compare(value, limit)

    return run


def _compare_text(compare: Callable[[Any, Any], bool], name: str, text: str) -> Run:
    """A column and a text as it is written."""

    def run(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if type(value) is not str:
            value = as_text(name, value)
        return None if value is None else compare(value, text)

    return run


def _compare_with(compare: Callable[[Any, Any], bool], name: str, right: Run) -> Run:
    """A column of numbers and what is computed."""
    number = _column(name, "number")

    def run(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if type(value) is not float or value != value:
            value = number(record)
        other = right(record)
        return None if value is None or other is None else compare(value, other)

    return run


def _compare(compare: Callable[[Any, Any], bool], left: Run, right: Run) -> Run:
    def run(record: Mapping[str, Any]) -> Any:
        a, b = left(record), right(record)
        return None if a is None or b is None else compare(a, b)

    return run


def _arithmetic(op: str, left: Run, right: Run) -> Run:
    if op == "/":

        def divide(record: Mapping[str, Any]) -> Any:
            a, b = left(record), right(record)
            if a is None or b is None or b == 0:
                return None
            value = a / b
            return value if value == value else None

        return divide
    work = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op]

    def run(record: Mapping[str, Any]) -> Any:
        a, b = left(record), right(record)
        if a is None or b is None:
            return None
        value = work(a, b)
        return value if value == value else None  # of infinities it can be NaN

    return run


def _arithmetic_with(op: str, number: float, right: Run) -> Run:
    """A number as it is written, and one that is not."""
    work = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op]

    def run(record: Mapping[str, Any]) -> Any:
        other = right(record)
        if other is None:
            return None
        value = work(number, other)
        return value if value == value else None

    return run


def _compare_columns(left: str, right: str, equal: bool) -> Run:
    """Two columns of which the rule says nothing else, by what each record holds."""

    def run(record: Mapping[str, Any]) -> Any:
        a, b = record[left], record[right]
        if type(a) is str and type(b) is str:
            return (a == b) == equal
        a, b = as_any_value(left, a), as_any_value(right, b)
        if a is None or b is None:
            return None
        check_comparable(left, family(a), right, family(b))
        # Two whole numbers as they are, else both as doubles.
        if isinstance(a, float) or isinstance(b, float):
            a, b = as_number(left, a), as_number(right, b)
        return bool(a == b) == equal

    return run


def _text_is_in(name: str, values: frozenset[Any], negated: bool) -> Run:
    def run(record: Mapping[str, Any]) -> Any:
        value = record[name]
        if type(value) is not str:
            value = as_text(name, value)
        return None if value is None else (value in values) != negated

    return run


def _is_in(part: Run, values: frozenset[Any], negated: bool) -> Run:
    if not values:  # nothing is in it, whatever kind of value there is: some have no hash
        return lambda record: None if part(record) is None else negated

    def run(record: Mapping[str, Any]) -> Any:
        value = part(record)
        return None if value is None else (value in values) != negated

    return run


def _join(parts: list[Run], is_or: bool) -> Run:
    """Whether all hold, or one of them; unknown where the unknown ones decide."""
    if len(parts) <= _FEW:
        first, *others = parts
        if not others:
            return first
        return (_either if is_or else _both)(first, _join(others, is_or))

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


def _both(first: Run, second: Run) -> Run:
    def run(record: Mapping[str, Any]) -> Any:
        value = first(record)
        if value:
            return second(record)
        if value is None and second(record) is not False:
            return None
        return False

    return run


def _either(first: Run, second: Run) -> Run:
    def run(record: Mapping[str, Any]) -> Any:
        value = first(record)
        if value:
            return True
        if value is None:
            return True if second(record) else None
        return second(record)

    return run

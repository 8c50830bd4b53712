"""Branches of trees as rules that a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rarefind.rules.branches import Branch, Combination, Test
from rarefind.rules.reasons import Condition
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
    Number,
    Or,
    Text,
    Truth,
)


def number(value: float) -> Node:
    """A number as a rule has it."""
    return Number(float(value)) if value >= 0 else Minus(Number(-float(value)))


def column_node(column: int, names: Sequence[str], combinations: Sequence[Combination]) -> Node:
    """A column of the table, or the sum that a combination is."""
    if column < len(names):
        return Column(names[column])
    total: Node | None = None
    for j, loading, fill in zip(*combinations[column - len(names)], strict=True):
        value: Node = Column(names[j])
        if fill == fill:
            value = Filled(value, number(fill))
        if total is None:
            total = Arithmetic("*", number(loading), value)
            continue
        term = Arithmetic("*", Number(abs(loading)), value)
        total = Arithmetic("+" if loading >= 0 else "-", total, term)
    assert total is not None
    return total


def test_node(value: Node, test: Test) -> Node:
    """What a test asks of a value."""
    missing = IsMissing(value)
    if test.says_nothing:
        return Truth(True)
    if test.levels is not None:
        parts = [_levels(value, test)] if test.levels else []
        impossible = not test.levels and not test.negated
    else:
        parts = [Compare(">", value, number(test.low))] if test.low > -np.inf else []
        parts += [Compare("<=", value, number(test.high))] if test.high < np.inf else []
        impossible = test.low >= test.high
    if impossible:
        return missing
    if not parts:
        return IsMissing(value, negated=True)
    held = parts[0] if len(parts) == 1 else And(tuple(parts))
    return Or((held, missing)) if test.missing else held


def _levels(value: Node, test: Test) -> Node:
    assert test.levels is not None
    levels = tuple(Number(level) for level in sorted(test.levels))
    if len(levels) == 1:
        return Compare("!=" if test.negated else "=", value, number(levels[0].value))
    return IsIn(value, levels, test.negated)


def coded_node(column: Column, levels: Sequence[Any], test: Test) -> Node:
    """What a test on the numbers of levels asks of the levels.

    The number of a level is its place; one beyond the last stands for all other levels.
    """
    passes = {level: test.holds(float(code)) for code, level in enumerate(levels)}
    return among_node(column, passes, test.holds(float(len(levels))), test.missing)


def among_node(column: Column, passes: Mapping[Any, bool], others: bool, missing: bool) -> Node:
    """That a level is one of those that pass; ``others`` says whether unnamed levels do."""
    named = tuple(_level(level) for level, passed in passes.items() if passed != others)
    if not named:
        if others == missing:
            return Truth(others)
        return IsMissing(column, negated=others)
    node: Node = IsIn(column, named, negated=others)
    if len(named) == 1:
        (only,) = named
        value = number(only.value) if isinstance(only, Number) else only
        node = Compare("!=" if others else "=", column, value)
    return Or((node, IsMissing(column))) if missing else node


def _level(level: Any) -> Number | Text:
    """A category as a rule has it: a number, or a text."""
    is_number = isinstance(level, int | float) and not isinstance(level, bool)
    return Number(float(level)) if is_number else Text(str(level))


def branch_node(
    branch: Branch,
    names: Sequence[str],
    combinations: Sequence[Combination] = (),
    levels: Mapping[int, Sequence[Any]] | None = None,
) -> Node:
    """All tests of a branch; ``levels`` are those of columns in which numbers stand for them."""
    known = levels or {}
    return all_of(
        [
            coded_node(Column(names[j]), known[j], test)
            if j in known
            else test_node(column_node(j, names, combinations), test)
            for j, test in branch.items()
        ]
    )


def all_of(parts: Sequence[Node]) -> Node:
    """All of several parts, without one ``and`` in another."""
    items: list[Node] = []
    for part in parts:
        items += part.items if isinstance(part, And) else [part]
    return items[0] if len(items) == 1 else And(tuple(items))


def condition_of(name: str, text_of: Node, test: Test, value: float) -> Condition:
    """What a test says of a row with this value; ``name`` is the column a reason names."""
    if value != value:
        return Condition(name, "=", "missing", f"{text_of} is missing")
    test = replace(test, missing=False)
    text = str(test_node(text_of, test))
    if test.levels is not None:
        levels = tuple(sorted(test.levels))
        return Condition(name, "not in" if test.negated else "in", levels, text)
    if test.low > -np.inf and test.high < np.inf:
        return Condition(name, "between", (test.low, test.high), text)
    if test.low > -np.inf:
        return Condition(name, ">", test.low, text)
    if test.high < np.inf:
        return Condition(name, "<=", test.high, text)
    return Condition(name, "=", "present", f"{text_of} is present")

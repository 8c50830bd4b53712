"""Conditions as rules that a person can read, and thresholds with no more digits than they need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rarefind._core.types import Bools, Floats
from rarefind.rules import Condition
from rarefind.rules.branches import Branch, Combination, Test
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
    hole = IsMissing(value)
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
        return hole
    if not parts:
        return IsMissing(value, negated=True)
    held = parts[0] if len(parts) == 1 else And(tuple(parts))
    return Or((held, hole)) if test.missing else held


def _levels(value: Node, test: Test) -> Node:
    assert test.levels is not None
    levels = tuple(Number(level) for level in sorted(test.levels))
    if len(levels) == 1:
        return Compare("!=" if test.negated else "=", value, number(levels[0].value))
    return IsIn(value, levels, test.negated)


def branch_node(
    branch: Branch, names: Sequence[str], combinations: Sequence[Combination] = ()
) -> Node:
    """All tests of a branch."""
    return joined(
        [test_node(column_node(j, names, combinations), test) for j, test in branch.items()]
    )


def joined(parts: Sequence[Node]) -> Node:
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


def shortened(branch: Branch, X: Floats, has_holes: Bools) -> Branch:
    """The same branch for the rows of ``X``, with round thresholds.

    A threshold may stand anywhere between the two values that it parts. Of levels, those that pass
    are named or those that do not, whichever are fewer. A column without a hole says nothing of
    holes.
    """
    found = {}
    for column, test in branch.items():
        values = X[:, column]
        if test.levels is not None:
            short = _fewer_levels(test, values)
        else:
            low, high = (_between(limit, values) for limit in (test.low, test.high))
            short = replace(test, low=low, high=high)
        found[column] = replace(short, missing=test.missing and bool(has_holes[column]))
    return found


def _fewer_levels(test: Test, values: Floats) -> Test:
    known = np.unique(values[~np.isnan(values)]).tolist()
    passing = frozenset(level for level in known if test.holds(level))
    failing = frozenset(known) - passing
    if len(passing) <= len(failing):
        return replace(test, levels=passing, negated=False)
    return replace(test, levels=failing, negated=True)


def opposite(branch: Branch, has_holes: Bools) -> Branch | None:
    """The branch that holds where this one does not, if there is one such."""
    if len(branch) != 1:
        return None
    ((column, test),) = branch.items()
    missing = not test.missing and bool(has_holes[column])
    if test.levels is not None:
        return {column: replace(test, negated=not test.negated, missing=missing)}
    if test.low == -np.inf and test.high < np.inf:
        return {column: Test(low=test.high, missing=missing)}
    if test.high == np.inf and test.low > -np.inf:
        return {column: Test(high=test.low, missing=missing)}
    return None


def _between(limit: float, values: Floats) -> float:
    """The threshold moved to a round number that parts the values as it does."""
    if not np.isfinite(limit):
        return limit
    below, above = values[values <= limit], values[values > limit]
    if not below.size or not above.size:
        return limit
    return roundest(float(below.max()), float(above.min()), limit)


def rounded_cut(threshold: float, score: Floats) -> float:
    """A round threshold that the same scores reach."""
    # What reaches it is what is not below: seen from the other side, the bounds change places.
    return 0.0 - _between(-threshold, -score)


def roundest(low: float, high: float, otherwise: float) -> float:
    """A number ``low <= x < high`` with few digits, near the middle."""
    middle = low / 2 + high / 2
    largest = max(abs(low), abs(high))
    exponent = math.floor(math.log10(largest)) + 1 if largest > 0 else 0
    for digits in range(-exponent, 18 - exponent):
        tried = round(middle, digits) + 0.0
        if low <= tried < high:
            return tried
    return otherwise

"""A rule on one record: the fast forms of common conditions say what the plain definition says."""

import datetime
import math
import operator
from decimal import Decimal

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from rules.drawn import LISTS, truths

from rarefind.rules import Rule, RuleError
from rarefind.rules._functions import function_of
from rarefind.rules._values import VALUES, as_number, check_comparable, family
from rarefind.rules.syntax import (
    And,
    Arithmetic,
    Column,
    Compare,
    Filled,
    FunctionCall,
    InList,
    IsIn,
    IsMissing,
    Minus,
    Not,
    Number,
    Or,
    Text,
    Truth,
)

COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
WORK = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def plainly(node, kinds, record):
    """Evaluate from left to right, no farther than is needed; None is missing or unknown."""

    def of(part):
        return plainly(part, kinds, record)

    if isinstance(node, Number | Text | Truth):
        return node.value
    if isinstance(node, Column):
        return VALUES[kinds[node.name]](node.name, record[node.name])
    if isinstance(node, And | Or):
        found = []
        for part in node.items:
            found.append(of(part))
            if found[-1] is isinstance(node, Or):
                return found[-1]
        return None if None in found else not isinstance(node, Or)
    if isinstance(node, Filled):
        return of(node.value) if (value := of(node.part)) is None else value
    if isinstance(node, IsMissing):
        return (of(node.part) is None) != node.negated
    if isinstance(node, IsIn | InList):
        values = (
            LISTS[node.name] if isinstance(node, InList) else [each.value for each in node.values]
        )
        value = of(node.part)
        return None if value is None else (value in values) != node.negated
    parts = [of(part) for part in node.parts()]
    if None in parts:
        return None
    if isinstance(node, Not):
        return not parts[0]
    if isinstance(node, Minus):
        return -parts[0]
    if isinstance(node, FunctionCall):
        return function_of(node).run(*parts)
    a, b = parts
    if isinstance(node, Arithmetic):
        if node.op == "/" and b == 0:
            return None
        value = WORK[node.op](a, b)
        return None if value != value else value
    assert isinstance(node, Compare)
    if isinstance(node.left, Column) and kinds[node.left.name] is None:
        left, right = node.left.name, node.right.name
        check_comparable(left, family(a), right, family(b))
        if isinstance(a, float) or isinstance(b, float):
            a, b = as_number(left, a), as_number(right, b)
    return COMPARE[node.op](a, b)


ODD = [
    *(None, math.nan, pd.NA, pd.NaT, Decimal("nan"), np.float32("nan")),
    *(True, False, 0, 1, 2, -5, 2**53 + 1, 10**400, np.int64(3), np.float32(0.1), np.bool_(True)),
    *(0.0, -0.0, 1.0, 0.5, math.inf, -math.inf, 1e308, 5e-324, Decimal("0.1"), Decimal("1e400")),
    *(
        "FR",
        "fr",
        "",
        "it's",
        np.str_("FR"),
        datetime.datetime(2026, 1, 31),
        datetime.date(2026, 1, 31),
        [1],
        b"FR",
    ),
]
NAMES = (
    "amount",
    'mean of "card"',
    "n",
    "ıs",
    "country",
    "ho`me %s; --",
    "night",
    "falſe",
    "made",
    "opened",
)
odd_records = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(ODD) for name in (*NAMES, "x", "Y")}
)


def outcome(work):
    try:
        found = work()
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return "cannot be run"
    assert found is None or type(found) is bool
    return found


@settings(max_examples=400, deadline=None)
@given(truths, st.lists(odd_records, min_size=1, max_size=8))
def test_records_of_any_kind_are_told_as_by_the_definition(tree, records):
    rule = Rule(str(tree), lists=LISTS)
    for record in records:
        expected = outcome(lambda record=record: plainly(tree, rule.columns, record))
        assert outcome(lambda record=record: rule.run(record)) == expected
        try:
            assert rule.fires(record) is (expected is True)
        except RuleError:
            assert expected == "cannot be run"


def test_nothing_is_in_an_empty_list():
    for value in ([1], {"a": 1}, 3, "FR"):
        assert Rule("country in list('none')", lists={"none": ()}).run({"country": value}) is False
        rule = Rule("country not in list('none')", lists={"none": ()})
        assert rule.run({"country": value}) is True
        assert rule.run({"country": None}) is None


def test_many_conditions_are_not_nested():
    rule = Rule(" or ".join(f"a={i}" for i in range(300)))
    assert rule.fires({"a": 299})
    assert rule.run({"a": None}) is None

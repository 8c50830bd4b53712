"""Conditions on encoded columns as rules on a table's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rarefind.data import TableEncoder, decode
from rarefind.data.columns import (
    BooleanPlan,
    DatePlan,
    LevelCodesPlan,
    LevelsPlan,
    NumberPlan,
    Plan,
    Spread,
    level_texts,
)
from rarefind.rules import Rule, RuleError, RuleSet
from rarefind.rules.branch_nodes import all_of, among_node, coded_node, column_node, test_node
from rarefind.rules.branches import Branch, Combination, Test
from rarefind.rules.syntax import (
    Column,
    Compare,
    IsMissing,
    Node,
    Not,
    Or,
    Text,
)


def table_rules(
    encoder: TableEncoder, branches: Sequence[Branch], combinations: Sequence[Combination]
) -> RuleSet:
    """Rules c1, c2, … in the columns and units of the table that an encoder reads."""
    columns = _Columns(encoder)
    rules = []
    for place, branch in enumerate(branches, start=1):
        parts = [columns.node(output, test, combinations) for output, test in branch.items()]
        rules.append(Rule(str(all_of(parts)), name=f"c{place}"))
    return RuleSet(rules)


def condition_texts(
    encoder: TableEncoder, branches: Sequence[Branch], combinations: Sequence[Combination]
) -> list[str]:
    """The same for people: conditions on the parts of dates, which no rule can say, are written."""
    columns = _Columns(encoder, writes_dates=True)
    return [
        str(all_of([columns.node(output, test, combinations) for output, test in branch.items()]))
        for branch in branches
    ]


def as_read(encoder: TableEncoder, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns as the encoder reads them: what its rules speak of.

    Texts that stand for numbers, true or false, or missing values are read as such, and other texts
    are without the spaces around them.
    """
    read: dict[str, Any] = {}
    for plan in encoder.plans_:
        column = frame[plan.column]
        if isinstance(plan, NumberPlan):
            read[plan.column] = decode.numbers(column, plan.written)
        elif isinstance(plan, BooleanPlan):
            truths = pd.array(decode.booleans(column, plan.written), dtype="Float64")
            read[plan.column] = truths.astype("boolean")
        elif isinstance(plan, DatePlan):
            read[plan.column] = decode.dates(column, plan.written, plan.zone)
        else:
            read[plan.column] = level_texts(column, plan.levels).to_pandas().astype(object)
    return pd.DataFrame(read, index=frame.index)


class _Columns:
    """The outputs of an encoder, and what a test on one of them asks of the table."""

    def __init__(self, encoder: TableEncoder, *, writes_dates: bool = False) -> None:
        self._writes_dates = writes_dates
        self.outputs: list[tuple[Plan, int]] = [
            (plan, output) for plan in encoder.plans_ for output in range(len(plan.names))
        ]

    def node(self, output: int, test: Test, combinations: Sequence[Combination]) -> Node:
        if output >= len(self.outputs):
            return self._combined(combinations[output - len(self.outputs)], test)
        plan, part = self.outputs[output]
        if isinstance(plan, NumberPlan) and part == 0:
            return _number(plan, test)
        if isinstance(plan, BooleanPlan) and part == 0:
            return _truth(plan, test)
        if isinstance(plan, LevelCodesPlan):
            return coded_node(Column(plan.column), plan.levels, test)
        name = plan.names[part].removeprefix(f"{plan.column}: ")
        if isinstance(plan, LevelsPlan):
            return _level(plan, part, name, test)
        if name == "missing":
            return IsMissing(Column(plan.column), negated=not test.holds(1.0))
        if self._writes_dates and isinstance(plan, DatePlan):
            return _date(plan, name, test)
        raise RuleError(
            f"A condition asks for the {name} of {plan.column!r}, a date, which no rule can say: "
            "put what matters of it in a column of its own, or keep it out by drop=."
        )

    def _combined(self, combination: Combination, test: Test) -> Node:
        """A sum of numbers, in their own units."""
        loadings, offset, names = [], 0.0, []
        for j, loading in zip(combination.columns, combination.loadings, strict=True):
            plan, part = self.outputs[j]
            if not isinstance(plan, NumberPlan) or part != 0:
                raise RuleError(f"A condition adds up {plan.names[part]!r}, which is not a number.")
            loadings.append(loading / plan.spread.scale)
            offset += loading * plan.spread.shift / plan.spread.scale
            names.append(plan.column)
        own = Combination(tuple(range(len(names))), tuple(loadings), combination.fills)
        moved = replace(test, low=test.low + offset, high=test.high + offset)
        return test_node(column_node(len(names), names, [own]), moved)


def _number(plan: NumberPlan, test: Test) -> Node:
    spread = plan.spread
    missing = test.missing if spread.fill is None else test.holds(_scaled(spread)(spread.fill))
    low, high = (
        spread.back(bound) if np.isfinite(bound) else bound for bound in (test.low, test.high)
    )
    return test_node(Column(plan.column), replace(test, low=low, high=high, missing=missing))


def _date(plan: DatePlan, part: str, test: Test) -> Node:
    """A part of a date between bounds: the day as a date, the others as numbers."""
    spread = plan.parts[part]
    ends = [spread.back(end) if np.isfinite(end) else end for end in (test.low, test.high)]
    if part != "days":
        return test_node(Column(f"{plan.column}: {part}"), replace(test, low=ends[0], high=ends[1]))
    column = Column(plan.column)
    bounds = zip((">", "<="), ends, strict=True)
    parts: list[Node] = [
        Compare(op, column, Text(plan.date_text(end))) for op, end in bounds if np.isfinite(end)
    ]
    node = all_of(parts) if parts else IsMissing(column, negated=True)
    return Or((node, IsMissing(column))) if test.missing else node


def _scaled(spread: Spread) -> Callable[[float], float]:
    return lambda value: float(spread.apply(np.array([value]))[0])


def _truth(plan: BooleanPlan, test: Test) -> Node:
    column, coded = Column(plan.column), _scaled(plan.spread)
    yes, no, missing = (test.holds(coded(value)) for value in (1.0, 0.0, np.nan))
    if yes == no:
        return IsMissing(column, negated=yes)
    node = column if yes else Not(column)
    return Or((node, IsMissing(column))) if missing else node


def _level(plan: LevelsPlan, part: int, name: str, test: Test) -> Node:
    yes, no = test.holds(plan.unit), test.holds(0.0)
    if part < len(plan.levels):
        passes = {plan.levels[part]: yes}
        return among_node(Column(plan.column), passes, no, no)
    if name == "other":
        return among_node(Column(plan.column), dict.fromkeys(plan.levels, no), yes, no)
    if name == "missing" or plan.frequency is None:
        return IsMissing(Column(plan.column), negated=not yes)
    share = _scaled(plan.frequency)
    passes = {level: test.holds(share(n / plan.rows)) for level, n in plan.counts.items()}
    missing = test.holds(share(plan.missing_rows / plan.rows))
    return among_node(Column(plan.column), passes, test.holds(share(0.0)), missing)

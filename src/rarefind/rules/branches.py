"""Trees broken into branches: what must hold for a row to end in a leaf, one test a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rarefind._core.fields import RealNumber, TupleOf, Whole
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Floats


@dataclass(frozen=True)
class Test:
    """What is asked of one column: ``low < x <= high``, or one of some levels.

    Tests on one column hold together where their intersection holds, which is a test again.
    """

    low: float = -np.inf
    high: float = np.inf
    #: For a column of levels: those that pass, or with ``negated`` those that do not.
    levels: frozenset[float] | None = None
    negated: bool = False
    #: Whether a missing value passes.
    missing: bool = False

    def __and__(self, other: Test) -> Test:
        missing = self.missing and other.missing
        if self.levels is None or other.levels is None:
            low, high = max(self.low, other.low), min(self.high, other.high)
            found = self if other.levels is None else other
            return replace(found, low=low, high=high, missing=missing)
        if self.negated and other.negated:
            return replace(self, levels=self.levels | other.levels, missing=missing)
        if self.negated:
            return replace(other, levels=other.levels - self.levels, missing=missing)
        kept = self.levels - other.levels if other.negated else self.levels & other.levels
        return replace(self, levels=kept, missing=missing)

    @property
    def possible(self) -> bool:
        """Whether anything can pass."""
        if self.levels is None:
            return self.missing or self.low < self.high
        return self.missing or self.negated or bool(self.levels)

    @property
    def says_nothing(self) -> bool:
        """Whether everything passes."""
        if self.levels is not None:
            return self.missing and self.negated and not self.levels
        return self.missing and self.low == -np.inf and self.high == np.inf

    def holds(self, value: float) -> bool:
        """Whether a value passes."""
        if value != value:
            return self.missing
        if self.levels is not None:
            return (value in self.levels) != self.negated
        return self.low < value <= self.high


#: The tests of a branch by the number of the column; all of them must hold.
Branch: TypeAlias = dict[int, Test]


@saved(
    "combination",
    state=State(
        {
            "columns": TupleOf(Whole(), size="n"),
            "loadings": TupleOf(RealNumber(), size="n"),
            "fills": TupleOf(RealNumber(nan=True), size="n"),
        },
        lambda state, _: {"columns": max(state["columns"], default=-1) + 1},
    ),
)
class Combination(NamedTuple):
    """A column that is a sum of others, each times its loading, with fills for missing values."""

    columns: tuple[int, ...]
    loadings: tuple[float, ...]
    fills: tuple[float, ...]  # NaN where a missing value makes the sum missing


class BranchList(NamedTuple):
    """The branches of an ensemble. Columns beyond those of the table are the combinations."""

    branches: list[Branch]
    combinations: list[Combination]


#: The column that a node asks for, and the tests of those that go left and right.
Split: TypeAlias = tuple[int, Test, Test]


def branches_of(left: Any, right: Any, split: Callable[[int], Split]) -> list[Branch]:
    """The branches of a tree that starts at node 0; a node whose ``left`` is below 0 is a leaf.

    A branch that no row can take is left out; so is that of a tree without a split.
    """
    found: list[Branch] = []
    stack: list[tuple[int, Branch]] = [(0, {})]
    while stack:
        node, branch = stack.pop()
        if left[node] < 0:
            found.append({column: test for column, test in branch.items() if not test.says_nothing})
            continue
        column, *sides = split(node)
        for child, test in zip((right[node], left[node]), sides[::-1], strict=True):
            both = branch[column] & test if column in branch else test
            if both.possible:
                stack.append((int(child), {**branch, column: both}))
    return [branch for branch in found if branch]


def xgboost_branches(
    tree: dict[str, Any],
    below: Callable[[int, float], float],
    known: Callable[[int], frozenset[float]] | None = None,
    level: Callable[[int, int], float] = lambda column, code: float(code),
) -> list[Branch]:
    """The branches of one tree as XGBoost writes it in JSON.

    Parameters
    ----------
    tree : dict
        The tree.
    below : callable
        The largest value of a column that is below a threshold, in the column's own units.
    known : callable, default=None
        All levels of a column, where new ones count as missing; XGBoost itself takes them for
        levels that are not in any set.
    level : callable
        The value of a level from its code.
    """
    start, size = tree["categories_segments"], tree["categories_sizes"]
    nodes = {int(node): place for place, node in enumerate(tree["categories_nodes"])}

    def split(node: int) -> Split:
        column, default_left = int(tree["split_indices"][node]), bool(tree["default_left"][node])
        if node not in nodes:
            limit = below(column, tree["split_conditions"][node])
            return (
                column,
                Test(high=limit, missing=default_left),
                Test(low=limit, missing=not default_left),
            )
        place = nodes[node]
        codes = tree["categories"][start[place] : start[place] + size[place]]
        chosen = frozenset(level(column, int(code)) for code in codes)  # these go right
        others = Test(levels=chosen, negated=True, missing=default_left)
        those = Test(levels=chosen, missing=not default_left)
        if known is not None and default_left:
            return column, others, those
        if known is not None:
            rest = known(column) - chosen
            return (
                column,
                replace(others, levels=rest, negated=False),
                replace(those, levels=rest, negated=True),
            )
        return column, others, those

    return branches_of(tree["left_children"], tree["right_children"], split)


def below_in_32_bits(threshold: float) -> float:
    """The largest number that is below the threshold when both are rounded to 32 bits."""
    return float(np.nextafter(least_rounding_to(np.array(threshold)), -np.inf))


def least_rounding_to(threshold: Floats) -> Floats:
    """The least number that is no less than each threshold when both are rounded to 32 bits."""
    there = np.asarray(threshold, dtype=np.float32)
    below = np.nextafter(there, np.float32(-np.inf))
    half_way = (below.astype(np.float64) + there.astype(np.float64)) / 2
    rounds_up = half_way.astype(np.float32) >= there
    return np.where(rounds_up, half_way, np.nextafter(half_way, np.inf))

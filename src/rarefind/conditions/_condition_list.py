"""The list of conditions that is the model: how it scores, and how it is written for others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rarefind._core.fields import Float, FloatArray, ListOf, Object
from rarefind._core.kernels import kernel
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats
from rarefind.conditions._matrix import BranchArrays, with_combinations
from rarefind.rules import Rule, RuleError, RuleSet
from rarefind.rules.branch_nodes import all_of, branch_node
from rarefind.rules.branches import Branch, Combination, Test
from rarefind.rules.sql_columns import SqlColumns
from rarefind.rules.sql_words import sql_number

KIND, VERSION = "rarefind conditions", 1
_LARGEST = 1e300


def _check_columns(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """So many columns the table must have at least: what tests ask beyond are combinations."""
    asked = int(state["tests"].column.max(initial=-1)) + 1
    own = max((j + 1 for part in state["combinations"] for j in part.columns), default=0)
    return {"columns": max(own, asked - len(state["combinations"]))}


@saved(
    "condition-list",
    state=State(
        {
            "start": Float(),
            "weights": FloatArray("n"),
            "tests": Object("branches", n="n"),
            "combinations": ListOf(Object("combination")),
        },
        _check_columns,
    ),
)
class ConditionList(NamedTuple):
    """A score that starts somewhere, to which every condition that holds adds its weight."""

    start: float
    weights: Floats
    tests: BranchArrays
    combinations: list[Combination]

    def score(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Scores of rows, added up in the order of the list."""
        held = self.held(X, n_jobs)
        return _sum_weights(held.indptr, held.indices, self.weights, self.start)

    def row_score(self) -> Callable[[Floats], float]:
        """What :meth:`score` gives, of one row."""
        holding, (start, weights, _, sums) = self.tests.holding(), self

        def score(row: Floats) -> float:
            count, held = holding(with_combinations(row[np.newaxis], sums))
            return float(_sum_weights(np.append(0, count), held, weights, start)[0])

        return score

    def held(self, X: Floats, n_jobs: int | None = None) -> csr_matrix:
        """Which conditions hold for which rows."""
        return self.tests.matrix(with_combinations(X, self.combinations), n_jobs)

    def rules(self, names: Sequence[str], levels: Mapping[int, Sequence[Any]]) -> RuleSet:
        """The conditions as rules c1, c2, …; ``levels`` are those of columns of categories."""
        nodes = [branch_node(b, names, self.combinations, levels) for b in self.tests.branches()]
        return RuleSet([Rule(str(node), name=f"c{i}") for i, node in enumerate(nodes, start=1)])

    def features(self, n_features: int) -> set[int]:
        """The columns that conditions ask for, also those in sums."""
        asked = set(self.tests.column.tolist())
        sums = [self.combinations[j - n_features].columns for j in asked if j >= n_features]
        return {j for j in asked if j < n_features}.union(*sums)


@kernel
def _sum_weights(indptr: Array, indices: Array, weights: Floats, start: float) -> Floats:
    score = np.empty(indptr.size - 1)
    for i in range(score.size):
        total = start
        for place in range(indptr[i], indptr[i + 1]):
            total += weights[indices[place]]
        score[i] = total
    return score


def drop_unused(
    branches: Sequence[Branch], combinations: Sequence[Combination], n_features: int
) -> tuple[list[Branch], list[Combination]]:
    """The branches, and of the combinations only those that they ask for."""
    asked = sorted({j for branch in branches for j in branch if j >= n_features})
    number = {j: n_features + place for place, j in enumerate(asked)}
    renamed = [{number.get(j, j): test for j, test in branch.items()} for branch in branches]
    return renamed, [combinations[j - n_features] for j in asked]


def as_text(listed: ConditionList, rules: RuleSet, notes: Sequence[str], threshold: float) -> str:
    """The list for a person: a line a condition, with what is known of it."""
    lines = [f"score = {listed.start!r}"]
    for rule, weight, note in zip(rules, listed.weights.tolist(), notes, strict=True):
        sign = "+" if weight >= 0 else "-"
        lines.append(f"  {sign} {abs(weight)!r} if {rule.text}{note and f'   # {note}'}")
    return "\n".join([*lines, f"alert from {threshold!r} on"])


def as_sql(listed: ConditionList, columns: SqlColumns, rows: str, output: str) -> str:
    """A query that gives each row of a table, whose name is in quotes, its score."""
    columns, dialect = columns.only(listed.features(len(columns.names))), columns.dialect
    terms = [sql_number(listed.start, dialect)]
    zero = sql_number(0.0, dialect)
    for branch, weight in zip(listed.tests.branches(), listed.weights.tolist(), strict=True):
        parts = [columns.node(j, test, listed.combinations) for j, test in branch.items()]
        added = sql_number(weight, dialect)
        terms.append(f"CASE WHEN {columns.condition(all_of(parts))} THEN {added} ELSE {zero} END")
    return columns.query("\n    + ".join(terms), rows, output)


def as_json(listed: ConditionList, names: Sequence[str], rules: RuleSet) -> list[dict[str, Any]]:
    """The conditions as plain data: the text to be read, and the tests it is made of."""
    return [
        {
            "rule": rule.text,
            "weight": weight,
            "tests": [
                _test_state(column, test, names, listed.combinations)
                for column, test in branch.items()
            ],
        }
        for rule, weight, branch in zip(
            rules, listed.weights.tolist(), listed.tests.branches(), strict=True
        )
    ]


def from_json(
    start: Any, conditions: Any, names: Sequence[str], levels: Mapping[int, Sequence[Any]]
) -> ConditionList:
    """The list that :func:`as_json` wrote; what is not as it writes it is refused."""
    place = {name: j for j, name in enumerate(names)}
    if len(place) != len(names):
        raise ValueError("two columns have the same name")
    combinations: list[Combination] = []
    branches: list[Branch] = []
    for condition in conditions:
        branch: Branch = {}
        for state in condition["tests"]:
            column, test = _test_of(state, place, combinations)
            if column in branch:
                raise ValueError("a condition asks twice for one column")
            branch[column] = test
        if not branch:
            raise ValueError("a condition asks for nothing")
        branches.append(branch)
    weights = np.array([finite(condition["weight"]) for condition in conditions])
    listed = ConditionList(finite(start), weights, BranchArrays.of(branches), combinations)
    for condition, rule in zip(conditions, listed.rules(names, levels), strict=True):
        if condition["rule"] != rule.text:
            raise ValueError(f"the rule {condition['rule']!r} is not what its tests say")
    return listed


def finite(value: Any) -> float:
    """A number of a file, which is one and not beyond all bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        raise ValueError(f"{value!r:.40} is not a number")
    return float(value)


def _test_state(
    column: int, test: Test, names: Sequence[str], combinations: Sequence[Combination]
) -> dict[str, Any]:
    state: dict[str, Any] = {}
    if column < len(names):
        state["column"] = names[column]
    else:
        combination = combinations[column - len(names)]
        state["sum"] = [
            {"column": names[j], "times": loading, "if_missing": None if fill != fill else fill}
            for j, loading, fill in zip(*combination, strict=True)
        ]
    if test.levels is not None:
        state["not_in" if test.negated else "in"] = sorted(test.levels)
    if test.low > -np.inf:
        state["above"] = test.low
    if test.high < np.inf:
        state["up_to"] = test.high
    return {**state, "missing": test.missing}


def _test_of(
    state: dict[str, Any], place: dict[str, int], combinations: list[Combination]
) -> tuple[int, Test]:
    if "sum" in state and not state["sum"]:
        raise ValueError("a sum has no parts")
    if "sum" in state:
        fills = [part["if_missing"] for part in state["sum"]]
        combination = Combination(
            tuple(place[part["column"]] for part in state["sum"]),
            tuple(finite(part["times"]) for part in state["sum"]),
            tuple(np.nan if fill is None else finite(fill) for fill in fills),
        )
        # NaN is not equal to itself, its text is.
        written = [str(known) for known in combinations]
        if str(combination) not in written:
            combinations.append(combination)
            written.append(str(combination))
        column = len(place) + written.index(str(combination))
    else:
        column = place[state["column"]]
    negated = "not_in" in state
    levels = state.get("not_in", state.get("in"))
    if not isinstance(state["missing"], bool):
        raise ValueError(f"{state['missing']!r} is neither true nor false")
    return column, Test(
        finite(state["above"]) if "above" in state else -np.inf,
        finite(state["up_to"]) if "up_to" in state else np.inf,
        None if levels is None else frozenset(finite(level) for level in levels),
        negated,
        state["missing"],
    )


def read_json(text: str) -> dict[str, Any]:
    """The content of a file; raises where it is not a list of conditions."""
    try:
        whole = json.loads(text)
        if not isinstance(whole, dict) or whole.get("kind") != KIND:
            raise ValueError("it does not say that it is one")
        if whole.get("version") != VERSION:
            raise ValueError(f"version {whole.get('version')!r:.20} is not known here")
    except RecursionError:
        raise RuleError("This is not a list of conditions (it is nested too deeply).") from None
    except ValueError as error:
        raise RuleError(f"This is not a list of conditions ({error}).") from None
    return whole

"""Conditions as arrays, and which of them hold for which rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_array

from rarefind._core.fields import BoolArray, FloatArray, IntArray, StateError
from rarefind._core.kernels import kernel, read_only
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Table
from rarefind.conditions._ensembles import break_up, check_same_columns
from rarefind.rules.branches import Branch, Combination, Test

# Rows that one thread works on at a time.
_BLOCK = 20_000
_MOST_CELLS = 10**8


def _check_branches(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    for start, size in (("start", "asks"), ("set_start", "levels")):
        if state[start][0] != 0 or state[start][-1] != sizes[size]:
            raise StateError(f"{start!r} does not lead through {size!r}")
    # Scoring makes a table of tests and categories.
    if sizes["tests"] * sizes["levels"] > _MOST_CELLS:
        raise StateError("there are too many tests on categories")


@saved(
    "branches",
    state=State(
        {
            "start": IntArray("n+1", low=0, rising=True, dtype=np.int32),
            "asks": IntArray("asks", below="tests", dtype=np.int32),
            "column": IntArray("tests", low=0, dtype=np.int32),
            "low": FloatArray("tests", inf=True),
            "high": FloatArray("tests", inf=True),
            "missing": BoolArray("tests"),
            "by_level": BoolArray("tests"),
            "negated": BoolArray("tests"),
            "set_start": IntArray("tests+1", low=0, rising=True, dtype=np.int32),
            "levels": FloatArray("levels"),
        },
        _check_branches,
    ),
)
class BranchArrays(NamedTuple):
    """Conditions, one after the other: those of condition c ask ``asks[start[c]:start[c + 1]]``.

    These are numbers of tests, of which equal ones are one: ``low < x <= high``, or where
    ``by_level``, that the value is among ``levels[set_start[t]:set_start[t + 1]]``, which rise.
    """

    start: Array  # int32
    asks: Array  # int32
    column: Array  # int32
    low: Floats
    high: Floats
    missing: Bools  # whether a missing value passes
    by_level: Bools
    negated: Bools
    set_start: Array  # int32
    levels: Floats

    @classmethod
    def of(cls, branches: Sequence[Branch]) -> BranchArrays:
        """Put branches into arrays."""
        number: dict[tuple[int, Test], int] = {}
        asks = [number.setdefault(pair, len(number)) for b in branches for pair in b.items()]
        tests = [test for _, test in number]
        sets = [sorted(test.levels or ()) for test in tests]
        return cls(
            np.cumsum([0, *map(len, branches)]).astype(np.int32),
            np.array(asks, dtype=np.int32),
            np.array([column for column, _ in number], dtype=np.int32),
            np.array([test.low for test in tests], dtype=np.float64),
            np.array([test.high for test in tests], dtype=np.float64),
            np.array([test.missing for test in tests], dtype=bool),
            np.array([test.levels is not None for test in tests], dtype=bool),
            np.array([test.negated for test in tests], dtype=bool),
            np.cumsum([0, *map(len, sets)]).astype(np.int32),
            np.array([level for levels in sets for level in levels], dtype=np.float64),
        )

    def branches(self) -> list[Branch]:
        """The conditions as branches again."""
        tests = [(int(j), self._test(t)) for t, j in enumerate(self.column)]
        bounds = zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)
        return [dict(tests[t] for t in self.asks[first:end]) for first, end in bounds]

    def _test(self, t: int) -> Test:
        levels = None
        if self.by_level[t]:
            levels = frozenset(self.levels[self.set_start[t] : self.set_start[t + 1]].tolist())
        low, high = float(self.low[t]), float(self.high[t])
        return Test(low, high, levels, bool(self.negated[t]), bool(self.missing[t]))

    def holding(self) -> Callable[[Floats], tuple[Array, Array]]:
        """What tells how many conditions hold for each of some rows, and which, row after row."""
        tests = self.column, self.low, self.high, self.missing
        return partial(_count_holding, self.start, self.asks, *tests, *_Levels.of(self))

    def matrix(self, X: Floats, n_jobs: int | None = None) -> csr_matrix:
        """Which conditions (columns) hold for which rows."""
        X, holding = read_only(X), self.holding()
        blocks = [X[at : at + _BLOCK] for at in range(0, max(1, len(X)), _BLOCK)]
        threads = min(effective_n_jobs(n_jobs), len(blocks))
        if threads == 1:  # a few rows are done before joblib has begun
            found = [holding(block) for block in blocks]
        else:
            found = Parallel(n_jobs=threads, require="sharedmem")(
                delayed(holding)(block) for block in blocks
            )
        counts = np.concatenate([count for count, _ in found])
        start = np.concatenate([[0], np.cumsum(counts)])
        held = np.concatenate([held for _, held in found])
        data = np.ones(held.size, dtype=np.float32)
        made = csr_matrix((data, held, start), shape=(len(X), self.start.size - 1))
        made.has_sorted_indices = made.has_canonical_format = True
        return made


class _Levels(NamedTuple):
    """Levels by their place among all that tests on their column name, and which places pass."""

    columns: Array  # those with such tests
    start: Array
    values: Floats  # of column k, values[start[k]:start[k + 1]], which rise
    of_test: Array  # the number of its column among these, -1 for a test of numbers
    passes: (
        Bools  # of shape (tests, places): another category is the last but one, missing the last
    )

    @classmethod
    def of(cls, branches: BranchArrays) -> _Levels:
        """Levels of all tests."""
        tests = np.flatnonzero(branches.by_level)
        sets = {
            t: branches.levels[branches.set_start[t] : branches.set_start[t + 1]] for t in tests
        }
        columns = np.unique(branches.column[tests])
        known = [
            np.unique(np.concatenate([sets[t] for t in tests if branches.column[t] == j]))
            for j in columns
        ]
        start = np.cumsum([0, *map(len, known)]).astype(np.int64)
        of_test = np.full(branches.column.size, -1, dtype=np.int64)
        of_test[tests] = np.searchsorted(columns, branches.column[tests])
        most = max(map(len, known), default=0)
        passes = np.zeros((branches.column.size, most + 2), dtype=bool)
        for t in tests:
            named = np.isin(known[of_test[t]], sets[t])
            passes[t, : named.size] = named != branches.negated[t]
            passes[t, most] = branches.negated[t]
            passes[t, most + 1] = branches.missing[t]
        values = np.concatenate([*known, np.empty(0)])
        return cls(columns.astype(np.int64), start, values, of_test, passes)


@kernel
def _count_holding(
    start: Array,
    asks: Array,
    column: Array,
    low: Floats,
    high: Floats,
    missing: Bools,
    level_columns: Array,
    level_start: Array,
    levels: Floats,
    of_test: Array,
    passes: Bools,
    X: Floats,
) -> tuple[Array, Array]:
    """How many conditions hold for each row, and which, row after row.

    64 rows are worked on at a time: a test is a word with a bit a row, a condition the bits that
    the words of its tests share.
    """
    n, size, at = len(X), 1024, 0
    one = np.uint64(1)
    count = np.zeros(n, dtype=np.int64)
    held = np.empty(size, dtype=np.int32)
    tests = np.empty(column.size, dtype=np.uint64)
    conditions = np.empty(start.size - 1, dtype=np.uint64)
    values = np.empty((X.shape[1], 64))
    places = np.empty((level_columns.size, 64), dtype=np.int64)
    other = passes.shape[1] - 2
    for first in range(0, n, 64):
        rows = min(64, n - first)
        for i in range(rows):
            for j in range(X.shape[1]):
                values[j, i] = X[first + i, j]
        for k in range(level_columns.size):
            for i in range(rows):
                value = values[level_columns[k], i]
                found = _place_of(value, levels, level_start[k], level_start[k + 1], other)
                places[k, i] = other + 1 if value != value else found
        for t in range(column.size):
            word = np.uint64(0)
            if of_test[t] >= 0:
                own = places[of_test[t]]
                for i in range(rows):
                    word |= np.uint64(passes[t, own[i]]) << np.uint64(i)
            else:
                column_values = values[column[t]]
                for i in range(rows):
                    value = column_values[i]
                    holds = (value > low[t]) & (value <= high[t]) | (missing[t] & (value != value))
                    word |= np.uint64(holds) << np.uint64(i)
            tests[t] = word
        for c in range(start.size - 1):
            word = ~np.uint64(0) >> np.uint64(64 - rows)
            for place in range(start[c], start[c + 1]):
                word &= tests[asks[place]]
            conditions[c] = word
            while word:
                count[first + _lowest(word)] += 1
                word &= word - one
        ends = np.empty(64, dtype=np.int64)  # where the next condition of each row goes
        for i in range(rows):
            ends[i] = at
            at += count[first + i]
        while at > size:
            size *= 2
            longer = np.empty(size, dtype=np.int32)
            longer[: held.size] = held
            held = longer
        for c in range(start.size - 1):
            word = conditions[c]
            while word:
                i = _lowest(word)
                held[ends[i]] = c
                ends[i] += 1
                word &= word - one
    return count, held[:at].copy()


# A number whose 64 runs of six bits are all different tells which bit alone is set.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _PLACES[(int(_DE_BRUIJN) << _bit) % 2**64 >> 58] = _bit


@kernel
def _lowest(word: np.uint64) -> int:
    """The place of the lowest bit that is set."""
    alone = word & (~word + np.uint64(1))
    return _PLACES[(alone * _DE_BRUIJN) >> np.uint64(58)]


@kernel
def _place_of(value: float, levels: Floats, first: int, end: int, otherwise: int) -> int:
    """The place of a value among those from ``first`` to ``end``, counted from ``first``."""
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if levels[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - first if low < end and levels[low] == value else otherwise


def with_combinations(X: Floats, combinations: Sequence[Combination]) -> Floats:
    """The columns and, after them, their combinations, added up from the left as a rule is."""
    if not combinations:
        return X
    columns = [X]
    for combination in combinations:
        total = np.zeros(0)
        for place, (j, loading, fill) in enumerate(zip(*combination, strict=True)):
            value = X[:, j]
            if fill == fill:
                value = np.where(np.isnan(value), fill, value)
            total = loading * value if place == 0 else total + loading * value
        columns.append(total[:, np.newaxis])
    return np.hstack(columns)


def condition_matrix(ensemble: Any, X: Table, *, n_jobs: int | None = None) -> csr_matrix:
    """Which branches of a fitted ensemble of trees hold for which rows.

    Parameters
    ----------
    ensemble : fitted estimator
        XGBoost, LightGBM, scikit-learn's trees, forests and GradientBoosting, or a rarefind
        classifier made of trees.
    X : array-like of shape (n, d)
        The rows; NaN is a missing value.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    csr_matrix of shape (n, number of branches)
        1 where a row is in the branch, tree after tree: each row is in one branch of each tree that
        has a split.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from rarefind.conditions import condition_matrix
    >>> from rarefind.data import load_keel
    >>> X, y = load_keel("yeast6")
    >>> forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    >>> condition_matrix(forest, X).sum(axis=1).min()
    np.float32(10.0)
    """
    broken = break_up(ensemble)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    rows = check_array(X, dtype=np.float64, ensure_all_finite=False)
    check_same_columns(ensemble, rows.shape[1], names)
    tests = BranchArrays.of(broken.branches)
    return tests.matrix(with_combinations(rows, broken.combinations), n_jobs)

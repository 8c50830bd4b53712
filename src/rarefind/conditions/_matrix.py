"""Conditions as arrays, and which of them hold for which rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_array

from rarefind._branches import Branch, Combination, Test
from rarefind._numba import kernel
from rarefind._typing import Array, Bools, Floats, Table
from rarefind.conditions._ensembles import break_up

# Rows that one thread works on at a time.
_BLOCK = 20_000


class Branches(NamedTuple):
    """Conditions, one after the other: those of condition c are ``start[c]`` to ``start[c + 1]``.

    A test is ``low < x <= high``, or with ``set_start[t] < set_start[t + 1]`` that the value is
    among ``levels[set_start[t]:set_start[t + 1]]``, which are sorted.
    """

    start: Array  # int32
    column: Array  # int32
    low: Floats
    high: Floats
    missing: Bools  # whether a hole passes
    by_level: Bools
    negated: Bools
    set_start: Array  # int32
    levels: Floats

    @classmethod
    def of(cls, branches: Sequence[Branch]) -> Branches:
        """Put branches into arrays."""
        tests = [(column, test) for branch in branches for column, test in branch.items()]
        sets = [sorted(test.levels or ()) for _, test in tests]
        return cls(
            np.cumsum([0, *map(len, branches)]).astype(np.int32),
            np.array([column for column, _ in tests], dtype=np.int32),
            np.array([test.low for _, test in tests], dtype=np.float64),
            np.array([test.high for _, test in tests], dtype=np.float64),
            np.array([test.missing for _, test in tests], dtype=bool),
            np.array([test.levels is not None for _, test in tests], dtype=bool),
            np.array([test.negated for _, test in tests], dtype=bool),
            np.cumsum([0, *map(len, sets)]).astype(np.int32),
            np.array([level for levels in sets for level in levels], dtype=np.float64),
        )

    def branches(self) -> list[Branch]:
        """The conditions as branches again."""
        found = []
        for first, end in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            found.append({int(self.column[t]): self._test(t) for t in range(first, end)})
        return found

    def _test(self, t: int) -> Test:
        levels = None
        if self.by_level[t]:
            levels = frozenset(self.levels[self.set_start[t] : self.set_start[t + 1]].tolist())
        low, high = float(self.low[t]), float(self.high[t])
        return Test(low, high, levels, bool(self.negated[t]), bool(self.missing[t]))

    def matrix(self, X: Floats, n_jobs: int | None = None) -> csr_matrix:
        """Which conditions (columns) hold for which rows."""
        X = np.ascontiguousarray(X)
        blocks = [X[at : at + _BLOCK] for at in range(0, max(1, len(X)), _BLOCK)]
        threads = min(effective_n_jobs(n_jobs), len(blocks))
        found = Parallel(n_jobs=threads, prefer="threads")(
            delayed(_holding)(block, *self) for block in blocks
        )
        counts = np.concatenate([count for count, _ in found])
        start = np.concatenate([[0], np.cumsum(counts)])
        held = np.concatenate([held for _, held in found])
        data = np.ones(held.size, dtype=np.float32)
        made = csr_matrix((len(X), self.start.size - 1), dtype=np.float32)
        made.indptr, made.indices, made.data = start, held, data  # sorted as they are
        return made

    def refuse_malformed(self, n_columns: int) -> None:
        """Refuse arrays that do not belong together: the kernel trusts them."""
        sizes = {len(part) for part in self[1:7]}
        sound = (
            len(sizes) == 1
            and self.start.size > 0
            and self.set_start.size == self.column.size + 1
            and _is_rising(self.start, self.column.size)
            and _is_rising(self.set_start, self.levels.size)
            and ((self.column >= 0) & (self.column < n_columns)).all()
        )
        if not sound:
            raise ValueError("The conditions of the model do not fit together.")


def _is_rising(start: Array, end: int) -> bool:
    return bool(start[0] == 0 and start[-1] == end and (np.diff(start) >= 0).all())


@kernel
def _holding(
    X: Floats,
    start: Array,
    column: Array,
    low: Floats,
    high: Floats,
    missing: Bools,
    by_level: Bools,
    negated: Bools,
    set_start: Array,
    levels: Floats,
) -> tuple[Array, Array]:
    """How many conditions hold for each row, and which, row after row."""
    n, size = len(X), 1024
    count = np.zeros(n, dtype=np.int64)
    held = np.empty(size, dtype=np.int32)
    at = 0
    for i in range(n):
        for c in range(start.size - 1):
            holds = True
            for t in range(start[c], start[c + 1]):
                value = X[i, column[t]]
                if value != value:
                    holds = missing[t]
                elif by_level[t]:
                    place = np.searchsorted(levels[set_start[t] : set_start[t + 1]], value)
                    place += set_start[t]
                    found = place < set_start[t + 1] and levels[place] == value
                    holds = found != negated[t]
                else:
                    holds = low[t] < value <= high[t]
                if not holds:
                    break
            if holds:
                if at == size:
                    size *= 2
                    longer = np.empty(size, dtype=np.int32)
                    longer[:at] = held
                    held = longer
                held[at] = c
                at += 1
                count[i] += 1
    return count, held[:at].copy()


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
    rows = check_array(X, dtype=np.float64, ensure_all_finite=False)
    tests = Branches.of(broken.branches)
    return tests.matrix(with_combinations(rows, broken.combinations), n_jobs)

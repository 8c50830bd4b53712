"""Weights of conditions by boosted trees of depth one, and conditions eliminated in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.conditions._matrix import BranchArrays
from rarefind.rules.branches import Branch

# A split that gains less is not made, as in XGBoost.
_LEAST_GAIN = 1e-6
# From so many rows on, those for which the same conditions hold are learned from as one.
_MANY_ROWS = 50_000
# Longer branches stay whole: they have too many parts.
_MOST_TESTS = 4


class Scale(NamedTuple):
    """A score that is a sum: what every row has, and what each condition that holds adds."""

    columns: Ints  # numbers of the conditions
    start: float
    weights: Floats

    def score(self, held: csr_matrix) -> Floats:
        """Scores of rows, given which of all conditions hold."""
        return np.asarray(self.start + held[:, self.columns] @ self.weights)


class Boosting(NamedTuple):
    """How weights are found."""

    rounds: int
    learning_rate: float
    reg_lambda: float
    negative: bool  # whether a condition may lower the score

    def fit(self, held: csc_matrix, positive: Bools, weight: Floats) -> tuple[Scale, Floats]:
        """Weights of all conditions, and what each gains, from rows that may be merged ones."""
        prior = float(weight[positive].sum() / weight.sum())
        start = float(np.log(prior / (1 - prior)))
        start, weights, gains = _boost(
            held.indptr, held.indices, positive, weight.astype(np.float64), start, *self
        )
        return Scale(np.arange(weights.size), start, weights), gains


@kernel
def _boost(
    indptr: Array,
    indices: Array,
    positive: Bools,
    weight: Floats,
    start: float,
    rounds: int,
    learning_rate: float,
    reg_lambda: float,
    negative: bool,
) -> tuple[float, Floats, Floats]:
    """Boosting of the logistic loss by trees of depth one, as XGBoost grows them.

    The tree of a round splits on the condition that gains most, and adds one number where it holds
    and one where it does not: the second belongs to the start, the difference to the condition.
    """
    n, n_conditions = positive.size, indptr.size - 1
    weights, gains = np.zeros(n_conditions), np.zeros(n_conditions)
    score = np.full(n, start)
    first, second = np.empty(n), np.empty(n)
    for _ in range(rounds):
        whole_first, whole_second = 0.0, 0.0
        for i in range(n):
            probability = 1 / (1 + np.exp(-score[i]))
            first[i] = weight[i] * (probability - positive[i])
            second[i] = weight[i] * probability * (1 - probability)
            whole_first += first[i]
            whole_second += second[i]
        best, best_gain = -1, _LEAST_GAIN
        best_first, best_second = 0.0, 0.0
        for c in range(n_conditions):
            held_first, held_second = 0.0, 0.0
            for place in range(indptr[c], indptr[c + 1]):
                held_first += first[indices[place]]
                held_second += second[indices[place]]
            other_first, other_second = whole_first - held_first, whole_second - held_second
            holds = -held_first / (held_second + reg_lambda)
            fails = -other_first / (other_second + reg_lambda)
            if holds < fails and not negative:
                continue
            whole = whole_first**2 / (whole_second + reg_lambda)
            gain = -held_first * holds - other_first * fails - whole
            if gain > best_gain:
                best, best_gain = c, gain
                best_first, best_second = held_first, held_second
        others = whole_second - best_second + reg_lambda
        fails = -learning_rate * (whole_first - best_first) / others
        start += fails
        score += fails
        if best >= 0:
            holds = -learning_rate * best_first / (best_second + reg_lambda)
            weights[best] += holds - fails
            gains[best] += best_gain
            for place in range(indptr[best], indptr[best + 1]):
                score[indices[place]] += holds - fails
    return start, weights, gains


def merge_rows(
    held: csr_matrix, positive: Bools, weight: Floats
) -> tuple[csr_matrix, Bools, Floats]:
    """One row, of their weight together, for all of a class for which the same conditions hold.

    Such rows have the same score whatever the weights of the conditions. With few conditions there
    are far fewer kinds of rows than rows, and boosting takes so much less time.
    """
    n, n_conditions = held.shape
    if n < _MANY_ROWS:
        return held, positive, weight
    # A sum of random numbers stands for a set of conditions: that two sets have the same is as good
    # as impossible.
    drawn = np.random.default_rng(0).integers(2**63, size=n_conditions + 1, dtype=np.uint64)
    kinds = _sums_of_held(held.indptr, held.indices, drawn, positive)
    _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
    if first.size > n // 2:
        return held, positive, weight
    return held[first], positive[first], np.bincount(kind, weights=weight).astype(np.float64)


@kernel
def _sums_of_held(indptr: Array, indices: Array, drawn: Array, positive: Bools) -> Array:
    sums = np.zeros(positive.size, dtype=np.uint64)
    for i in range(positive.size):
        if positive[i]:
            sums[i] = drawn[-1]
        for place in range(indptr[i], indptr[i + 1]):
            sums[i] += drawn[indices[place]]
    return sums


def eliminations(
    held: csr_matrix, positive: Bools, weight: Floats, boosting: Boosting, sizes: Sequence[int]
) -> Iterator[Scale]:
    """Fit, keep the conditions that gain most, fit again: one scale a size, none longer than it.

    Parameters
    ----------
    held : csr_matrix
        Which conditions hold for which rows.
    positive, weight : ndarray
        Classes and weights of the rows.
    boosting : Boosting
        How weights are found.
    sizes : sequence of int
        How many conditions stay, falling.
    """
    columns = np.arange(held.shape[1])
    held, positive, weight = merge_rows(held, positive, weight)
    scale, gains = boosting.fit(csc_matrix(held), positive, weight)
    for size in sizes:
        best = np.sort(np.argsort(-gains, kind="stable")[:size])
        kept = best[gains[best] > 0]
        if kept.size < columns.size and kept.size:
            columns = columns[kept]
            # Of fewer conditions more rows are alike.
            held, positive, weight = merge_rows(held[:, kept], positive, weight)
            scale, gains = boosting.fit(csc_matrix(held), positive, weight)
        yield Scale(columns, scale.start, scale.weights)


def distinct(
    branches: Sequence[Branch], X: Floats, n_jobs: int | None
) -> tuple[list[Branch], csr_matrix]:
    """The conditions that hold for different rows, the shortest of each kind, and their matrix.

    Those that hold for all rows, or for none, are left out.
    """
    branches = list({frozenset(branch.items()): branch for branch in branches}.values())
    by_column = BranchArrays.of(branches).matrix(X, n_jobs).tocsc()
    by_column.sort_indices()
    seen: dict[bytes, int] = {}
    for c in sorted(range(len(branches)), key=lambda c: len(branches[c])):
        rows = by_column.indices[by_column.indptr[c] : by_column.indptr[c + 1]]
        if 0 < rows.size < len(X):
            seen.setdefault(blake2b(rows.tobytes(), digest_size=16).digest(), c)
    kept = sorted(seen.values())
    return [branches[c] for c in kept], by_column[:, kept].tocsr()


def with_parts(branches: Sequence[Branch]) -> list[Branch]:
    """The branches, and what is left of each without some of its tests."""
    return [
        dict(part)
        for branch in branches
        for size in ([len(branch)] if len(branch) > _MOST_TESTS else range(1, len(branch) + 1))
        for part in combinations(branch.items(), size)
    ]

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.trees._columns import read_columns
from rarefind.trees._criteria import CRITERIA, split_value
from rarefind.trees._random_cuts import CodedRows, CutPlan, grow_by_cuts

NO_LIMIT = 10**6


def table(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = X[:, 3] > 0
    y = rng.random(n) < 0.3
    y[:2] = True, False
    return X, y


def grow(X, y, plan, weight=None, splitter="exact", seed=0):
    columns = read_columns(X, y, np.zeros(X.shape[1], dtype=bool), splitter, 8)
    weight = np.empty(0) if weight is None else weight
    lines = (np.flatnonzero(own).astype(np.int32) for own in (y, ~y))
    return grow_by_cuts(CodedRows.of(columns), *lines, weight, plan, seed)


def goes_left(X, tree, node):
    value = X[:, tree.feature[node]]
    return np.where(np.isnan(value), tree.missing_left[node], value <= tree.threshold[node])


def rows_of_nodes(X, tree):
    """Which rows come to each node, by the definition: values against thresholds."""
    there = {0: np.ones(len(X), dtype=bool)}
    for node in range(tree.left.size):
        if tree.left[node] >= 0:
            left = goes_left(X, tree, node)
            there[tree.left[node]] = there[node] & left
            there[tree.left[node] + 1] = there[node] & ~left
    return there


@given(
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["exact", "histogram"]),
    st.integers(1, 4),
)
@settings(max_examples=40)
def test_nodes_have_the_rows_that_come_to_them(seed, by_pairs, weighted, splitter, min_rows):
    X, y = table(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, y.size) if weighted else None
    plan = CutPlan(2, by_pairs, CRITERIA["entropy"], min_rows, NO_LIMIT)
    tree = grow(X, y, plan, weight, splitter, seed)
    own = np.ones(y.size) if weight is None else weight
    there = rows_of_nodes(X, tree)
    assert sorted(there) == list(range(tree.left.size))
    for node, rows in there.items():
        assert rows.sum() >= min_rows
        sums = own[rows].sum(), own[rows & y].sum()
        np.testing.assert_allclose(tree.sums[node], sums, rtol=1e-12)
        if tree.left[node] < 0 and min_rows == 1 and splitter == "exact":
            pure = y[rows].all() or not y[rows].any()
            # Rows of two classes in a leaf are copies of each other.
            assert pure or len(np.unique(X[rows], axis=0)) == 1


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_cuts_by_pairs_lie_between_a_positive_and_a_negative(seed):
    X, y = table(seed, d=5)
    X[:, 4] = np.exp(5 * X[:, 4])
    tree = grow(X, y, CutPlan(1, True, 3, 1, NO_LIMIT), seed=seed)
    for node, rows in rows_of_nodes(X, tree).items():
        if tree.left[node] < 0:
            continue
        left = goes_left(X, tree, node)
        apart = [(left & own).any() and (~left & other).any() for own, other in pairs(rows, y)]
        assert any(apart)
        values = X[rows, tree.feature[node]]
        if tree.threshold[node] > -np.inf:
            assert np.nanmin(values) <= tree.threshold[node] < np.nanmax(values)
        else:  # whether the value is missing
            assert 0 < np.isnan(values).sum() < values.size


def pairs(rows, y):
    return ((rows & y, rows & ~y), (rows & ~y, rows & y))


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_of_the_cuts_splits_the_node(criterion, weighted):
    """Where columns have two values a cut is the column, and all columns are tried."""
    rng = np.random.default_rng(1)
    X, y = (rng.random((80, 5)) < 0.5).astype(float), rng.random(80) < 0.2
    weight = rng.uniform(0.5, 2, 80) if weighted else np.ones(80)
    plan = CutPlan(5, False, CRITERIA[criterion], 1, NO_LIMIT)
    tree = grow(X, y, plan, weight if weighted else None)
    assert tree.left.size > 15
    for node, rows in rows_of_nodes(X, tree).items():
        if tree.left[node] < 0:
            continue
        values = []
        for j in range(5):
            left, right = (
                (weight[rows & side & y].sum(), weight[rows & side].sum())
                for side in (X[:, j] == 0, X[:, j] == 1)
            )
            if left[1] > 0 and right[1] > 0:
                values.append((split_value(CRITERIA[criterion], 0.0, *left, *right), j))
        own = next(value for value, j in values if j == tree.feature[node])
        assert own == pytest.approx(max(values)[0])


def test_cuts_are_even_among_the_values():
    X, y = np.array([[0.0], [1.0], [10.0]]), np.array([True, True, False])
    found = []
    for seed in range(400):
        tree = grow(X, y, CutPlan(1, False, 3, 1, NO_LIMIT), seed=seed)
        found.append(tree.threshold[0])
    found = np.array(found)
    assert 0 <= found.min() < 1 < found.max() < 10
    assert np.mean(found < 1) == pytest.approx(0.1, abs=0.05)
    assert found.mean() == pytest.approx(5, abs=0.5)


def test_depth_and_columns_that_never_change():
    X, y = table(0)
    tree = grow(X, y, CutPlan(2, True, 3, 1, 1))
    assert tree.left.tolist() == [1, -1, -1]
    alone = grow(np.ones((5, 2)), np.arange(5) < 2, CutPlan(2, True, 3, 1, NO_LIMIT))
    assert alone.left.tolist() == [-1]
    assert alone.sums.tolist() == [[5, 2]]


def test_a_new_missing_value_goes_with_most_rows():
    X = np.arange(20.0)[:, None]
    for seed in range(5):
        tree = grow(X, X[:, 0] > 12, CutPlan(1, True, 3, 1, NO_LIMIT), seed=seed)
        left = goes_left(X, tree, 0).sum()
        assert tree.missing_left[0] == (left > 10)


def test_many_values_take_codes_of_32_bits():
    rng = np.random.default_rng(0)
    X = rng.permutation(70_000)[:, None].astype(float)
    y = X[:, 0] > 69_000
    columns = read_columns(X, y, np.zeros(1, dtype=bool), "exact", 8)
    rows = CodedRows.of(columns)
    assert rows.codes.dtype == np.uint32
    np.testing.assert_array_equal(rows.codes[:, 0], X[:, 0] + 1)

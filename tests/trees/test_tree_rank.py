import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_random_state
from trees.naive import meta_leaves, partitions, random_rows, tables

from rarefind.selection import folds
from rarefind.trees import TreeRankClassifier
from rarefind.trees._meta import Plan

PLAIN = {"prune": False, "threshold": None}


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n) > 1.5


def gain(rows, first):
    """β - α of the rows that go first: their shares of the positives and of the negatives."""
    beta = rows.weight[first & rows.positive].sum() / rows.weight[rows.positive].sum()
    alpha = rows.weight[first & ~rows.positive].sum() / rows.weight[~rows.positive].sum()
    return beta - alpha


@given(tables())
def test_the_first_split_has_the_largest_beta_less_alpha(rows):
    model = TreeRankClassifier(1, 1, categorical_features=rows.is_set, pos_label=True, **PLAIN).fit(
        rows.X, rows.positive, sample_weight=rows.weight
    )
    best = max(
        (
            abs(gain(rows, left))
            for j in range(rows.X.shape[1])
            for left in partitions(rows.X[:, j], rows.is_set[j])
            if 0 < left.sum() < left.size
        ),
        default=0.0,
    )
    first = model.apply(rows.X) == 1
    if best < 1e-9:
        assert first.all()
    else:
        assert gain(rows, first) == pytest.approx(best, rel=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=50)
def test_leaves_fall_evenly_and_siblings_by_beta_over_alpha(seed, inner, outer):
    rows = random_rows(seed, 60, ["numbers", "ties"])
    model = TreeRankClassifier(inner, outer, pos_label=True, **PLAIN)
    model.fit(rows.X, rows.positive, sample_weight=rows.weight)
    nodes, n = model.tree_.nodes, model.n_leaves_
    leaf = model.apply(rows.X)
    # Ranks of leaves are by score; from left to right they are 1, 2, ...
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        if nodes.root[node] < 0:
            order.append(node)
        else:
            stack += [int(nodes.second[node]), int(nodes.first[node])]
    np.testing.assert_allclose(model.leaf_scores_[order], 1 - np.arange(n) / n)
    np.testing.assert_allclose(model.priority(rows.X), 1 - (leaf - 1) / n)
    positive, weight = nodes.sums[:, 2], nodes.sums[:, 1]
    for node in np.flatnonzero(nodes.root >= 0):
        one, other = nodes.first[node], nodes.second[node]
        # β / α of one is at least that of the other, without dividing by an α of 0.
        ahead = positive[one] * (weight[other] - positive[other])
        behind = positive[other] * (weight[one] - positive[one])
        assert ahead >= behind - 1e-9


@given(st.integers(0, 10**6), st.integers(2, 3))
@settings(max_examples=30)
def test_rows_part_and_stand_as_those_of_the_slow_twin(seed, inner):
    """Inner leaves are cut where β' - α' is largest; weights are random, so nothing is equal."""
    rows = random_rows(seed, 20, ["numbers", "numbers"])
    model = TreeRankClassifier(inner, 2, pos_label=True, **PLAIN)
    leaf = model.fit(rows.X, rows.positive, sample_weight=rows.weight).apply(rows.X)
    expected = meta_leaves(rows, Plan(inner, 2, "auc", "precision", "roc_auc", 1, 99))
    found = [np.flatnonzero(leaf == rank).tolist() for rank in range(1, model.n_leaves_ + 1)]
    assert found == expected


def test_every_level_adds_area():
    X, y = table()
    areas = [
        roc_auc_score(y, TreeRankClassifier(2, depth, **PLAIN).fit(X, y).priority(X))
        for depth in range(4)
    ]
    assert areas[0] == 0.5
    assert (np.diff(areas) > 0).all()


@pytest.mark.parametrize("scores", ["position", "precision"])
def test_the_held_out_value_is_an_area_by_hand(scores):
    X, y = table()
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    model = TreeRankClassifier(2, 3, scores=scores, random_state=5).fit(X, y, sample_weight=weight)
    alone = TreeRankClassifier(2, model.outer_depth_, scores=scores, pos_label=True, **PLAIN)
    seed = int(check_random_state(5).randint(2**31 - 1))
    areas = []
    for train, test in folds(X, y, 5, random_state=seed):
        alone.fit(X[train], y[train], sample_weight=weight[train])
        score = alone.priority(X[test])
        areas.append(roc_auc_score(y[test], score, sample_weight=weight[test]))
    assert model.held_out_value_ == pytest.approx(np.mean(areas), rel=1e-9)


def test_scores_by_precision_are_those_of_the_leaves():
    X, y = table()
    model = TreeRankClassifier(2, 3, scores="precision", **PLAIN).fit(X, y)
    leaf, priority = model.apply(X), model.priority(X)
    assert model.n_leaves_ > 3
    for rank in range(1, model.n_leaves_ + 1):
        np.testing.assert_allclose(priority[leaf == rank], y[leaf == rank].mean(), rtol=1e-12)
    by_position = TreeRankClassifier(2, 3, **PLAIN).fit(X, y).tree_.conditions
    np.testing.assert_array_equal(model.tree_.conditions.threshold, by_position.threshold)


def test_without_a_threshold_the_first_half_of_the_leaves_is_positive():
    X, y = table()
    model = TreeRankClassifier(2, 2, **PLAIN).fit(X, y)
    assert model.n_leaves_ == 4
    np.testing.assert_array_equal(model.predict(X), model.apply(X) <= 2)


def test_pruning_keeps_the_levels_with_the_largest_held_out_area():
    X, y = table(seed=3)
    model = TreeRankClassifier(3, 4, random_state=0).fit(X, y)
    areas = [
        TreeRankClassifier(3, depth, prune=False, random_state=0).fit(X, y).held_out_value_
        for depth in range(5)
    ]
    assert model.outer_depth_ == int(np.argmax(areas))
    assert model.held_out_value_ == max(areas) > min(areas)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from trees.naive import tables

from rarefind.metrics import average_precision, precision_at_k
from rarefind.trees._columns import read_columns
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees._prune import (
    HeldOutRanking,
    Pruning,
    leaves_at,
    mean_of_folds,
    node_scores,
    positions,
    smooth,
)


@st.composite
def rankings(draw):
    """Scores with ties, weights and labels of both classes."""
    n = draw(st.integers(2, 20))
    score = np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)), dtype=float)
    weight = np.array(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)), dtype=float)
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[0], positive[1] = True, False
    return score, weight, positive


def value_of(score, weight, positive, target, share=None):
    if target == "precision_at_k":
        return HeldOutRanking.of(score, weight, positive).precision(share)
    return HeldOutRanking.of(score, weight, positive).worth(target)


@given(rankings(), st.sampled_from([1.0, 0.37]))
def test_average_precision_and_area_are_those_of_the_metrics(ranking, unit):
    score, weight, positive = ranking
    weight = weight * unit
    ap = average_precision(positive, score, sample_weight=weight)
    assert value_of(score, weight, positive, "average_precision") == pytest.approx(ap, rel=1e-12)
    area = roc_auc_score(positive, score, sample_weight=weight)
    assert value_of(score, weight, positive, "roc_auc") == pytest.approx(area, rel=1e-12)


@given(rankings(), st.data())
def test_precision_at_k_is_that_of_a_share_of_the_weight(ranking, data):
    score, weight, positive = ranking
    k = data.draw(st.integers(1, int(weight.sum())))
    expected = precision_at_k(positive, score, k, sample_weight=weight)
    # Half as much weight of every row is no other ranking.
    for unit in (1.0, 0.5):
        found = value_of(score, weight * unit, positive, "precision_at_k", k / weight.sum())
        assert found == pytest.approx(expected, rel=1e-9)


@given(rankings())
def test_held_out_rows_come_back_from_the_list(ranking):
    score, weight, positive = ranking
    held = HeldOutRanking.of(score, weight, positive)
    again, is_positive, of = held.rows()
    for cut in np.unique(score):
        for kind in (True, False):
            expected = weight[(score == cut) & (positive == kind)].sum()
            assert of[(again == cut) & (is_positive == kind)].sum() == pytest.approx(expected)


def test_of_a_long_list_the_first_places_are_kept_and_the_rest_is_near():
    rng = np.random.default_rng(0)
    score, positive = rng.normal(size=20_000), rng.random(20_000) < 0.1
    held = HeldOutRanking.of(score, np.ones(20_000), positive).thin()
    assert held.score.size <= 512
    assert (held.weight[-1], held.positive[-1]) == (20_000, positive.sum())
    for k, tolerance in ((1, 1e-12), (17, 1e-12), (200, 1e-12), (3_000, 0.01), (20_000, 1e-12)):
        exact = precision_at_k(positive, score, k)
        assert held.precision(k / 20_000) == pytest.approx(exact, abs=tolerance)


def test_around_a_budget_is_the_mean_of_budgets_from_half_to_twice():
    held = HeldOutRanking.of(
        np.arange(8.0)[::-1], np.ones(8), np.array([1, 1, 0, 1, 0, 0, 0, 0]) == 1
    )
    shares = 0.25 * 2.0 ** np.array([-1, -0.5, 0, 0.5, 1])
    assert held.around(0.25) == pytest.approx(np.mean([held.precision(s) for s in shares]))
    assert held.precision(0.25) == 1.0
    assert held.around(0.25) < 1.0


@pytest.mark.parametrize("target", ["average_precision", "roc_auc"])
@pytest.mark.parametrize("positive", [True, False])
def test_of_one_class_no_ranking_is_worth_anything(target, positive):
    only = np.full(3, positive)
    assert np.isnan(value_of(np.array([1.0, 2.0, 2.0]), np.ones(3), only, target, 0.5))


def test_some_fold_must_hold_out_both_classes():
    with pytest.raises(ValueError, match="No fold has held-out rows of both classes"):
        mean_of_folds([np.array([np.nan]), np.array([np.nan])])


def test_folds_of_one_class_do_not_count_in_the_mean():
    values = [np.array([0.5, np.nan, np.nan]), np.array([0.7, 0.2, np.nan])]
    np.testing.assert_allclose(mean_of_folds(values), [0.6, 0.2, np.nan])


@st.composite
def grown(draw):
    rows = draw(tables())
    columns = read_columns(rows.X, rows.positive, rows.is_set, "exact", 255)
    inner, outer = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    plan = Plan(inner, outer, "max-ap", "precision", "average_precision", 1, rows.X.shape[1])
    return rows, grow_meta_tree(columns, rows.positive, rows.weight, plan, 0)


@given(grown(), st.sampled_from([0.0, 1.0, 7.5]))
def test_smoothing_adds_rows_of_the_parents_smoothed_precision(model, m):
    nodes = model[1].nodes

    def by_hand(node):
        _, weight, positive = nodes.sums[node]
        if node == 0:
            return positive / weight
        return (positive + m * by_hand(nodes.parent[node])) / (weight + m)

    expected = [by_hand(node) for node in range(nodes.root.size)]
    found = smooth(nodes.parent, nodes.sums, m)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(node_scores(nodes, Pruning(2, m), "precision"), found)


def left_to_right(nodes, depth, node=0):
    if nodes.root[node] < 0 or nodes.depth[node] == depth:
        return [node]
    children = int(nodes.first[node]), int(nodes.second[node])
    return [leaf for child in children for leaf in left_to_right(nodes, depth, child)]


@given(grown(), st.integers(0, 5))
def test_positions_fall_evenly_from_left_to_right(model, depth):
    nodes = model[1].nodes
    leaves = left_to_right(nodes, depth)
    score = positions(nodes, depth)
    expected = [(len(leaves) - place) / len(leaves) for place in range(len(leaves))]
    np.testing.assert_allclose(score[leaves], expected, rtol=1e-12)
    assert score[leaves[0]] == 1
    np.testing.assert_array_equal(node_scores(nodes, Pruning(depth, 3.0), "position"), score)


@given(grown(), st.integers(0, 5))
def test_leaves_at_a_depth_are_those_of_the_pruned_tree(model, depth):
    tree = model[1]
    small, old, _ = tree.prune(tree.nodes.depth < depth)
    np.testing.assert_array_equal(np.flatnonzero(leaves_at(tree.nodes, depth)), old[small.is_leaf])
    np.testing.assert_array_equal(np.sort(left_to_right(tree.nodes, depth)), old[small.is_leaf])

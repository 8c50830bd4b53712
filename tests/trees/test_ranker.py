from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.naive import path, random_rows, tables

from rarefind.trees._borders import band_widths
from rarefind.trees._columns import read_columns
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees._prune import Pruning
from rarefind.trees._ranker import Ranker, move_within


@st.composite
def rankers(draw):
    """A tree with bands, and rows near its borders."""
    rows = draw(tables())
    columns = read_columns(rows.X, rows.positive, rows.is_set, "exact", 255)
    plan = Plan(
        draw(st.integers(1, 3)), 4, "max-ap", "precision", "average_precision", 1, rows.X.shape[1]
    )
    tree = grow_meta_tree(columns, rows.positive, rows.weight, plan, 0)
    shape = Pruning(draw(st.integers(0, 4)), draw(st.sampled_from([0.0, 1.0, 64.0])))
    scores = draw(st.sampled_from(["precision", "position"]))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    width = band_widths(tree, rows.X, rows.weight) * draw(st.sampled_from([0.3, 1.0, 5.0]))
    moved = rows.X + rng.normal(size=rows.X.shape) * (rng.random(rows.X.shape) < 0.5)
    return Ranker.of(tree, shape, scores, width), np.concatenate([rows.X, moved])


@given(rankers())
def test_rows_stay_within_the_place_of_their_leaf(model):
    ranker, X = model
    priority, own = ranker.priority(X), ranker.score[ranker.tree.apply(X)]
    assert ((priority >= 0) & (priority <= 1)).all()
    ranked = np.unique(own)
    for worse, better in pairwise(ranked):
        assert priority[own == worse].max() < priority[own == better].min()
        middle = (worse + better) / 2
        assert priority[own == worse].max() <= middle <= priority[own == better].min()


@given(rankers())
def test_a_row_behind_all_bands_has_the_score_of_its_leaf(model):
    ranker, X = model
    c = ranker.tree.conditions
    for x, priority, blend in zip(X, ranker.priority(X), ranker.blend(X), strict=True):
        met, leaf = path(ranker.tree, x)
        near = [
            at
            for at in met
            if c.set_number[at] < 0
            and ranker.width.size
            and abs(x[c.feature[at]] - c.threshold[at]) < ranker.width[at]
        ]
        if not near:
            assert priority == blend == ranker.score[leaf]


@given(rankers())
@settings(max_examples=50)
def test_other_rows_of_the_call_do_not_matter(model):
    ranker, X = model
    alone = np.concatenate([ranker.priority(x[None]) for x in X])
    np.testing.assert_array_equal(ranker.priority(X), alone)
    np.testing.assert_array_equal(ranker.priority(X[::-1])[::-1], alone)


@given(rankers())
def test_a_row_moves_towards_the_mean_of_near_leaves(model):
    ranker, X = model
    own = ranker.score[ranker.tree.apply(X)]
    move, pull = ranker.priority(X) - own, ranker.blend(X) - own
    assert (move * pull >= 0).all()
    assert (move[np.abs(pull) < 1e-300] == 0).all()


def test_moves_by_hand():
    """Leaves of 0.2, 0.5 and 0.9; a leaf's mean says how much of the way to the ends it goes."""
    score, is_leaf = np.array([0.4, 0.9, 0.5, 0.2]), np.array([False, True, True, True])
    leaf = np.array([2, 2, 2, 1, 1, 3, 3])
    mean = np.array([0.5, 0.75, 0.25, 0.95, 0.45, 0.6, 0.1])
    expected = [
        0.5,
        0.5 + 0.49 * 0.5 * 0.4,  # half the way to 1, so half of nearly half the way to 0.9
        0.5 - 0.49 * 0.5 * 0.3,
        0.9 + 0.49 * 0.5 * 0.1,  # above the first leaf there is 1
        0.9 - 0.49 * 0.5 * 0.4,
        0.2 + 0.49 * 0.5 * 0.3,
        0.2 - 0.49 * 0.5 * 0.2,  # below the last there is 0
    ]
    np.testing.assert_allclose(move_within(leaf, mean, score, is_leaf), expected, rtol=1e-12)


def test_ties_are_broken_by_borders_and_stay_without_them():
    rows = random_rows(1, 200, ["numbers", "numbers"], "ones", missing=0.0)
    columns = read_columns(rows.X, rows.positive, rows.is_set, "exact", 255)
    plan = Plan(2, 2, "max-ap", "precision", "average_precision", 1, 2, 5.0)
    tree = grow_meta_tree(columns, rows.positive, rows.weight, plan, 0)
    tied = Ranker.of(tree, Pruning(2, 1.0), "precision", np.empty(0))
    broken = Ranker.of(tree, Pruning(2, 1.0), "precision", band_widths(tree, rows.X, rows.weight))
    assert np.unique(tied.priority(rows.X)).size == tied.tree.is_leaf.sum() <= 4
    np.testing.assert_array_equal(tied.blend(rows.X), tied.priority(rows.X))
    assert np.unique(broken.priority(rows.X)).size > 40


@pytest.mark.parametrize("smallest_gap", [0.5, 0.25, 0.1])
def test_neighbouring_numbers_stay_apart(smallest_gap):
    """Two leaves whose scores are neighbouring floating-point numbers do not meet."""
    high = np.nextafter(smallest_gap, 1)
    score, is_leaf = np.array([0.3, smallest_gap, high]), np.array([False, True, True])
    low_row, high_row = move_within(np.array([1, 2]), np.array([1.0, 0.0]), score, is_leaf)
    assert low_row < high_row

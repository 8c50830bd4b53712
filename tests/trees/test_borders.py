import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.naive import path, random_rows, tables

from rarefind.trees._borders import band_widths, blend
from rarefind.trees._columns import read_columns
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees._prune import Pruning
from rarefind.trees._ranker import Ranker, shape_priorities


def tree_of(rows, inner=2, outer=3):
    columns = read_columns(rows.X, rows.positive, rows.is_set, "exact", 255)
    plan = Plan(inner, outer, "max-ap", "precision", "average_precision", 1, rows.X.shape[1])
    return grow_meta_tree(columns, rows.positive, rows.weight, plan, 0)


@st.composite
def grown(draw):
    rows = draw(tables())
    return rows, tree_of(rows, draw(st.integers(1, 3)), draw(st.integers(0, 3)))


def near_rows(rows, seed):
    """The rows themselves, some moved a little, and some with missing values and unknown levels."""
    rng = np.random.default_rng(seed)
    moved = rows.X + rng.normal(size=rows.X.shape) * (rng.random(rows.X.shape) < 0.5)
    other = random_rows(seed, 8, ["levels"] * rows.X.shape[1]).X
    return np.concatenate([rows.X, moved, other])


def random_widths(tree, rng, share=1.0):
    """Bands around thresholds; none around sets, or where only missing values are asked for."""
    width = rng.uniform(0, 4, tree.conditions.feature.size)
    return width * (rng.random(width.size) < share) * np.isfinite(tree.conditions.threshold)


def share_that_holds(tree, x, width, at):
    c = tree.conditions
    value, t = x[c.feature[at]], c.threshold[at]
    if np.isnan(value):
        return float(c.missing_left[at])
    if c.set_number[at] >= 0:
        levels = tree.levels[c.feature[at]]
        known = np.flatnonzero(levels == value)
        return float(tree.sets[c.set_number[at], known[0] if known.size else levels.size + 1])
    if abs(value - t) < width[at]:
        return (t + width[at] - value) / (2 * width[at])
    return float(value <= t)


def naive_blend(tree, x, width, value):
    """Follow every way to every outer node, with the product of the shares on it."""

    def reached(to):
        if to < 0:
            node = -1 - to
            below = 0.0 if tree.is_leaf[node] else reached(int(tree.nodes.root[node]))
            return value[node] + below
        share = share_that_holds(tree, x, width, to)
        found = 0.0
        if share > 0:
            found += share * reached(int(tree.conditions.left[to]))
        if share < 1:
            found += (1 - share) * reached(int(tree.conditions.right[to]))
        return found

    return reached(-1)


@given(grown(), st.integers(0, 999), st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=80)
def test_shares_add_up_as_those_of_the_slow_twin(model, seed, share_of_bands):
    """Values of all outer nodes count, so the graph must be followed to each of them."""
    rows, tree = model
    rng = np.random.default_rng(seed)
    width = random_widths(tree, rng, share_of_bands)
    value = rng.normal(size=(tree.is_leaf.size, 2))
    X = near_rows(rows, seed)
    expected = [[naive_blend(tree, x, width, column) for column in value.T] for x in X]
    np.testing.assert_allclose(blend(tree, X, width, value), expected, rtol=1e-9, atol=1e-12)


@given(grown(), st.integers(0, 999))
def test_without_bands_a_row_has_its_own_leaf(model, seed):
    rows, tree = model
    score = np.random.default_rng(seed).random(tree.is_leaf.size)
    X, width = near_rows(rows, seed), np.zeros(tree.conditions.feature.size)
    found = blend(tree, X, width, np.where(tree.is_leaf, score, 0.0)[:, None])
    np.testing.assert_array_equal(found[:, 0], score[tree.apply(X)])


@given(grown(), st.integers(0, 999))
def test_the_shares_of_a_row_are_one_in_all(model, seed):
    rows, tree = model
    width = random_widths(tree, np.random.default_rng(seed))
    ones = np.where(tree.is_leaf, 1.0, 0.0)[:, None]
    found = blend(tree, near_rows(rows, seed), width, ones)
    np.testing.assert_allclose(found, 1.0, rtol=1e-12)


def distances(tree, X):
    """For each condition, how far the rows lie that come to it."""
    c = tree.conditions
    found = [[] for _ in c.feature]
    for x in X:
        for at in path(tree, x)[0]:
            distance = abs(x[c.feature[at]] - c.threshold[at])
            if c.set_number[at] < 0 and np.isfinite(distance):
                found[at].append(distance)
    return found


@given(grown(), st.integers(0, 999))
def test_a_band_is_as_wide_as_its_rows_lie_from_it_on_average(model, seed):
    rows, tree = model
    X = near_rows(rows, seed)
    expected = np.array([np.mean(found) if found else 0.0 for found in distances(tree, X)])
    width = band_widths(tree, X, np.ones(len(X)))
    np.testing.assert_allclose(width, expected, rtol=0.00501)
    assert all(w == float(f"{w:.3g}") for w in width)  # people read them


def test_a_condition_on_missing_values_and_one_on_levels_have_no_band():
    """Here a missing value, and then a level, tell the positives; numbers of the column do not."""
    X = np.array([[np.nan, 1], [np.nan, 1], [5, 1], [6, 2], [5, 3], [6, 1], [np.nan, 3]])
    positive = np.array([True, True, False, False, False, False, False])
    rows = random_rows(0, 7, ["ties", "levels"])._replace(
        X=X, positive=positive, weight=np.ones(7), is_set=np.array([False, True])
    )
    tree = tree_of(rows)
    assert np.isposinf(tree.conditions.threshold).sum() == 1
    assert (tree.conditions.set_number >= 0).sum() == 1
    assert band_widths(tree, X, np.ones(len(X))).tolist() == [0, 0]


def test_a_share_changes_evenly_across_the_band():
    rows = random_rows(0, 2, ["numbers"])._replace(
        X=np.array([[0.0], [10.0]]), positive=np.array([False, True]), weight=np.ones(2)
    )
    tree = tree_of(rows, 1, 1)
    threshold = tree.conditions.threshold[0]
    is_first = (np.arange(3) == tree.nodes.first[0]).astype(float)[:, None]
    X = threshold + np.array([-9.0, -4.0, -2.0, 0.0, 2.0, 4.0, 9.0])[:, None]
    found = blend(tree, X, np.array([4.0]), is_first)[:, 0]
    assert found.tolist() == [0, 0, 0.25, 0.5, 0.75, 1, 1]


@pytest.mark.parametrize("scores", ["precision", "position"])
@pytest.mark.parametrize("ties", ["border", "leaf"])
@given(grown(), st.integers(0, 999))
@settings(max_examples=40)
def test_all_shapes_at_once_are_each_shape_alone(scores, ties, model, seed):
    rows, tree = model
    X = near_rows(rows, seed)
    width = band_widths(tree, rows.X, rows.weight) if ties == "border" else np.empty(0)
    shapes = [Pruning(depth, m) for depth in range(5) for m in (0.0, 1.0, 16.0)]
    found = list(shape_priorities(tree, shapes, scores, width, X))
    assert len(found) == len(shapes)
    for shape, priority in zip(shapes, found, strict=True):
        alone = Ranker.of(tree, shape, scores, width).priority(X)
        np.testing.assert_array_equal(priority, alone)

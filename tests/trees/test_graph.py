import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees.naive import path, random_rows, tables

from rarefind._core.fields import StateError
from rarefind._core.saved import check_object
from rarefind.trees._columns import read_columns
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees.graph import MetaTree, OuterNodes, TreeConditions


def handmade():
    """Two outer levels: both sides of one inner split, and a level, lead to the same node.

    0: x0 <= 1 ? (x1 in {5, 9, missing} ? node 1 : node 2) : (x0 <= inf ? node 1 : node 2)
    1: x1 in {9, new} ? node 3 : node 4
    """
    numbers = [[0, 1, 0, 1], [1.0, np.nan, np.inf, np.nan], [False, True, False, False]]
    feature, threshold, missing_left = (np.array(c) for c in numbers)
    conditions = TreeConditions(
        feature.astype(np.int32),
        threshold,
        missing_left,
        np.array([-1, 0, -1, 1], dtype=np.int32),
        np.array([1, -2, -2, -4], dtype=np.int32),
        np.array([2, -3, -3, -5], dtype=np.int32),
        np.zeros((4, 3)),
    )
    nodes = [[0, 3, -1, -1, -1], [1, 3, -1, -1, -1], [2, 4, -1, -1, -1], [-1, 0, 0, 1, 1]]
    outer = OuterNodes(
        *(np.array(c, dtype=np.int32) for c in [*nodes, [0, 1, 1, 2, 2]]),
        np.arange(15.0).reshape(5, 3),
    )
    sets = np.array([[0, 1, 1, 1, 0], [0, 0, 1, 0, 1]]) == 1
    return MetaTree(conditions, outer, sets, {1: np.array([2.0, 5.0, 9.0])})


@pytest.mark.parametrize(
    ("row", "leaf"),
    [
        ([0.0, 5.0], 4),
        ([1.0, 9.0], 3),
        ([1.0, 2.0], 2),
        ([0.0, np.nan], 4),  # the missing value is in the first set and not in the second
        ([0.0, 7.0], 2),  # a new level has a side of its own
        ([2.0, 7.0], 3),
        ([2.0, -7.0], 3),
        ([2.0, np.inf], 3),
        ([2.0, 9.0], 3),
        ([2.0, 2.0], 4),
        ([np.nan, 9.0], 2),
    ],
)
def test_rows_go_by_numbers_levels_and_missing_values(row, leaf):
    tree = handmade()
    assert tree.apply(np.array([row])).tolist() == [leaf]
    assert path(tree, np.array(row))[1] == leaf


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([1, 1, 0, 0, 0], [0, 1, 2, 3, 4]),
        ([1, 0, 0, 0, 0], [0, 1, 2, 1, 1]),
        ([0, 1, 0, 0, 0], [0, 0, 0, 0, 0]),
    ],
)
def test_the_leaf_of_a_node_when_not_all_are_split(kept, expected):
    assert handmade().leaf_under(np.array(kept) == 1).tolist() == expected


def test_pruning_by_hand():
    tree = handmade()
    small, old, kept = tree.prune(np.array([1, 0, 0, 0, 0]) == 1)
    assert old.tolist() == [0, 1, 2]
    assert kept.tolist() == [0, 1, 2]
    assert small.nodes.root.tolist() == [0, -1, -1]
    assert small.nodes.first.tolist() == [1, -1, -1]
    assert small.nodes.second.tolist() == [2, -1, -1]
    assert small.nodes.parent.tolist() == [-1, 0, 0]
    np.testing.assert_array_equal(small.nodes.sums, tree.nodes.sums[:3])
    assert small.conditions.feature.tolist() == [0, 1, 0]
    assert small.conditions.left.tolist() == [1, -2, -2]
    assert small.conditions.right.tolist() == [2, -3, -3]
    bare, old, kept = tree.prune(np.zeros(5, dtype=bool))
    assert old.tolist() == [0]
    assert kept.size == 0
    assert bare.is_leaf.tolist() == [True]
    assert bare.conditions.feature.size == 0
    assert bare.apply(np.array([[0.0, 5.0], [np.nan, 1.0]])).tolist() == [0, 0]


@st.composite
def grown(draw):
    rows = draw(tables())
    columns = read_columns(rows.X, rows.positive, rows.is_set, "exact", 255)
    inner, outer = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    plan = Plan(inner, outer, "max-ap", "precision", "average_precision", 1, rows.X.shape[1])
    return rows, grow_meta_tree(columns, rows.positive, rows.weight, plan, 0)


def new_rows(rows, seed):
    """Rows with values near those seen, missing values, and levels that are not known."""
    other = random_rows(seed, 20, ["levels"] * rows.X.shape[1]).X
    mixed = np.where(np.random.default_rng(seed).random(other.shape) < 0.5, other / 3, other)
    return np.concatenate([rows.X, mixed, rows.X + 0.01])


@given(grown(), st.integers(0, 99))
def test_rows_are_sent_down_as_a_person_would(model, seed):
    rows, tree = model
    X = new_rows(rows, seed)
    given_rows = X.copy()
    expected = [path(tree, x)[1] for x in X]
    np.testing.assert_array_equal(tree.apply(X), expected)
    np.testing.assert_array_equal(X, given_rows)
    assert tree.is_leaf[expected].all()


@pytest.mark.parametrize("n_missing", [20, 70])
@pytest.mark.parametrize("positive_missing", [True, False])
def test_new_levels_go_with_most_rows_whatever_missing_values_do(n_missing, positive_missing):
    X = np.append(np.full(n_missing, np.nan), np.arange(100 - n_missing) % 3)[:, None]
    X = np.hstack([X, np.arange(100.0)[:, None] % 5])  # a column of more levels, which does nothing
    is_set, weight = np.ones(2, dtype=bool), np.ones(100)
    positive = np.isnan(X[:, 0]) == positive_missing
    columns = read_columns(X, positive, is_set, "exact", 255)
    plan = Plan(1, 1, "max-ap", "precision", "average_precision", 1, 2)
    tree = grow_meta_tree(columns, positive, weight, plan, 0)
    assert tree.conditions.feature.tolist() == [0]
    missing, old, new = tree.apply(np.array([[np.nan, 0.0], [1.0, 0.0], [9.0, 0.0]]))
    assert missing != old
    assert new == (missing if n_missing > 50 else old)


@given(grown(), st.integers(0, 99))
def test_new_levels_go_with_at_least_half_of_the_weight(model, seed):
    rows, tree = model
    c = tree.conditions
    X = np.where(rows.is_set, 1234.5, rows.X[seed % len(rows.X)])
    met, _ = path(tree, X)
    coded = tree.encode(rows.X)
    came = {at: np.array([at in path(tree, x)[0] for x in rows.X]) for at in met}
    for at in met:
        if c.set_number[at] >= 0:
            code = coded[came[at], c.feature[at]]
            inside = tree.sets[c.set_number[at]][np.nan_to_num(code).astype(int)]
            left = np.where(np.isnan(code), c.missing_left[at], inside)
            weight = rows.weight[came[at]]
            side = tree.sets[c.set_number[at], tree.levels[c.feature[at]].size + 1]
            assert weight[left == side].sum() >= weight.sum() / 2 * (1 - 1e-9)


def test_a_tree_without_room_for_new_levels_is_refused():
    tree = handmade()
    tree = tree._replace(nodes=tree.nodes._replace(sums=np.tile([4.0, 4.0, 1.0], (5, 1))))
    check_object(tree)
    with pytest.raises(StateError, match="asks for categories that are not there"):
        check_object(tree._replace(sets=tree.sets[:, :-1]))


@given(grown(), st.integers(0, 99))
def test_the_layout_of_new_rows_does_not_matter(model, seed):
    rows, tree = model
    X = new_rows(rows, seed)
    expected = tree.apply(X)
    fixed = X.copy()
    fixed.flags.writeable = False
    for same in (np.asfortranarray(X), fixed, np.repeat(X, 2, axis=0)[::2], X[::-1][::-1]):
        np.testing.assert_array_equal(tree.apply(same), expected)


def test_rows_of_single_precision():
    rows = random_rows(3, 30, ["numbers", "levels", "ties"])
    single = rows.X.astype(np.float32)
    rows = rows._replace(X=single.astype(np.float64))
    columns = read_columns(rows.X, rows.positive, rows.is_set, "exact", 255)
    plan = Plan(2, 3, "max-ap", "precision", "average_precision", 1, 3)
    tree = grow_meta_tree(columns, rows.positive, rows.weight, plan, 0)
    assert not tree.is_leaf[0]
    np.testing.assert_array_equal(tree.apply(single), tree.apply(rows.X))
    np.testing.assert_array_equal(tree.apply(np.asfortranarray(single)), tree.apply(rows.X))


@given(grown(), st.integers(0, 99))
def test_a_pruned_tree_sends_rows_to_the_leaf_above(model, seed):
    rows, tree = model
    X = new_rows(rows, seed)
    kept = np.random.default_rng(seed).random(tree.is_leaf.size) < 0.7
    small, old, conditions = tree.prune(kept)
    np.testing.assert_array_equal(old[small.apply(X)], tree.leaf_under(kept)[tree.apply(X)])
    np.testing.assert_array_equal(small.nodes.sums, tree.nodes.sums[old])
    np.testing.assert_array_equal(small.nodes.depth, tree.nodes.depth[old])
    inside = ~small.is_leaf
    for name in ("first", "second"):
        new, before = getattr(small.nodes, name), getattr(tree.nodes, name)
        np.testing.assert_array_equal(old[new[inside]], before[old[inside]])
        assert (new[~inside] == -1).all()
    np.testing.assert_array_equal(old[small.nodes.parent[1:]], tree.nodes.parent[old[1:]])
    expected = [at for node in old[inside] for at in conditions_of(tree, node)]
    assert conditions.tolist() == sorted(expected)
    for name in ("feature", "threshold", "missing_left", "set_number", "sums"):
        new, before = getattr(small.conditions, name), getattr(tree.conditions, name)
        np.testing.assert_array_equal(new, before[conditions])


def conditions_of(tree, node):
    """The conditions of an outer node's inner tree."""
    found, stack = [], [tree.nodes.root[node]]
    while stack:
        at = stack.pop()
        if at >= 0:
            found.append(int(at))
            stack += [tree.conditions.left[at], tree.conditions.right[at]]
    return found


@given(grown())
def test_pruning_nothing_changes_nothing(model):
    _, tree = model
    same, old, conditions = tree.prune(np.ones(tree.is_leaf.size, dtype=bool))
    assert old.tolist() == list(range(tree.is_leaf.size))
    assert conditions.tolist() == list(range(tree.conditions.feature.size))
    for one, other in zip((*same[:2], same.sets), (*tree[:2], tree.sets), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from trees.naive import ALL, Rows, meta_leaves, path, random_rows, tables

from rarefind.trees._columns import read_columns
from rarefind.trees._meta import Plan, grow_meta_tree

PLAN = Plan(2, 3, "max-ap", "precision", "average_precision", 1, 99)


def grown(rows, plan=PLAN, splitter="exact", seed=0):
    columns = read_columns(rows.X, rows.positive, rows.is_set, splitter, 4)
    plan = plan._replace(n_features=min(plan.n_features, rows.X.shape[1]))
    return grow_meta_tree(columns, rows.positive, rows.weight, plan, seed)


def check_same(one, other):
    """Same conditions and nodes; sets may have other numbers."""
    for name in one.conditions._fields:
        if name != "set_number":
            np.testing.assert_array_equal(
                getattr(one.conditions, name), getattr(other.conditions, name)
            )
    for a, b in zip(one.conditions.set_number, other.conditions.set_number, strict=True):
        assert (a < 0) == (b < 0)
        if a >= 0:
            np.testing.assert_array_equal(one.sets[a], other.sets[b])
    for a, b in zip(one.nodes, other.nodes, strict=True):
        np.testing.assert_array_equal(a, b)


plans = st.builds(
    Plan,
    st.integers(1, 3),
    st.integers(0, 4),
    st.sampled_from(ALL),
    st.sampled_from(["precision", "ratio"]),
    st.sampled_from(["average_precision", "roc_auc"]),
    st.integers(1, 3),
    st.sampled_from([1, 99]),
    budget=st.one_of(st.none(), st.floats(0.5, 20)),
    shrinkage=st.sampled_from([0.0, 1.0, 7.5]),
)


@pytest.mark.parametrize("splitter", ["exact", "histogram"])
@given(tables(), plans)
def test_sums_are_those_of_the_rows_that_come_by(splitter, rows, plan):
    tree = grown(rows, plan, splitter)
    own = np.column_stack([np.ones(len(rows.X)), rows.weight, rows.weight * rows.positive])
    nodes, conditions = np.zeros_like(tree.nodes.sums), np.zeros_like(tree.conditions.sums)
    leaves = tree.apply(rows.X)
    assert tree.is_leaf[leaves].all()
    for x, sums, leaf in zip(rows.X, own, leaves, strict=True):
        met, by_hand = path(tree, x)
        assert by_hand == leaf
        conditions[met] += sums
        while leaf >= 0:
            nodes[leaf] += sums
            leaf = tree.nodes.parent[leaf]
    np.testing.assert_allclose(tree.nodes.sums, nodes, atol=1e-9)
    np.testing.assert_allclose(tree.conditions.sums, conditions, atol=1e-9)
    assert (nodes[:, 0] >= min(plan.min_rows, len(rows.X))).all()
    inside = ~tree.is_leaf
    children = tree.nodes.sums[tree.nodes.first] + tree.nodes.sums[tree.nodes.second]
    np.testing.assert_allclose(tree.nodes.sums[inside], children[inside], atol=1e-9)


@given(tables(), plans)
def test_the_shape_of_the_outer_tree(rows, plan):
    nodes = grown(rows, plan).nodes
    assert nodes.depth.max() <= plan.outer_depth
    assert nodes.parent[0] == -1
    assert nodes.depth[0] == 0
    for node in range(1, nodes.root.size):
        parent = nodes.parent[node]
        assert parent < node
        assert node in (nodes.first[parent], nodes.second[parent])
        assert nodes.depth[node] == nodes.depth[parent] + 1
    np.testing.assert_array_equal(nodes.root < 0, nodes.first < 0)
    np.testing.assert_array_equal(nodes.root < 0, nodes.second < 0)


@given(tables(), plans)
def test_every_condition_decides_something(rows, plan):
    """A condition below which all leads to one outer node would be of no use."""
    tree = grown(rows, plan)

    def ends(at):
        if at < 0:
            return {int(at)}
        return ends(tree.conditions.left[at]) | ends(tree.conditions.right[at])

    for at in range(tree.conditions.feature.size):
        assert len(ends(at)) == 2


@given(tables(), plans)
def test_the_first_child_is_the_more_precise(rows, plan):
    nodes = grown(rows, plan._replace(order="precision", shrinkage=0.0)).nodes
    precision = nodes.sums[:, 2] / nodes.sums[:, 1]
    inside = nodes.root >= 0
    assert (precision[nodes.first] >= precision[nodes.second] - 1e-12)[inside].all()


@pytest.mark.parametrize("splitter", ["exact", "histogram"])
@given(tables(), plans)
@settings(max_examples=50)
def test_a_shallower_tree_is_the_deeper_one_pruned(splitter, rows, plan):
    plan = plan._replace(n_features=99)
    deep = grown(rows, plan._replace(outer_depth=4), splitter)
    shallow = grown(rows, plan, splitter)
    pruned = deep.prune(deep.nodes.depth < plan.outer_depth).tree
    check_same(pruned, shallow)
    np.testing.assert_array_equal(pruned.apply(rows.X), shallow.apply(rows.X))


@given(tables(), plans, st.integers(0, 99))
def test_the_same_seed_gives_the_same_tree(rows, plan, seed):
    check_same(grown(rows, plan, seed=seed), grown(rows, plan, seed=seed))


def test_seeds_draw_other_columns():
    rows = random_rows(0, 30, ["numbers"] * 4)
    drawing = PLAN._replace(n_features=1)
    used = {tuple(grown(rows, drawing, seed=s).conditions.feature) for s in range(10)}
    assert len(used) > 1
    assert len({tuple(grown(rows, seed=s).conditions.feature) for s in range(10)}) == 1


@pytest.mark.parametrize("splitter", ["exact", "histogram"])
@pytest.mark.parametrize("is_set", [False, True])
@pytest.mark.parametrize("value", [3.0, np.nan])
def test_where_all_rows_are_alike_there_is_one_leaf(splitter, is_set, value):
    rows = Rows(np.full((6, 2), value), np.arange(6) < 2, np.ones(6), np.full(2, is_set))
    tree = grown(rows, splitter=splitter)
    assert tree.nodes.root.tolist() == [-1]
    assert tree.nodes.sums.tolist() == [[6, 6, 2]]
    assert tree.apply(rows.X).tolist() == [0] * 6


@pytest.mark.parametrize("positive", [True, False])
def test_of_one_class_there_is_one_leaf(positive):
    rows = Rows(np.arange(6.0)[:, None], np.full(6, positive), np.ones(6), np.array([False]))
    tree = grown(rows)
    assert tree.is_leaf.tolist() == [True]
    assert tree.apply(rows.X).tolist() == [0] * 6


def ranked_leaves(tree, X):
    """The rows of each leaf, from the first to the last."""
    at, found, stack = tree.apply(X), [], [0]
    while stack:
        node = stack.pop()
        if tree.is_leaf[node]:
            found.append(np.flatnonzero(at == node).tolist())
        else:
            stack += [tree.nodes.second[node], tree.nodes.first[node]]
    return found


def ap_of(leaves, rows):
    score = np.empty(rows.positive.size)
    for place, leaf in enumerate(leaves):
        score[leaf] = -place
    return average_precision_score(rows.positive, score, sample_weight=rows.weight)


@pytest.mark.parametrize("criterion", ALL)
@given(
    st.integers(0, 10**6),
    st.integers(2, 14),
    st.lists(st.sampled_from(["numbers", "levels"]), min_size=1, max_size=3),
    plans,
)
@settings(max_examples=30)
def test_rows_part_and_stand_as_those_of_the_slow_twin(criterion, seed, n, kinds, plan):
    """Weights are random, so no two ways to part the rows are worth the same."""
    rows = random_rows(seed, n, kinds, "floats")
    plan = plan._replace(criterion=criterion, n_features=99, outer_depth=min(plan.outer_depth, 2))
    assert ranked_leaves(grown(rows, plan), rows.X) == meta_leaves(rows, plan)


@given(st.integers(0, 10**6), st.integers(20, 60))
@settings(max_examples=20)
def test_every_outer_split_adds_average_precision(seed, n):
    rows = random_rows(seed, n, ["numbers", "ties", "levels"], "ones")
    reached = [
        ap_of(ranked_leaves(grown(rows, PLAN._replace(outer_depth=depth)), rows.X), rows)
        for depth in range(4)
    ]
    assert (np.diff(reached) > -1e-12).all()
    assert reached[0] == pytest.approx(rows.positive.mean())


@pytest.mark.parametrize("seed", [0, 15, 17, 20])
def test_the_budget_is_what_the_rows_ahead_leave(seed):
    """With these seeds the second child is cut elsewhere if the first one's weight is forgotten."""
    rows = random_rows(seed, 24, ["numbers", "numbers"])
    plan = Plan(2, 2, "max-ap", "precision", "average_precision", 2, 2)
    plan = plan._replace(budget=rows.weight.sum() / 2)
    assert ranked_leaves(grown(rows, plan), rows.X) == meta_leaves(rows, plan)

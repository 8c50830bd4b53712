"""Branches of ensembles: a row is in the condition of a leaf where the ensemble puts it there."""

import json

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from rarefind._core.fields import StateError
from rarefind._core.saved import check_object
from rarefind.boosting import LambdaMARTClassifier, ProjectionBoostingClassifier, SGBAPClassifier
from rarefind.conditions import condition_matrix
from rarefind.conditions._ensembles import break_up
from rarefind.conditions._matrix import BranchArrays, with_combinations
from rarefind.rules.branches import Test as Asked
from rarefind.trees import (
    MetaAPClassifier,
    MetaAPForestClassifier,
    RandomizedForestClassifier,
    TreeRankClassifier,
)


def rows(seed, n=200, missing=True, levels=False):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 4, n),
            np.exp(3 * rng.normal(size=n)),
            rng.integers(0, 6, n),
        ]
    )
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    filled = np.nan_to_num(X)
    score = filled[:, 0] + (filled[:, 3] == 2) - (filled[:, 1] > 2) + 0.3 * rng.normal(size=n)
    return X, score > np.quantile(score, 0.8)


def other_rows(X, seed):
    """Rows near the thresholds of a fit to X: its values, some a hair off, and missing values."""
    rng = np.random.default_rng(seed)
    drawn = np.column_stack([rng.permutation(column) for column in X.T])
    up = np.nextafter(drawn, np.where(rng.random(X.shape) < 0.5, np.inf, -np.inf))
    return np.where(rng.random(X.shape) < 0.5, drawn, up)


def same_partition(matrix, leaves):
    """Every row is in one condition of each tree, and rows share it where they share the leaf."""
    dense = matrix.toarray().astype(bool)
    columns = [dense[:, c].tobytes() for c in range(dense.shape[1])]
    for tree in range(leaves.shape[1]):
        for leaf in np.unique(leaves[:, tree]):
            assert (leaves[:, tree] == leaf).tobytes() in columns
    split = sum(np.unique(leaves[:, t]).size > 1 for t in range(leaves.shape[1]))
    assert dense.sum(axis=1).min() >= split


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("levels", [False, True])
def test_conditions_of_xgboost_are_its_leaves(seed, levels):
    X, y = rows(seed)
    kinds = ["q", "c", "q", "c"] if levels else None
    data = xgboost.DMatrix(X, y, feature_types=kinds, enable_categorical=levels)
    booster = xgboost.train(
        {"max_depth": 4, "objective": "binary:logistic", "max_cat_to_onehot": 2}, data, 5
    )
    new = other_rows(X, seed) if not levels else rows(seed + 10)[0]
    if levels:
        new[:5, 3] = 9  # a level that was not seen
    asked = xgboost.DMatrix(new, feature_types=kinds, enable_categorical=levels)
    same_partition(condition_matrix(booster, new), booster.predict(asked, pred_leaf=True))


def test_conditions_of_xgboost_stop_where_its_predictions_stop():
    X, y = rows(3, n=400)
    model = xgboost.XGBClassifier(n_estimators=80, early_stopping_rounds=2, max_depth=3)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert model.best_iteration + 1 < 80
    found = condition_matrix(model, X)
    assert (found.sum(axis=1) == model.best_iteration + 1).all()


@pytest.mark.parametrize("levels", [False, True])
def test_conditions_of_lightgbm_are_its_leaves(levels):
    X, y = rows(0)
    model = lightgbm.LGBMClassifier(n_estimators=5, num_leaves=6, min_child_samples=3, verbose=-1)
    model.set_params(min_data_per_group=1, cat_smooth=1.0)
    model.fit(X, y, categorical_feature=[1, 3] if levels else "auto")
    new = rows(10)[0] if levels else other_rows(X, 0)
    leaves = np.asarray(model.predict(new, pred_leaf=True)).reshape(len(new), -1)
    same_partition(condition_matrix(model, new), leaves)


def test_conditions_of_lightgbm_without_missing_values_take_a_missing_value_for_0():
    X, y = rows(0, missing=False)
    model = lightgbm.LGBMClassifier(n_estimators=3, num_leaves=5, min_child_samples=3, verbose=-1)
    model.fit(X, y)
    new = rows(11)[0]
    leaves = np.asarray(model.predict(new, pred_leaf=True)).reshape(len(new), -1)
    same_partition(condition_matrix(model, new), leaves)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(4, max_depth=4, random_state=0),
        ExtraTreesClassifier(4, max_depth=4, random_state=0),
    ],
)
def test_conditions_of_scikit_learn_are_its_leaves(model):
    X, y = rows(0)
    model.fit(X, y)
    new = other_rows(X, 1)
    same_partition(condition_matrix(model, new), np.reshape(model.apply(new), (len(new), -1)))


def test_conditions_of_gradient_boosting_are_its_leaves():
    X, y = rows(0, missing=False)
    model = GradientBoostingClassifier(n_estimators=4, max_depth=3, random_state=0).fit(X, y)
    new = other_rows(X, 1)
    same_partition(condition_matrix(model, new), model.apply(new)[:, :, 0])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "model",
    [
        SGBAPClassifier(n_estimators=4, threshold=None, early_stopping_rounds=None),
        SGBAPClassifier(n_estimators=4, bins="quantile", threshold=None, cv=2),
        SGBAPClassifier(
            n_estimators=4, threshold=None, early_stopping_rounds=None, categorical_features=[1, 3]
        ),
        LambdaMARTClassifier(n_estimators=3, threshold=None, early_stopping_rounds=None),
    ],
)
def test_conditions_of_boosters_are_their_leaves(model, seed):
    X, y = rows(seed)
    model.set_params(random_state=seed).fit(X, y)
    new = other_rows(X, seed)
    if model.categorical_features is not None:
        new = rows(seed + 5)[0]
        new[:9, 3] = 77
    leaves = model._by_trees(new, pred_leaf=True)
    same_partition(condition_matrix(model, new), np.asarray(leaves).reshape(len(new), -1))


def test_conditions_of_projections_are_their_leaves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) - np.nan_to_num(X[:, 1]) > 1.2
    model = ProjectionBoostingClassifier(
        n_estimators=5, max_rounds=5, threshold=None, early_stopping_rounds=None, random_state=0
    ).fit(X, y)
    assert len(model.directions_)
    new = rng.normal(size=(200, 4))
    new[rng.random(new.shape) < 0.1] = np.nan
    leaves = np.asarray(model._by_trees(new, pred_leaf=True)).reshape(len(new), -1)
    same_partition(condition_matrix(model, new), leaves)
    broken = break_up(model)
    extended = with_combinations(new, broken.combinations)[:, 4:]
    own = model._projection.extend(new)[:, model._projection.columns.size :]
    assert np.array_equal(extended, own, equal_nan=True)


@pytest.mark.parametrize(
    "model",
    [
        MetaAPClassifier(2, 2, random_state=0),
        MetaAPClassifier(2, 2, random_state=0, categorical_features=[1, 3]),
        MetaAPForestClassifier(3, random_state=0),
        TreeRankClassifier(2, 2, random_state=0),
    ],
)
def test_conditions_of_trees_of_trees_lead_to_their_leaves(model):
    X, y = rows(0)
    model.fit(X, y)
    new = rows(4)[0]
    new[:9, 3] = 77
    dense = condition_matrix(model, new).toarray()
    if isinstance(model, MetaAPForestClassifier):
        trees = [ranker.tree for ranker in model.trees_]
    else:
        trees = [model.tree_, model._grown]
    first = 0
    for tree in trees:
        own = break_up_tree(tree)
        part = dense[:, first : first + own]
        first += own
        assert (part.sum(axis=1) == 1).all()  # one path, and it ends in the row's leaf
        leaf = tree.apply(new)
        for path in range(own):
            assert np.unique(leaf[part[:, path] > 0]).size <= 1
    assert first == dense.shape[1]


@pytest.mark.parametrize("levels", [[], [1, 3]])
def test_conditions_of_a_randomized_forest_lead_to_its_leaves(levels):
    X, y = rows(0)
    model = RandomizedForestClassifier(3, random_state=0, categorical_features=levels).fit(X, y)
    new = rows(4)[0]
    new[:9, 3] = 77
    dense = condition_matrix(model, new).toarray()
    assert (dense.sum(axis=1) == 3).all()
    n_leaves = (model.trees_.left < 0).sum()
    assert dense.shape[1] <= n_leaves
    # Rows that meet the same conditions are in the same leaves.
    for score, met in zip(model.priority(new), dense, strict=True):
        same = (dense == met).all(axis=1)
        assert np.unique(model.priority(new)[same]).tolist() == [score]


def break_up_tree(tree):
    from rarefind.trees._branches import meta_tree_branches

    return len(meta_tree_branches(tree))


def test_trees_on_some_of_the_columns_are_read_as_such():
    X, y = rows(0, missing=False)
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 4, max_features=0.5, random_state=0
    ).fit(X, y)
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    leaves = np.column_stack([tree.apply(X[:, columns]) for tree, columns in pairs])
    same_partition(condition_matrix(model, X), leaves)


def test_other_columns_are_refused():
    X, y = rows(0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = xgboost.XGBClassifier(n_estimators=2).fit(frame, y)
    with pytest.raises(ValueError, match="fitted to 4 columns, and X has 1"):
        condition_matrix(model, X[:, :1])
    with pytest.raises(ValueError, match="fitted to 4 columns, and X has 1"):
        condition_matrix(model.get_booster(), X[:, :1])
    with pytest.raises(ValueError, match="in the same order"):
        condition_matrix(model, frame[list("dcba")])
    with pytest.raises(ValueError, match="missing=0"):
        condition_matrix(xgboost.XGBClassifier(n_estimators=2, missing=0).fit(X, y), X)
    booster = lightgbm.train(
        {"verbose": -1, "min_data_in_leaf": 2}, lightgbm.Dataset(X, y.astype(int)), 2
    )
    with pytest.raises(ValueError, match="fitted to 4 columns, and X has 1"):
        condition_matrix(booster, X[:, :1])


def test_what_has_no_trees_is_refused():
    X, y = rows(0)
    with pytest.raises(ValueError, match="HistGradientBoostingClassifier cannot be broken"):
        condition_matrix(HistGradientBoostingClassifier(max_iter=2).fit(X, y), X)
    linear = xgboost.train({"booster": "gblinear"}, xgboost.DMatrix(np.nan_to_num(X), y), 2)
    with pytest.raises(ValueError, match="linear booster"):
        condition_matrix(linear, X)


numbers = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf])
level_sets = st.frozensets(st.sampled_from([0.0, 1.0, 2.0]))
number_tests = st.builds(Asked, numbers, numbers, missing=st.booleans())
level_tests = st.builds(Asked, levels=level_sets, negated=st.booleans(), missing=st.booleans())
VALUES = [-2.0, -1.0, -0.5, 0.0, 0.2, 0.5, 1.0, 2.0, 3.0, np.nan]


@given(st.one_of(st.tuples(number_tests, number_tests), st.tuples(level_tests, level_tests)))
def test_two_tests_together_hold_where_both_hold(pair):
    first, second = pair
    both = first & second
    held = [first.holds(v) and second.holds(v) for v in VALUES]
    assert [both.holds(v) for v in VALUES] == held
    if not both.possible:
        assert not any(held)
    if both.says_nothing:
        assert all(held)


branches = st.lists(
    st.dictionaries(st.integers(0, 2), st.one_of(number_tests, level_tests), min_size=1),
    max_size=4,
)


@settings(deadline=None)
@given(
    branches,
    st.lists(st.tuples(*[st.sampled_from(VALUES)] * 3), min_size=1, max_size=6),
    st.integers(1, 40),
)
def test_the_matrix_is_what_the_tests_say(found, points, times):
    tests = BranchArrays.of(found)
    points = points * times  # more rows than the kernel works on at a time
    held = tests.matrix(np.array(points)).toarray().astype(bool)
    for i, point in enumerate(points):
        for c, branch in enumerate(found):
            assert held[i, c] == all(test.holds(point[j]) for j, test in branch.items())
    assert tests.branches() == found
    check_object(tests)


def test_arrays_that_do_not_fit_together_are_refused():
    tests = BranchArrays.of([{0: Asked(high=1.0)}, {1: Asked(levels=frozenset({1.0, 2.0}))}])
    for broken in (
        tests._replace(column=np.array([0, -7], dtype=np.int32)),
        tests._replace(start=np.array([0, 1, 5], dtype=np.int32)),
        tests._replace(set_start=np.array([0, 0, 9], dtype=np.int32)),
        tests._replace(low=np.zeros(1)),
        tests._replace(asks=np.array([0, 2], dtype=np.int32)),
        tests._replace(start=np.array([0, 2, 1], dtype=np.int32)),
    ):
        with pytest.raises(StateError, match="a branches: "):
            check_object(broken)


def test_json_of_a_booster_has_what_is_read():
    """XGBoost's own format: a change there should be seen here first."""
    X, y = rows(0)
    booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(X, y), 1)
    tree = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]
    needed = {"split_indices", "split_conditions", "default_left", "categories_nodes"}
    assert needed <= tree["trees"][0].keys()

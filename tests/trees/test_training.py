import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.naive import random_rows

from rarefind._core.checks import level_columns, training_weights
from rarefind.trees import MetaAPClassifier
from rarefind.trees._training import TrainingRows

# One tree, grown on all rows as they are: nothing is chosen and nothing held out.
PLAIN = {"prune": False, "smoothing": 2.0, "threshold": None, "random_state": 0}


def labelled(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=n) > 1.6


def test_weights_of_classes_multiply_those_of_rows():
    X = np.zeros((4, 1))
    y = np.array(["a", "b", "b", "b"])
    own = [1.0, 2.0, 0.0, 0.5]
    assert training_weights(X, y, None, None).tolist() == [1, 1, 1, 1]
    assert training_weights(X, y, own, None).tolist() == own
    assert training_weights(X, y, own, {"a": 3, "b": 2}).tolist() == [3, 4, 0, 1]
    assert training_weights(X, y, own, "balanced") == pytest.approx([2, 4 / 3, 0, 1 / 3])


@pytest.mark.parametrize("balanced", [True, False])
def test_class_weights_are_by_label(balanced):
    X, positive = labelled()
    y = np.where(positive, "fraud", "fine")
    weights = {"fraud": 7.0, "fine": 0.5}
    if balanced:
        weights = {"fraud": y.size / (2 * positive.sum()), "fine": y.size / (2 * (~positive).sum())}
    by_class = MetaAPClassifier(**PLAIN, class_weight="balanced" if balanced else weights)
    by_class.fit(X, y)
    by_row = MetaAPClassifier(**PLAIN).fit(X, y, sample_weight=[weights[label] for label in y])
    np.testing.assert_allclose(by_class.priority(X), by_row.priority(X), rtol=1e-12)
    plain = MetaAPClassifier(**PLAIN).fit(X, y)
    assert np.abs(by_class.priority(X) - plain.priority(X)).max() > 0.01


@pytest.mark.parametrize(
    ("given_as", "expected"),
    [
        (None, []),
        ([], []),
        ([1], [1]),
        ([-1, 0], [0, 2]),
        (np.array([2, 2]), [2]),
        (["kind", "size"], [0, 2]),
        ([False, True, True], [1, 2]),
        (pd.Series([True, False, False]), [0]),
    ],
)
def test_columns_of_levels_by_number_name_or_mask(given_as, expected):
    found = level_columns(given_as, ["size", "age", "kind"])
    assert np.flatnonzero(found).tolist() == expected


@pytest.mark.parametrize(
    ("given_as", "sentence"),
    [
        ([3], "categorical_features holds 3; there are 3 columns."),
        ([-4], "categorical_features holds -4; there are 3 columns."),
        ([1.0], "categorical_features holds 1.0; there are 3 columns."),
        (["colour"], "categorical_features names 'colour', which is not a column."),
        ([True, False], "categorical_features holds 2 truth values for 3 columns."),
    ],
)
def test_columns_that_are_not_there(given_as, sentence):
    X, y = labelled()
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        MetaAPClassifier(categorical_features=given_as).fit(X, y)


@pytest.mark.parametrize("given_as", [[1], [-1], ["kind"], [False, True]])
def test_levels_that_are_no_range_need_a_set(given_as):
    """Levels 1, 3 and 5 are positive: one split by a set, more than one by a number."""
    kind = np.tile(np.arange(6.0), 20)
    X = pd.DataFrame({"noise": np.repeat(np.arange(20.0), 6), "kind": kind})
    y = kind % 2 == 1
    ordered = MetaAPClassifier(1, 1, **PLAIN).fit(X, y)
    by_set = MetaAPClassifier(1, 1, **PLAIN, categorical_features=given_as).fit(X, y)
    assert by_set.priority(X)[y].min() > by_set.priority(X)[~y].max()
    assert ordered.priority(X)[y].min() <= ordered.priority(X)[~y].max()


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_rows_of_no_weight_are_like_rows_left_out(ties):
    X, y = labelled()
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2, y.size) * (rng.random(y.size) < 0.7)
    used = weight > 0
    X[~used] *= 100
    groups = rng.integers(0, 40, y.size)
    model = MetaAPClassifier(2, 3, ties=ties, random_state=0)
    with_all = model.fit(X, y, sample_weight=weight, groups=groups).__dict__.copy()
    priority = model.priority(X)
    model.fit(X[used], y[used], sample_weight=weight[used], groups=groups[used])
    np.testing.assert_array_equal(model.priority(X), priority)
    for name in ("held_out_value_", "threshold_", "value_", "outer_depth_", "smoothing_"):
        assert getattr(model, name) == with_all[name]


@pytest.mark.parametrize("ties", ["leaf", "border"])
@pytest.mark.parametrize("scale", [1e-3, 0.3, 250.0])
def test_the_unit_of_the_weights_does_not_matter(ties, scale):
    X, y = labelled()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size)
    model = MetaAPClassifier(2, 3, ties=ties, random_state=0)
    model.fit(X, y, sample_weight=weight)
    before = model.priority(X), model.held_out_value_, model.threshold_, model.value_
    model.fit(X, y, sample_weight=weight * scale)
    np.testing.assert_allclose(model.priority(X), before[0], rtol=1e-9)
    assert (model.held_out_value_, model.threshold_, model.value_) == pytest.approx(before[1:])


def test_all_weight_in_one_class_is_refused():
    X, y = labelled()
    for fit in (
        lambda: MetaAPClassifier().fit(X, y, sample_weight=y.astype(float)),
        lambda: MetaAPClassifier(class_weight={True: 0, False: 1}).fit(X, y),
    ):
        with pytest.raises(ValueError, match="All rows with a weight above 0 are of one class"):
            fit()


def training_rows(rows, splitter="histogram"):
    return TrainingRows(rows.X, rows.positive, rows.weight, rows.is_set, splitter, 8)


def check_same_columns(one, other):
    for name in ("codes", "order", "n_codes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("least", "greatest"):
        for a, b in zip(getattr(one, name), getattr(other, name), strict=True):
            np.testing.assert_array_equal(a, b)


def labelled_by_value(rows, others):
    """The same rows, but for the values and labels of the others."""
    X, positive = rows.X.copy(), rows.positive.copy()
    positive[others] = X[others, 0] > 1
    X[others, 1:] += 17
    return rows._replace(X=X, positive=positive)


@given(st.integers(0, 999))
@settings(max_examples=10)
def test_bins_of_a_part_know_nothing_of_the_other_rows(seed):
    rows = random_rows(seed, 900, ["numbers", "ties", "levels"], missing=0.1)
    part = np.random.default_rng(seed).permutation(900)[:600]
    changed = labelled_by_value(rows, np.setdiff1d(np.arange(900), part))
    found = [training_rows(r).part(training_rows(r).columns(), part) for r in (rows, changed)]
    check_same_columns(*found)
    # And they are those of the rows alone, in their order.
    check_same_columns(found[0], training_rows(rows.of(np.sort(part))).columns())
    # Bins of all rows see the labels of all, so a part of these would not do.
    whole = [training_rows(r).columns() for r in (rows, changed)]
    assert not np.array_equal(whole[0].greatest[0], whole[1].greatest[0])


@given(st.integers(0, 999))
@settings(max_examples=30)
def test_an_exact_part_holds_its_rows_in_order(seed):
    rows = random_rows(seed, 40, ["numbers", "ties", "levels"])
    part = np.random.default_rng(seed).permutation(40)[:25]
    exact = training_rows(rows, "exact")
    found = exact.part(exact.columns(), part)
    kept = np.sort(part)
    np.testing.assert_array_equal(found.codes, exact.columns().codes[:, kept])
    for codes, order in zip(found.codes, found.order, strict=True):
        assert sorted(order.tolist()) == list(range(25))
        assert (np.diff(codes[order]) >= 0).all()

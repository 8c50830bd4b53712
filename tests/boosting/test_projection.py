import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from unchecked import save_unchecked

import rarefind
from rarefind.boosting import ProjectionBoostingClassifier
from rarefind.boosting._base import BoostingRows
from rarefind.boosting._directions import (
    Contest,
    ProjectedColumns,
    Projection,
    best_columns,
    drawn,
    has_three_values,
    project,
    weighted_pca,
)
from rarefind.boosting._projection_tree import (
    MISSING,
    TreeParams,
    code_levels,
    code_numbers,
    grow_tree,
)
from rarefind.distances import RCA
from rarefind.metrics import average_precision

DIRECTIONS = ["weighted-pca", "pca", "rca", "none"]
every_kind = pytest.mark.parametrize("directions", DIRECTIONS)


def quick(rounds=10, **params):
    """Few rounds, without folds, and one kind of directions."""
    given = {"early_stopping_rounds": None, "threshold": None, "random_state": 0, "max_rounds": 10}
    given |= {"min_loading": 0.05}
    return ProjectionBoostingClassifier(n_estimators=rounds, **given | params)


def oblique(n, seed=0):
    """Two columns that go together, in other units, and positives by their difference."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    a, b = shared + 0.3 * rng.normal(size=n), shared + 0.3 * rng.normal(size=n)
    X = np.column_stack([100 * a + 7, b, rng.normal(size=(n, 2))])
    return X, (a - b) / 0.42 + 0.2 * rng.normal(size=n) > 1.6


def mixed(n=400, seed=0):
    """Numbers of which one has missing values, a column of two values, and levels."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.random(n) < 0.5, rng.integers(0, 6, n)])
    y = (X[:, 0] - X[:, 1] + (X[:, 4] > 3) + 0.3 * rng.normal(size=n)) > 1.8
    X[rng.random(n) < 0.1, 2] = np.nan
    return X, y


def rows_of(X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return BoostingRows(np.asarray(X, dtype=float), y.astype(int), y, weight)


# ---------------------------------------------------------------------- the tree of a round


def naive_tree(codes, first, second, shape):
    """The columns used and the values of rows, by trying all splits of each node."""
    value, used = np.zeros(first.size), set()

    def worth(g, h):
        return g * g / (h + shape.reg_lambda)

    def grow(here, depth):
        g, h = first[here].sum(), second[here].sum()
        best = (max(shape.gamma, 1e-6), None, None)
        for c in range(len(codes)) if depth else ():
            lost = here & (codes[c] == MISSING)
            for cut in np.unique(codes[c][here & ~lost]):
                for side in (False, True) if lost.any() else (False,):
                    left = here & ~lost & (codes[c] <= cut) | (lost & side)
                    a, b = first[left].sum(), second[left].sum()
                    if min(b, h - b) < shape.min_child_weight or min(b, h - b) <= 0:
                        continue
                    gain = worth(a, b) + worth(g - a, h - b) - worth(g, h)
                    if gain > best[0]:
                        best = (gain, c, left)
        if best[1] is None:
            value[here] = -shape.learning_rate * g / (h + shape.reg_lambda)
            return
        used.add(best[1])
        grow(best[2], depth - 1)
        grow(here & ~best[2], depth - 1)

    grow(np.ones(first.size, dtype=bool), shape.max_depth)
    return sorted(used), value


@given(
    st.integers(2, 25),
    st.integers(1, 4),
    st.integers(0, 4),
    st.sampled_from([0.0, 1.0, 4.0]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([0.0, 2.0]),
    st.integers(1, 3),
    st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_a_tree_takes_the_best_splits(n, columns, depth, least, lam, gamma, parts, seed):
    """Whole numbers for derivatives: sums are exact, and ties are ties."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, size=(columns, n)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.2] = MISSING
    codes[rng.integers(columns)] = codes[rng.integers(columns)]
    first = rng.integers(-4, 5, n).astype(float)
    second = rng.integers(1, 4, n).astype(float)
    shape = TreeParams(depth + 1, 0.3, lam, least, gamma)
    found = grow_tree(codes, first, second, shape, parts)
    used, value = naive_tree(codes, first, second, shape)
    assert found.used.tolist() == used
    np.testing.assert_allclose(found.value, value, rtol=1e-12, atol=1e-12)


def test_deep_trees_end_where_nodes_are_pure():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 60, size=(3, 500)).astype(np.uint8)
    found = grow_tree(codes, rng.normal(size=500), np.ones(500), TreeParams(30, 1.0, 0.0, 0.0, 0.0))
    assert 30 < np.unique(found.value).size <= 2**8


@given(st.integers(1, 300), st.integers(1, 400), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=50)
def test_codes_keep_the_order_of_values(n, distinct, has_missing, seed):
    rng = np.random.default_rng(seed)
    column = rng.integers(0, distinct, n) * 0.1
    column[(rng.random(n) < 0.2) & has_missing] = np.nan
    positive = rng.random(n) < 0.3
    codes = np.empty((1, n), dtype=np.uint8)
    code_numbers(column[None], positive, codes)
    known = ~np.isnan(column)
    assert (codes[0][~known] == MISSING).all()
    assert (codes[0][known] < MISSING).all()
    order = np.argsort(column[known], kind="stable")
    rises = np.diff(codes[0][known].astype(int)[order])
    assert (rises >= 0).all()
    assert (rises[np.diff(column[known][order]) == 0] == 0).all()
    if distinct <= 32:
        assert (rises[np.diff(column[known][order]) > 0] > 0).all()


def test_cuts_see_the_few_positives():
    values = np.arange(20_000.0)
    positive = np.zeros(20_000, dtype=bool)
    positive[[7, 19_990]] = True
    codes = np.empty((1, 20_000), dtype=np.uint8)
    code_numbers(values[None], positive, codes)
    assert codes[0, 6] < codes[0, 7]
    assert codes[0, 19_989] < codes[0, 19_990]


@pytest.mark.parametrize("levels", [1, 5, 64, 200])
def test_levels_are_in_the_order_of_their_positive_rates(levels):
    rng = np.random.default_rng(0)
    column = rng.permutation(np.arange(3000) % levels).astype(float)
    rate = rng.permutation(levels) / levels
    positive = rng.random(3000) < rate[column.astype(int)]
    weight = rng.uniform(0.5, 2, 3000)
    column[::50] = np.nan
    codes = np.empty(3000, dtype=np.uint8)
    code_levels(column, positive, weight, codes)
    assert (codes[::50] == MISSING).all()
    known = ~np.isnan(column)
    assert codes[known].max() == min(levels, MISSING) - 1
    share = {
        v: np.average(positive[column == v], weights=weight[column == v]) for v in range(levels)
    }
    rates = np.array([share[v] for v in column[known]])
    order = np.argsort(codes[known], kind="stable")
    low, high = codes[known][order][:-1], codes[known][order][1:]
    if levels <= MISSING:
        assert (np.diff(rates[order])[high > low] >= 0).all()
    codes[:] = 0
    code_levels(np.full(3000, np.nan), positive, weight, codes)
    assert (codes == MISSING).all()


# ---------------------------------------------------------------------- directions


@given(st.integers(3, 30), st.integers(1, 5), st.integers(0, 10**6))
def test_weighted_pca_is_pca_of_repeated_rows(n, d, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    weight = rng.integers(0, 4, n)
    weight[:2] = 1
    rows = np.repeat(Z, weight, axis=0)
    covariance = np.atleast_2d(np.cov(rows, rowvar=False, bias=True))
    values = np.linalg.eigvalsh(covariance)
    there = values > 1e-8 * values[-1]
    found = weighted_pca(Z, weight.astype(float))
    assert found.shape == (there.sum(), d)
    for axis, value in zip(found, values[there][::-1], strict=True):
        assert np.linalg.norm(axis) == pytest.approx(1)
        np.testing.assert_allclose(covariance @ axis, value * axis, atol=1e-8 * values[-1])


def test_components_without_variance_are_left_out():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(50, 2))
    copies = np.column_stack([a, a[:, 0], a.sum(axis=1)])
    assert weighted_pca(copies, np.ones(50)).shape == (2, 4)
    assert weighted_pca(rng.normal(size=(3, 6)), np.ones(3)).shape == (2, 6)
    assert weighted_pca(np.ones((4, 2)), np.ones(4)).shape == (0, 2)
    assert weighted_pca(a, np.zeros(50)).shape == (0, 2)
    assert weighted_pca(np.empty((5, 0)), np.ones(5)).shape == (0, 0)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6))
def test_a_direction_is_what_plain_python_gives(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d)
    X[rng.random(X.shape) < 0.2] = np.nan
    loadings = rng.normal(size=(4, d)) * (rng.random((4, d)) < 0.7)
    loadings[:, 0] = 0.1
    fill = np.where(rng.random(d) < 0.5, rng.normal(size=d), np.nan)
    out = np.empty((4, n))
    project(X, loadings, fill, out)
    for r in range(4):
        for i in range(n):
            total = None
            for j in range(d):
                if loadings[r, j] != 0:
                    value = float(fill[j]) if np.isnan(X[i, j]) else float(X[i, j])
                    term = float(loadings[r, j]) * value
                    total = term if total is None else total + term
            np.testing.assert_array_equal(out[r, i], total)


def test_directions_are_short_formulas_in_the_units_of_the_columns():
    columns = ProjectedColumns(
        np.arange(3), np.zeros(3), np.array([1.0, 200.0, 1e-3]), np.full(3, np.nan)
    )
    axes = np.array([[-0.8, 0.6, 0.01], [0.0, 0.0, -1.0], [1.0, -1.0, 1.0], [1.0, 1e-5, 0.0]])
    found = columns.readable(axes, 0.05)
    # The second and the last are one column alone.
    np.testing.assert_array_equal(found, [[0.8, -0.003, 0.0], [0.5774, -0.002887, 577.4]])
    assert columns.readable(axes[:1], 0.7).shape == (0, 3)
    every = columns.readable(axes, 0.0)
    assert every.shape == (3, 3)
    assert every[0, 2] == -10.0


def test_an_oblique_boundary_is_found_and_helps():
    X, y = oblique(2000)
    held, truth = oblique(4000, seed=1)
    model = quick(40).fit(X, y)
    difference = np.array([1, -1, 0, 0]) / np.sqrt(2)
    assert np.abs(model._projection.standardise() @ difference).max() > 0.99
    found = average_precision(truth, model.priority(held))
    plain = quick(40, directions="none").fit(X, y)
    assert found > average_precision(truth, plain.priority(held)) + 0.05
    assert model.n_leaves_ < plain.n_leaves_
    described = model.describe_directions()
    best = described.loc[described["gain"].idxmax()]
    assert best["words"] in ("x0 high for x1", "x1 high for x0")
    assert best["gain"] > 0.8
    np.testing.assert_array_less(0.4, model.feature_importances_[:2])


def test_pca_and_rca_give_all_axes_of_the_standardised_columns():
    X, y = oblique(500)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    pca = quick(directions="pca", eliminate=False, min_loading=0.0).fit(X, y)
    rca = quick(directions="rca", eliminate=False, min_loading=0.0).fit(X, y)
    for model, axes in (
        (pca, np.linalg.eigh(np.cov(Z, rowvar=False))[1].T[::-1]),
        # The last direction of RCA is the last column, which the trees have already.
        (rca, RCA().fit(Z, y).components_[:-1]),
    ):
        found = model._projection.standardise()
        axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
        assert found.shape == axes.shape
        np.testing.assert_allclose(np.abs((found * axes).sum(axis=1)), 1, atol=1e-6)
        assert (np.abs(found).argmax(axis=1) == found.argmax(axis=1)).all()
    copies = np.column_stack([X, X[:, 0] + X[:, 2]])
    for directions, number in (("pca", 4), ("rca", 3)):
        model = quick(directions=directions, eliminate=False, min_loading=0.0).fit(copies, y)
        assert model.directions_.shape == (number, 5)
    weight = np.where(y, 5.0, 1.0)
    weighted = quick(directions="pca", eliminate=False).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(500), weight.astype(int))
    repeated = quick(directions="pca", eliminate=False).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.directions_, repeated.directions_, rtol=2e-4)


def test_kept_directions_are_no_copies_of_each_other():
    X, y = mixed()
    axes = quick(max_rounds=60, patience=60, eliminate=False).fit(X, y)._projection.standardise()
    assert len(axes) > 5
    cosines = np.abs(axes @ axes.T)
    assert cosines[~np.eye(len(axes), dtype=bool)].max() <= 0.9991


def test_rounds_end_when_no_new_direction_is_kept(monkeypatch):
    trees = []

    def spy(codes, *args):
        trees.append(grow_tree(codes, *args))
        return trees[-1]

    monkeypatch.setattr("rarefind.boosting._directions.grow_tree", spy)
    X, y = oblique(600)
    made = {}
    for patience in (1, 3):
        trees.clear()
        kept = quick(max_rounds=200, patience=patience, eliminate=False).fit(X, y).directions_
        made[patience] = len(trees)
        assert len(trees) < 200
        # No tree of the last rounds has used a component of its own.
        known = 4 + len(kept)
        assert all(tree.used.max(initial=0) < known for tree in trees[-patience:])
    assert made[1] < made[3]
    trees.clear()
    quick(max_rounds=2, patience=50).fit(X, y)
    assert len(trees) == 2


# ---------------------------------------------------------------------- rows and columns


@given(st.integers(4, 200), st.integers(2, 120), st.integers(0, 10**6))
def test_a_sample_weighs_what_all_rows_do(n, most, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < max(1, rng.integers(n - 1))
    rows = rows_of(np.arange(n)[:, None], y, rng.uniform(0.5, 2, n))
    found = drawn(rows, most, seed)
    assert len(found.X) == min(n, most)
    assert (np.diff(found.X[:, 0]) > 0).all()
    np.testing.assert_array_equal(found.positive, y[found.X[:, 0].astype(int)])
    for side in (True, False):
        whole = rows.weight[y == side].sum()
        assert found.weight[found.positive == side].sum() == pytest.approx(whole)
    if n > most:
        least = min(y.sum(), most // 2)
        assert found.positive.sum() == max(least, most - (~y).sum())


@pytest.mark.parametrize(
    ("column", "several"),
    [
        ([1.0, 1.0], False),
        ([1.0, 2.0, np.nan, 1.0], False),
        ([np.nan, 1.0, 2.0, 1.0, 3.0], True),
        ([np.nan, np.nan], False),
    ],
)
def test_a_column_of_two_values_is_not_projected_unless_asked_for(column, several):
    assert has_three_values(np.array(column)) is several


@every_kind
def test_columns_that_directions_are_made_of(directions):
    X, y = mixed()
    params = {"directions": directions, "eliminate": False, "categorical_features": [4]}
    model = quick(**params).fit(X, y)
    assert (model.directions_[:, 3:] == 0).all()
    used = (model.directions_ != 0).any(axis=0)
    assert used[:2].all() == (directions != "none")
    frame = pd.DataFrame(X, columns=["amount", "mean", "age", "abroad", "shop"])
    named = quick(**params, projected_features=["amount", "abroad"]).fit(frame, y)
    assert (named.directions_[:, [1, 2, 4]] == 0).all()
    numbered = quick(**params, projected_features=[0, 3]).fit(X, y)
    np.testing.assert_array_equal(named.directions_, numbered.directions_)
    assert quick(**params, projected_features=[]).fit(X, y).directions_.shape == (0, 5)


@pytest.mark.parametrize(
    ("given_columns", "sentence"),
    [
        (["colour"], "projected_features names 'colour', which is not a column"),
        ([7], "projected_features holds 7; there are 5 columns"),
        ([0, 4], "projected_features names a column of categories, which cannot be added up"),
    ],
)
def test_a_mistake_in_the_projected_columns_gets_its_sentence(given_columns, sentence):
    X, y = mixed()
    with pytest.raises(ValueError, match=sentence):
        quick(projected_features=given_columns, categorical_features=[4]).fit(X, y)


@every_kind
@pytest.mark.parametrize("eliminate", [True, False])
def test_tables_that_have_no_directions_or_few_are_taken(directions, eliminate):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(60, 2))
    y = a[:, 0] - a[:, 1] > 1
    tables = {
        "constant": np.ones((60, 3)),
        "one column": a[:, :1],
        "copies": np.column_stack([a, a, a[:, 0] + a[:, 1], np.zeros(60)]),
        "wide": np.column_stack([a, rng.normal(size=(60, 80))]),
        "empty column": np.column_stack([a, np.full(60, np.nan)]),
        "huge": np.column_stack([a * 1e300, a]),
        "tiny": np.column_stack([a * 1e-310, a]),
        "levels": np.column_stack([rng.integers(0, 3, (60, 2))]),
    }
    for name, X in tables.items():
        sets = [0, 1] if name == "levels" else None
        model = quick(3, directions=directions, eliminate=eliminate, categorical_features=sets)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            score = model.fit(X, y).priority(X)
        assert np.isfinite(score).all(), name
        assert np.isfinite(model.directions_).all(), name
        assert model.directions_.shape[1] == X.shape[1]
        assert model._contributions(X).shape == X.shape
    few = quick(3, directions=directions, eliminate=eliminate).fit(a[:4], [0, 0, 0, 1])
    assert np.isfinite(few.priority(a)).all()


def test_missing_values_are_filled_where_training_rows_had_some_and_only_there():
    X, y = mixed()
    model = quick(directions="pca", eliminate=False, categorical_features=[4]).fit(X, y)
    kept = model._projection
    np.testing.assert_array_equal(np.isnan(kept.fill), [True, True, False, True, True])
    assert kept.fill[2] == pytest.approx(np.nanmean(X[:, 2]))
    row = X[:1].copy()
    row[0, 2] = np.nan
    filled = row.copy()
    filled[0, 2] = kept.fill[2]
    np.testing.assert_array_equal(kept.extend(row)[:, 5:], kept.extend(filled)[:, 5:])
    row[0, 0] = np.nan
    missing = np.isnan(kept.extend(row)[0, 5:])
    np.testing.assert_array_equal(missing, kept.loadings[:, 0] != 0)
    assert missing.any()
    assert np.isfinite(model.priority(row)).all()


def test_least_important_columns_go():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 12))
    y = X[:, 3] + X[:, 7] + 0.3 * rng.normal(size=1500) > 2
    model = quick(30, directions="none").fit(X, y)
    assert {"x3", "x7"} <= set(model.columns_)
    assert len(model.columns_) < 8
    assert model.feature_importances_.shape == (12,)
    everything = quick(30, directions="none", eliminate=False).fit(X, y)
    assert everything.columns_ == [f"x{j}" for j in range(12)]
    # Fewer than four of a class are not split.
    few = np.arange(1500) < 3
    assert len(quick(5, directions="none").fit(X, few).columns_) == 12


def test_fewer_columns_must_be_better_by_a_margin():
    X, y = mixed()
    asked = []

    def worth(held, score):
        asked.append(held.positive.sum())
        return 1.0

    def rising(held, score):
        asked.append(0)
        return 1.1 ** len(asked)

    params = quick()
    params.n_features_in_, params._is_set = 5, np.zeros(5, dtype=bool)
    contest = Contest(params._params(rows_of(X, y)), 5, rising, 0, 5, 20)
    assert best_columns(rows_of(X, y), np.zeros(5, dtype=bool), contest)[0].size == 1
    columns, value = best_columns(rows_of(X, y), np.zeros(5, dtype=bool), contest, eliminate=False)
    assert columns.size == 5
    assert value > 0
    asked.clear()
    contest = contest._replace(worth=worth)
    assert best_columns(rows_of(X, y), np.zeros(5, dtype=bool), contest)[0].size == 5
    # Few positives are held out in four quarters, many in one.
    assert sum(asked[:4]) == y.sum()
    assert max(asked) - min(asked) <= 1
    asked.clear()
    many = np.arange(400) % 2 == 0
    best_columns(rows_of(X, many), np.zeros(5, dtype=bool), contest)
    assert set(asked) == {50}
    assert len(asked) % 2 == 0
    asked.clear()
    X, many = np.tile(X, (3, 1)), np.tile(many, 3)
    best_columns(rows_of(X, many), np.zeros(5, dtype=bool), contest)
    assert set(asked) == {150}


# ---------------------------------------------------------------------- held-out rows


def learned(monkeypatch):
    """What each part learns, as it does."""
    seen = []
    learn = ProjectionBoostingClassifier._learn

    def spy(self, rows, seed):
        seen.append(learn(self, rows, seed))
        return seen[-1]

    monkeypatch.setattr(ProjectionBoostingClassifier, "_learn", spy)
    return seen


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def test_held_out_rows_say_nothing_about_directions(monkeypatch):
    seen = learned(monkeypatch)
    X, y = mixed()
    own = np.arange(len(X)) % 2
    cv = [(np.flatnonzero(own != f), np.flatnonzero(own == f)) for f in range(2)]
    model = quick(threshold="auto", cv=cv)
    model.fit(X, y)
    assert len(seen) == 3
    assert same(model._projection, seen[2])
    assert not same(seen[0], seen[1])
    other = X.copy()
    other[cv[0][1]] = 1e3 * np.random.default_rng(1).normal(size=(len(cv[0][1]), 5))
    model.fit(other, y)
    assert same(seen[3], seen[0])
    assert not same(seen[4], seen[1])


def test_the_last_model_takes_the_directions_of_the_only_part(monkeypatch):
    seen = learned(monkeypatch)
    X, y = mixed()
    train, held = np.arange(0, 300), np.arange(300, 400)
    model = quick(threshold="auto", cv=[(train, held)]).fit(X, y)
    assert len(seen) == 1
    assert same(model._projection, seen[0])
    other = X.copy()
    other[held] = np.random.default_rng(1).normal(size=(100, 5))
    model.fit(other, y)
    assert same(seen[1], seen[0])
    judged = quick(threshold="auto").fit(X[train], y[train], eval_set=(X[held], y[held]))
    assert len(seen) == 3
    assert same(judged._projection, quick().fit(X[train], y[train])._projection)
    # A fit without parts does not take those of the one before.
    again = judged.set_params(threshold=None).fit(X[held], y[held])
    assert same(again._projection, quick().fit(X[held], y[held])._projection)


# ---------------------------------------------------------------------- scores and reasons


def test_the_model_is_xgboost_on_columns_and_directions():
    X, y = oblique(500)
    model = quick(10, bins="quantile", max_bins=64, min_child_weight=1.0).fit(X, y)
    made = model._projection.extend(X)
    parts = [X[:, [int(name[1:]) for name in model.columns_]], X @ model.directions_.T]
    np.testing.assert_allclose(made, np.hstack(parts), rtol=1e-9, atol=1e-9)
    params = {"objective": "binary:logistic", "base_score": float(y.mean()), "max_depth": 4}
    params |= {"learning_rate": 0.1, "tree_method": "hist", "max_bin": 64, "nthread": 1}
    twin = xgboost.train(params, xgboost.QuantileDMatrix(made, y, max_bin=64), 10)
    expected = twin.predict(xgboost.DMatrix(made), output_margin=True)
    np.testing.assert_allclose(model.priority(X), expected, atol=2e-5)
    assert np.ptp(expected) > 1


@every_kind
def test_contributions_add_up_to_the_priority(directions):
    X, y = mixed()
    model = quick(directions=directions, categorical_features=[4]).fit(X, y)
    rows = np.vstack([X[:40], X[:1] * np.nan])
    rows[3, 0] = np.nan
    added = model._contributions(rows)
    base = model._by_trees(rows, pred_contribs=True)[:, -1] + model.base_score_
    assert added.shape == rows.shape
    np.testing.assert_allclose(added.sum(axis=1) + base, model.priority(rows), atol=1e-5)


def test_a_direction_is_shared_by_how_far_its_columns_move_it():
    kept = Projection.none(4)._replace(
        columns=np.array([3]),
        loadings=np.array([[1.0, -0.5, 0.0, 0.0]]),
        fill=np.array([np.nan, 2.0, np.nan, np.nan]),
        mean=np.array([1.0, 2.0, 0.0, 0.0]),
        scale=np.array([3.0, 8.0, 1.0, 1.0]),
    )
    X = np.array([[2.0, 8.0, 9, 9], [1.0, 2.0, 9, 9], [4.0, np.nan, 9, 9], [np.nan, 5.0, 9, 9]])
    added = np.column_stack([np.full(4, 10.0), [8.0, 25.0, 3.0, -6.0]])
    expected = [[2, 6, 0, 10], [9, 16, 0, 10], [3, 0, 0, 10], [-6, 0, 0, 10]]
    np.testing.assert_allclose(kept.share_out(X, added), expected)


def test_a_row_does_not_depend_on_others(monkeypatch):
    X, y = mixed()
    model = quick(categorical_features=[4]).fit(X, y)
    assert len(model.directions_)
    whole = model.priority(X), model._contributions(X)
    for method, expected in zip((model.priority, model._contributions), whole, strict=True):
        alone = np.concatenate([method(X[i : i + 1]) for i in range(20)])
        np.testing.assert_array_equal(expected[:20], alone)
    monkeypatch.setattr("rarefind.boosting._projection.BLOCK", 37)
    np.testing.assert_array_equal(model.priority(X), whole[0])
    np.testing.assert_array_equal(model.priority(np.asfortranarray(X)), whole[0])


def test_the_trees_as_a_table_give_the_priorities():
    X, y = mixed()
    names = ["amount", "mean", "age", "abroad", "shop"]
    frame = pd.DataFrame(X, columns=names)
    model = quick(4, categorical_features=["shop"], eliminate=False).fit(frame, y)
    nodes = model.trees_to_dataframe().set_index("ID")
    spoken = [*names, *model.describe_directions()["direction"]]
    assert set(nodes["Feature"]) - {"Leaf"} <= set(spoken)
    assert nodes["Feature"].str.fullmatch(r"d\d+").any()
    assert model.n_leaves_ == (nodes["Feature"] == "Leaf").sum()
    score = np.full(50, model.base_score_)
    for i, row in enumerate(model._projection.extend(X[:50])):
        for tree in range(4):
            node = nodes.loc[f"{tree}-0"]
            while node["Feature"] != "Leaf":
                value = row[spoken.index(node["Feature"])]
                if np.isnan(value):
                    way = "Missing"
                elif isinstance(node["Category"], list):
                    way = "Yes" if value in node["Category"] else "No"
                else:
                    way = "Yes" if value < node["Split"] else "No"
                node = nodes.loc[node[way]]
            score[i] += node["Gain"]
    np.testing.assert_allclose(score, model.priority(frame[:50]), atol=1e-5)


def test_directions_are_said_in_words():
    X, y = mixed()
    names = ["amount", "mean", "age", "fee", "shop"]
    model = quick(2, eliminate=False).fit(pd.DataFrame(X, columns=names), y)
    scale = np.array([10.0, 0.1, 1.0, 2.0, 1.0])
    axes = np.array(
        [
            [0.98, 0.19, 0, 0, 0],
            [0.8, -0.6, 0, 0, 0],
            [0.6, 0, -0.5, 0.55, -0.3],
            [0.7, 0, 0, 0.6, 0.4],
            [0.7, 0, 0.5, 0, -0.4],
        ]
    )
    kept = model._projection._replace(columns=np.arange(5), loadings=axes / scale, scale=scale)
    model._projection = kept
    found = model.describe_directions()
    assert found["direction"].tolist() == ["d0", "d1", "d2", "d3", "d4"]
    assert found["words"].tolist() == [
        "amount",
        "amount high for mean",
        "amount and fee high for age",
        "amount, fee and shop high together",
        "amount and age high for shop",
    ]
    assert found["loadings"][1] == "0.08 * amount - 6 * mean"
    assert found["loadings"][2] == "0.06 * amount - 0.5 * age + 0.275 * fee - 0.3 * shop"
    assert model.describe_directions(top=4)["words"][2] == "amount and fee high for age and shop"
    assert model.describe_directions(top=1)["words"][1] == "amount"
    assert (
        model.describe_directions(top=2)["loadings"][3] == "0.07 * amount + 0.3 * fee + 0.4 * shop"
    )
    with pytest.raises(ValueError, match="top=0: give a number of columns, at least 1"):
        model.describe_directions(top=0)
    none = quick(2, directions="none").fit(X, y).describe_directions()
    assert none.columns.tolist() == ["direction", "words", "gain", "loadings"]
    assert none.empty


def test_gains_of_directions_are_shared_by_squared_loadings():
    X, y = oblique(500)
    model = quick(10, eliminate=False).fit(X, y)
    gain = model._gain_shares(model._projection.size)
    expected = gain[:4].copy()
    for share, axis in zip(gain[4:], model._projection.standardise(), strict=True):
        expected += share * axis**2
    np.testing.assert_allclose(model.feature_importances_, expected)
    assert model.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.describe_directions()["gain"], gain[4:])


# ---------------------------------------------------------------------- being an estimator


def test_the_same_seed_gives_the_same_model_in_any_number_of_threads():
    X, y = mixed(1200)
    model = quick(max_samples=500, random_state=4)
    first = model.fit(X, y)
    again = clone(model).fit(X, y)
    assert same(again._projection, first._projection)
    np.testing.assert_array_equal(again.priority(X), first.priority(X))
    two = clone(model).set_params(n_jobs=2).fit(X, y)
    assert same(two._projection, first._projection)
    other = clone(model).set_params(random_state=5).fit(X, y)
    assert not same(other._projection, first._projection)


@every_kind
def test_a_model_file_scores_the_same(directions, tmp_path):
    X, y = mixed()
    model = quick(directions=directions, categorical_features=[4]).fit(X, y)
    rarefind.save(model, tmp_path / "model")
    read = rarefind.load(tmp_path / "model")
    np.testing.assert_array_equal(read.priority(X), model.priority(X))
    np.testing.assert_array_equal(read.directions_, model.directions_)
    np.testing.assert_array_equal(read._contributions(X), model._contributions(X))
    assert read.columns_ == model.columns_
    assert read.describe_directions().equals(model.describe_directions())


@pytest.mark.parametrize(
    "change",
    [
        {"columns": np.array([0, 9])},
        {"columns": np.array([1, 0])},
        {"columns": np.array([0.0, 1.0])},
        {"loadings": np.ones((2, 3))},
        {"loadings": np.ones(5)},
        {"loadings": np.full((2, 5), np.nan)},
        {"loadings": np.zeros((2, 5))},
        {"scale": np.zeros(5)},
        {"fill": np.ones(4)},
        {"mean": np.full(5, np.inf)},
        {"scale": np.ones(5, dtype=np.float32)},
    ],
)
def test_directions_that_no_fit_makes_are_refused(change, tmp_path):
    X, y = mixed()
    model = quick(2).fit(X, y)
    model._projection = model._projection._replace(**change)
    save_unchecked(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"a projection: |a projection-boosting: "):
        rarefind.load(tmp_path / "model")


def test_trees_of_other_columns_are_refused(tmp_path):
    X, y = mixed()
    model = quick(2, eliminate=False).fit(X, y)
    model._projection = model._projection._replace(columns=np.arange(4))
    save_unchecked(model, tmp_path / "model")
    with pytest.raises(ValueError, match="has 16 entries where 17 belong"):
        rarefind.load(tmp_path / "model")


@pytest.mark.parametrize(
    "params",
    [
        {"directions": "lda"},
        {"max_rounds": 0},
        {"patience": 0},
        {"min_loading": 1.0},
        {"max_samples": 1},
        {"eliminate": "yes"},
    ],
)
def test_what_no_parameter_may_be_is_refused(params):
    X, y = mixed(60)
    with pytest.raises(ValueError, match=next(iter(params))):
        quick(**params).fit(X, y)


def test_exact_trees_take_directions_but_no_levels():
    X, y = oblique(300)
    assert len(quick(5, tree_method="exact", eliminate=False).fit(X, y).directions_)
    X, y = mixed()
    with pytest.raises(ValueError, match="tree_method='exact' cannot split categories"):
        quick(tree_method="exact", categorical_features=[4]).fit(X, y)


def test_the_better_of_dense_and_sparse_directions_is_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6))
    for kind, direction in (("sparse", [1, -1, 0, 0, 0, 0]), ("dense", [1, -1, 1, -1, 1, -1])):
        score = X @ np.array(direction) / np.linalg.norm(direction)
        y = score > np.quantile(score, 0.9)
        model = quick(eliminate=False, max_rounds=8, min_loading="auto").fit(X, y)
        own = {
            least: quick(eliminate=False, max_rounds=8, min_loading=least).fit(X, y)
            for least in (0.05, 0.4)
        }
        same = [np.array_equal(model.directions_, own[least].directions_) for least in own]
        assert any(same), kind
        worse = own[0.4 if same[0] else 0.05]
        assert (
            average_precision(y, model.priority(X))
            >= average_precision(y, worse.priority(X)) - 0.05
        )


def test_least_loadings_are_numbers_or_chosen():
    X, y = mixed()
    for least in (0.0, 0.3, "auto"):
        found = quick(min_loading=least, eliminate=False, max_rounds=4).fit(X, y)
        size = np.abs(found._projection.standardise())
        limit = 0.05 if least == "auto" else least
        # What is left is made one long again, so it can only have grown.
        assert ((size == 0) | (size >= limit * 0.99)).all()
    with pytest.raises(ValueError, match="min_loading"):
        quick(min_loading="other").fit(X, y)


def test_of_many_directions_those_that_gain_most_are_kept():
    X, y = oblique(600)
    many = quick(eliminate=False, max_rounds=15).fit(X, y)
    few = quick(eliminate=False, max_rounds=15, max_directions=2).fit(X, y)
    assert len(many.directions_) > 2 == len(few.directions_)
    known = [row.tobytes() for row in many.directions_]
    assert all(row.tobytes() in known for row in few.directions_)
    assert few.columns_ == many.columns_
    alone = np.abs(few._projection.standardise()[:, :2])
    assert (alone > 0.5).all(axis=1).any()  # the difference of the first two columns is among them

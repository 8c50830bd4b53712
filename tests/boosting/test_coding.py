import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rarefind._core.fields import StateError
from rarefind._core.saved import check_object
from rarefind.boosting import SGBAPClassifier
from rarefind.boosting._coding import Coding

numbers = st.one_of(
    st.integers(-4, 4).map(float), st.floats(-1e6, 1e6), st.sampled_from([np.nan, 0.0, 1e300])
)
levels = st.one_of(st.integers(0, 5).map(float), st.just(np.nan))


@st.composite
def tables(draw, n_sets=None):
    """Numbers and categories in any order, full of ties and missing values, and the positives."""
    n, d = draw(st.integers(3, 25)), draw(st.integers(1, 4))
    is_set = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    if n_sets is not None:
        is_set[:] = n_sets
    X = np.column_stack(
        [draw(hnp.arrays(float, n, elements=levels if kind else numbers)) for kind in is_set]
    )
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[:2] = True, False
    return X, positive, is_set


def naive_codes(coding, X, is_set):
    """Cuts counted and levels looked up, one cell at a time."""
    codes = np.full(X.shape, np.nan)
    cuts = iter(coding.binner.cuts_ if coding.binner is not None else [])
    known = iter(coding.levels)
    for j in range(X.shape[1]):
        if is_set[j]:
            places = {level: place for place, level in enumerate(next(known))}
            codes[:, j] = [places.get(value, np.nan) for value in X[:, j]]
        elif coding.binner is None:
            codes[:, j] = X[:, j].astype(np.float32)
        else:
            column = next(cuts)
            for i, value in enumerate(X[:, j]):
                if not np.isnan(value):
                    codes[i, j] = sum(cut <= value for cut in column)
    return codes


@given(tables(), st.integers(2, 20), st.integers(0, 99))
@settings(deadline=None)
def test_codes_are_those_of_the_slow_twin(table, max_bins, seed):
    X, positive, is_set = table
    coding = Coding.learn(X, positive, is_set, max_bins, 1)
    other = np.random.default_rng(seed).permutation(X) + 0.5 * (seed % 2)
    for rows in (X, other, X[:0]):
        codes = coding.codes(rows)
        assert codes.dtype == np.float32
        np.testing.assert_array_equal(codes, naive_codes(coding, rows, is_set))


@given(tables(), st.integers(2, 20))
@settings(deadline=None)
def test_the_missing_values_of_the_rows_it_learned_from_are_those_of_the_codes(table, max_bins):
    X, positive, is_set = table
    codes = Coding.learn(X, positive, is_set, max_bins, 1).codes(X)
    np.testing.assert_array_equal(np.isnan(codes), np.isnan(X))


@given(tables(), st.integers(2, 20))
@settings(deadline=None)
def test_xgboost_has_room_for_every_code(table, max_bins):
    X, positive, is_set = table
    coding = Coding.learn(X, positive, is_set, max_bins, 1)
    codes = coding.codes(X)[:, ~is_set]
    assert np.nanmax(np.append(codes, 0)) < coding.max_bin
    assert coding.max_bin <= max_bins + 2  # levels XGBoost keeps apart anyway
    assert coding.feature_types == ["c" if kind else "q" for kind in is_set]


@given(tables(n_sets=False))
@settings(deadline=None)
def test_without_bins_numbers_stay_as_they_are(table):
    X, positive, is_set = table
    X = np.clip(X, -1e30, 1e30)  # 32 bits hold no more
    coding = Coding.learn(X, positive, is_set, None, 1)
    assert coding.binner is None
    np.testing.assert_array_equal(coding.codes(X), X.astype(np.float32))
    assert coding.max_bin == 2


def test_what_32_bits_cannot_hold_is_the_largest_they_can():
    X = np.array([[1e300], [-1e300], [1.0]])
    is_set = np.zeros(1, dtype=bool)
    codes = Coding.learn(X, np.array([True, False, False]), is_set, None, 1).codes(X)
    assert np.isfinite(codes).all()
    assert codes[:, 0].argsort().tolist() == [1, 2, 0]


@given(st.floats(-(2.0**100), 2.0**100, width=32))
def test_without_bins_a_threshold_is_compared_in_32_bits(threshold):
    X = np.array([[0.0], [1.0]])
    is_set = np.zeros(1, dtype=bool)
    coding = Coding.learn(X, np.array([True, False]), is_set, None, 1)
    value = coding.value(0, threshold)
    for x in (value, np.nextafter(value, -np.inf), np.nextafter(value, np.inf), threshold):
        assert (x < value) == (np.float32(x) < np.float32(threshold))


def test_without_bins_levels_have_codes_all_the_same():
    X = np.array([[0.5, 30.0], [1.5, 10.0], [2.5, 30.0]])
    positive, is_set = np.array([True, False, False]), np.array([False, True])
    codes = Coding.learn(X, positive, is_set, None, 1).codes(X)
    assert codes.tolist() == [[0.5, 1], [1.5, 0], [2.5, 1]]


@given(tables(), st.integers(2, 20), st.data())
@settings(deadline=None)
def test_a_threshold_on_codes_is_one_on_values(table, max_bins, data):
    """Exactly: at every cut, and at the floats next to it."""
    X, positive, is_set = table
    coding = Coding.learn(X, positive, is_set, max_bins, 1)
    if coding.binner is None:
        return
    number = data.draw(st.integers(0, int((~is_set).sum()) - 1))
    column = int(np.flatnonzero(~is_set)[number])
    cuts = coding.binner.cuts_[number]
    values = np.concatenate(
        [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), X[:, column]]
    )
    rows = np.zeros((values.size, is_set.size))
    rows[:, column] = values
    codes = coding.codes(rows)[:, column]
    for code in np.arange(0, cuts.size + 2, 0.5):
        cut = coding.value(column, float(code))
        np.testing.assert_array_equal(values < cut, codes < code)


def test_cuts_are_compared_in_64_bits():
    """Neighbouring floats of 64 bits, which 32 bits cannot tell apart, have codes of their own."""
    low = 16_777_216.0
    high = np.nextafter(low, np.inf)
    X = np.array([[low], [high], [low], [high]])
    coding = Coding.learn(X, np.array([True, False] * 2), np.zeros(1, dtype=bool), 8, 1)
    assert coding.codes(X)[:, 0].tolist() == [0, 1, 0, 1]
    assert coding.value(0, 1.0) == high


def test_new_levels_and_missing_values_are_missing():
    X = np.array([[3.0], [7.0], [7.0], [np.nan], [11.0]])
    positive = np.arange(5) == 0
    coding = Coding.learn(X, positive, np.ones(1, dtype=bool), 8, 1)
    assert coding.binner is None
    assert coding.levels[0].tolist() == [3, 7, 11]
    new = np.array([[3.0], [5.0], [11.0], [12.0], [-1.0], [np.nan], [7.0]])
    found = np.nan_to_num(coding.codes(new)[:, 0], nan=-1)
    assert found.tolist() == [0, -1, 2, -1, -1, -1, 1]


def test_a_column_of_levels_that_was_never_filled_stays_missing():
    X = np.column_stack([np.full(4, np.nan), np.arange(4.0)])
    positive, is_set = np.arange(4) == 0, np.array([True, False])
    coding = Coding.learn(X, positive, is_set, 8, 1)
    codes = coding.codes(np.array([[np.nan, 0.0], [2.0, 3.0]]))
    assert np.isnan(codes[:, 0]).all()
    assert codes[:, 1].tolist() == [0, 3]


def test_numbers_between_columns_of_levels_find_their_own_cuts():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(200, 4)).astype(float) * [1, 1, 100, 1]
    positive, is_set = rng.random(200) < 0.2, np.array([False, True, False, True])
    coding = Coding.learn(X, positive, is_set, 16, 1)
    assert coding.value(0, 1) == 0.5
    assert coding.value(2, 1) == 50
    assert coding.value(2, 6) == np.inf
    assert coding.value(2, 0) == -np.inf


def test_more_threads_make_the_same_codes():
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(500, 3)), rng.random(500) < 0.1
    found = [
        Coding.learn(X, positive, np.zeros(3, dtype=bool), 64, n_jobs).codes(X) for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*found)


@given(tables(), st.sampled_from([None, 4, 16]))
@settings(deadline=None)
def test_what_was_learned_is_not_refused(table, max_bins):
    X, positive, is_set = table
    coding = Coding.learn(X, positive, is_set, max_bins, 1)
    check_object(coding)
    assert [n is not None for n in coding.n_levels()] == is_set.tolist()


def learned():
    rng = np.random.default_rng(0)
    X, positive = rng.integers(0, 6, size=(60, 3)).astype(float), rng.random(60) < 0.2
    return Coding.learn(X, positive, np.array([False, True, False]), 8, 1)


def fewer_cuts(coding):
    coding.binner.cuts_ = coding.binner.cuts_[:1]
    return coding


def more_cuts(coding):
    coding.binner.cuts_ = [*coding.binner.cuts_, np.zeros(1)]
    return coding


MALFORMED = {
    "levels of no column": lambda c: c._replace(levels=[*c.levels, np.zeros(2)]),
    "no levels": lambda c: c._replace(levels=[]),
    "all are levels": lambda c: c._replace(is_set=np.ones(3, dtype=bool)),
    "none is": lambda c: c._replace(is_set=np.zeros(3, dtype=bool)),
    "too few columns": lambda c: c._replace(is_set=c.is_set[:2]),
    "a table of columns": lambda c: c._replace(is_set=c.is_set[None]),
    "fewer cuts": fewer_cuts,
    "more cuts": more_cuts,
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_what_no_fit_would_make_is_refused(change):
    check_object(learned())
    with pytest.raises(StateError, match=r"a coding: |a positive-aware-binner: "):
        check_object(change(learned()))


def table_on_cuts(n, cuts, seed):
    """Values on the cuts and beside them, odd categories, new ones, missing values."""
    rng = np.random.default_rng(seed)
    near = np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), [np.nan]])
    return np.column_stack(
        [
            rng.choice(near, n),
            rng.integers(-3, 4, n).astype(float),
            rng.choice([0.0, 1.0, 2.5, 7.0, 3.0, -1.0, np.nan], n),
            rng.normal(size=n),
        ]
    )


@pytest.mark.parametrize("bins", ["positive-aware", "quantile"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_scores_are_those_of_all_bins(bins, order):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=400),
            rng.integers(-3, 4, 400),
            rng.choice([0.0, 1.0, 2.5, 7.0], 400),
            np.zeros(400),
        ]
    )
    y = X[:, 0] + X[:, 1] + (X[:, 2] == 2.5) > 2
    model = SGBAPClassifier(
        n_estimators=8,
        bins=bins,
        categorical_features=[2],
        early_stopping_rounds=None,
        threshold=None,
        random_state=0,
    ).fit(X, y)
    binner = model._coding.binner
    cuts = np.linspace(-2, 2, 50) if binner is None else binner.cuts_[0]
    new = np.asarray(table_on_cuts(500, cuts, 1), order=order)
    whole = model._by_trees(new, output_margin=True).astype(float) + model.base_score_
    np.testing.assert_array_equal(model.priority(new), whole)
    assert np.unique(whole).size > 20
    scoring = model._trees.scoring(model._coding)
    if binner is not None:
        assert 0 < scoring.numbers[0][1].size < cuts.size
        assert 3 in scoring.unused

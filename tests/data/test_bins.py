import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.utils.estimator_checks import parametrize_with_checks

from rarefind.data import PositiveAwareBinner
from rarefind.data.bins import fill_codes


@parametrize_with_checks([PositiveAwareBinner()])
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


@st.composite
def columns(draw):
    n = draw(st.integers(4, 60))
    values = st.one_of(
        st.integers(-5, 5).map(float), st.floats(-1e6, 1e6, allow_nan=False), st.just(np.nan)
    )
    X = draw(hnp.arrays(float, (n, 2), elements=values))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:2] = 0, 1
    return X, y


@given(columns(), st.integers(0, 6), st.integers(0, 6), st.integers(0, 4), st.integers(2, 12))
@settings(max_examples=80)
def test_a_code_counts_the_cuts_at_or_below(table, n_positive, n_negative, n_extreme, max_bins):
    X, y = table
    binner = PositiveAwareBinner(
        n_positive=n_positive, n_negative=n_negative, n_extreme=n_extreme, max_bins=max_bins
    ).fit(X, y)
    codes = binner.transform(X)
    for j in range(2):
        cuts = binner.cuts_[j]
        assert np.all(np.diff(cuts) > 0)
        assert cuts.size < max_bins
        for value, code in zip(X[:, j], codes[:, j], strict=True):
            if np.isnan(value):
                assert np.isnan(code)
                continue
            assert code == sum(cut <= value for cut in cuts)
            assert value >= binner.inverse(j, code)
            assert value < binner.inverse(j, code + 1)
            assert binner.inverse(j, code + 0.5) == binner.inverse(j, code + 1)


def test_positives_are_set_apart_where_plain_quantiles_hide_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 1))
    y = np.zeros(100_000)
    fraud = rng.choice(np.flatnonzero(np.abs(X[:, 0] - 0.5) < 0.001), 20, replace=False)
    y[fraud] = 1
    codes = PositiveAwareBinner().fit(X, y).transform(X)[:, 0]
    around = np.isin(codes, codes[fraud])
    plain = np.searchsorted(np.quantile(X, np.arange(1, 256) / 256), X[:, 0])
    hidden = np.isin(plain, plain[fraud])
    assert y[around].mean() > 5 * y[hidden].mean()


def test_both_ends_are_cut_down_to_single_rows():
    X = np.arange(10_000.0)[:, None]
    y = np.arange(10_000) % 50 == 25
    cuts = PositiveAwareBinner().fit(X, y).cuts_[0]
    assert 350 < cuts.size < 450
    assert cuts[0] < 3
    assert cuts[-1] > 9996


def test_values_few_and_constant():
    X = np.column_stack([np.zeros(6), [0, 0, 1, 1, np.nan, 1], np.full(6, np.nan)])
    binner = PositiveAwareBinner().fit(X, [0, 0, 0, 0, 1, 1])
    assert [c.tolist() for c in binner.cuts_] == [[], [0.5], []]
    assert np.nan_to_num(binner.transform(X), nan=-1)[:, 1].tolist() == [0, 0, 1, 1, -1, 1]


def test_mistakes_get_a_sentence():
    with pytest.raises(ValueError, match="need two classes; y holds 3"):
        PositiveAwareBinner().fit([[1.0], [2.0], [3.0]], [0, 1, 2])
    with pytest.raises(ValueError, match="pos_label=7 is not among the labels"):
        PositiveAwareBinner(pos_label=7).fit([[1.0], [2.0]], [0, 1])


@given(
    st.lists(st.floats(-5, 5), max_size=40).map(lambda cuts: np.unique(np.array(cuts))),
    st.integers(0, 700),
)
def test_codes_of_many_values_are_those_of_each(cuts, n):
    values = np.random.default_rng(n).choice(np.r_[cuts, -9.0, 0.5, 9.0, np.nan], n)
    expected = [np.nan if np.isnan(v) else (cuts <= v).sum() for v in values]
    for layout in (values.copy(), np.column_stack([values, values])[:, 0]):
        codes = np.zeros(n, dtype=np.float32)
        fill_codes(layout, cuts, np.arange(cuts.size + 1.0), codes)
        np.testing.assert_array_equal(codes, expected)

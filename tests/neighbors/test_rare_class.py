from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rarefind.neighbors import KRNNClassifier

Z = 1.6448536269514722  # both intervals miss with the chance 0.1


@st.composite
def grids(draw):
    """Rows on a coarse grid, where ties and copies are the rule."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 30))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(0, 4)))
    positive = np.zeros(n, dtype=bool)
    positive[: draw(st.integers(1, n - 1))] = True
    return X, positive


def naive_posterior(x, X, positive, k):
    """The paper's rule, row by row; exact but for the test of the two intervals.

    All copies of the row belong to its neighbourhood.
    """
    walk = sorted((int(np.abs(x - z).sum()), not p) for z, p in zip(X, positive, strict=True))
    m_pos, m = int(positive.sum()), len(X)
    k_q = n_q = 0
    for distance, negative in walk:
        if negative and distance > 0 and k_q >= min(k, m_pos):
            break
        k_q, n_q = k_q + (not negative), n_q + negative
    if n_q == 0:
        return Fraction(1)
    r, share = k_q + n_q, k_q / (k_q + n_q)
    half_width = Z * sqrt(share * (1 - share) / r + Z**2 / (4 * r**2))
    local = (share + Z**2 / (2 * r) - half_width) / (1 + Z**2 / r)
    overall = m_pos / m + Z * sqrt(m_pos / m * (1 - m_pos / m) / m)
    of_lambda = Fraction(1)
    if local > overall:
        of_lambda = Fraction(k_q, n_q) / Fraction(m_pos, m - m_pos)
    return (k_q + Fraction(1, m)) / (k_q + n_q / of_lambda + Fraction(2, m))


@given(grids(), st.integers(1, 5))
@settings(max_examples=200)
def test_decisions_order_and_posterior_are_those_of_the_definition(table, k):
    X, positive = table
    model = KRNNClassifier(k, distance="manhattan", pos_label=True).fit(X, positive)
    rows = np.array([[a] * X.shape[1] for a in range(7)] + [[0] * X.shape[1]])
    rows[-1, 0] = 4
    posterior = [naive_posterior(x, X, positive, k) for x in rows]
    priority = model.priority(rows)
    assert model.predict(rows).tolist() == [p >= Fraction(1, 2) for p in posterior]
    above = model.decision_function(rows) > 0
    assert above.tolist() == [p >= Fraction(1, 2) for p in posterior]
    for i, p in enumerate(posterior):
        for j, other in enumerate(posterior):
            if p < other:
                assert priority[i] < priority[j]
    probability = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(probability, [float(p) for p in posterior], rtol=1e-9)


def test_where_positives_are_dense_the_square_root_of_the_imbalance_decides():
    # (k_q/n_q)² ≥ m₊/m₋: with 1 positive to 400 negatives one in twenty is enough.
    model = KRNNClassifier()
    size = np.full(3, 50.0), np.full(3, 20_000.0)
    odds = model._odds(np.full(3, 5.0), np.array([99.0, 100.0, 101.0]), *size)
    assert (odds >= 1).tolist() == [True, True, False]


def test_different_posteriors_are_never_reordered_by_the_last_digits():
    model = KRNNClassifier()
    k_q, n_q = (a.ravel() for a in np.meshgrid(np.arange(1.0, 41), np.arange(1.0, 1001)))
    odds = np.sort(model._odds(k_q, n_q, np.full(k_q.size, 40.0), np.full(k_q.size, 1000.0)))
    gap = np.diff(odds) / odds[1:]
    rounding, last_digits = 1e-14, 2.0**-36
    assert not ((gap > rounding) & (gap < last_digits)).any()


def test_equal_counts_are_ordered_by_distance():
    X = np.array([[0.0], [10.0], [11.0], [12.0], [13.0]])
    model = KRNNClassifier(1).fit(X, [1, 0, 0, 0, 0])
    assert (np.diff(model.priority([[3.0], [2.0], [1.0], [0.5]])) > 0).all(), "no negative inside"
    # From 5 on one negative is nearer than the positive.
    assert (np.diff(model.priority([[5.4], [5.3], [5.2], [5.1]])) > 0).all()


def test_leaving_one_out_counts_the_rest():
    """A table full of copies: the row itself goes, its copies stay."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 2)).astype(float)
    positive = rng.random(60) < 0.3
    model = KRNNClassifier(2, threshold=1.0, distance="manhattan", pos_label=True)
    model.fit(X, positive)
    expected = []
    for i in range(60):
        rest = np.arange(60) != i
        expected.append(naive_posterior(X[i], X[rest], positive[rest], 2) >= Fraction(1, 2))
    expected = np.array(expected)
    tp = (expected & positive).sum()
    assert model.value_ == pytest.approx(2 * tp / (expected.sum() + positive.sum()))


def test_chances_are_checked():
    with pytest.raises(ValueError, match="'c_local' parameter"):
        KRNNClassifier(c_local=1.0).fit([[0.0], [1.0]], [0, 1])


def test_all_cores_give_what_one_gives():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.random(500) < 0.1
    rows = rng.normal(size=(200, 4))
    one = KRNNClassifier(n_jobs=1).fit(X, y).priority(rows)
    np.testing.assert_array_equal(one, KRNNClassifier(n_jobs=2).fit(X, y).priority(rows))

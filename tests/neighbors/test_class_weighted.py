from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_copies import score_of_copies

from rarefind.neighbors import ClassWeightedKNNClassifier, GammaKNNClassifier


def naive_vote(distances, positive, k, exponent):
    """Scale, sort, take k, count; ties to the positive."""
    shares = np.where(positive, positive.mean(), (~positive).mean()) ** exponent
    nearest = sorted(zip(shares * distances, ~positive, strict=True))[:k]
    return sum(not negative for _, negative in nearest) >= k / 2


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=16),
    st.integers(1, 9),
)
@settings(max_examples=150)
def test_one_dimension_in_whole_numbers(points, k):
    points[0], points[1] = (points[0][0], True), (points[1][0], False)
    X = np.array([[a] for a, _ in points])
    positive = np.array([p for _, p in points])
    size = {True: int(positive.sum()), False: int((~positive).sum())}
    model = ClassWeightedKNNClassifier(k, pos_label=True).fit(X, positive)
    for x in range(8):
        by_number = score_of_copies(np.array([x]), X, positive, (k + 1) // 2, k // 2 + 1)
        if by_number is not None:
            assert model.priority([[x]])[0] == pytest.approx(by_number)
            continue
        nearest = sorted((Fraction(size[p] * abs(x - a), len(points)), not p) for a, p in points)
        votes = sum(not negative for _, negative in nearest[:k])
        assert model.predict([[x]])[0] == (votes >= Fraction(k, 2))


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(2, 4))
@settings(max_examples=60)
def test_the_definition_in_more_dimensions(seed, k, d):
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(40, d)), rng.normal(size=(15, d))
    X[30:] = X[20:30]  # copies, of either class
    positive = rng.random(40) < 0.3
    positive[:2] = True, False
    model = ClassWeightedKNNClassifier(k, pos_label=True).fit(X, positive)
    expected = [naive_vote(np.sqrt(((X - x) ** 2).sum(axis=1)), positive, k, 1 / d) for x in rows]
    assert model.predict(rows).tolist() == expected


def test_it_is_gamma_knn_with_the_scale_of_the_imbalance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), (np.arange(100) < 20).astype(int)
    model = ClassWeightedKNNClassifier().fit(X, y)
    assert model.threshold_ == pytest.approx(0.5)  # (20/80)^(1/2)
    peer = GammaKNNClassifier(gamma=model.threshold_).fit(X, y)
    rows = rng.normal(size=(50, 2))
    np.testing.assert_array_equal(model.priority(rows), peer.priority(rows))
    np.testing.assert_array_equal(model.predict(rows), peer.predict(rows))

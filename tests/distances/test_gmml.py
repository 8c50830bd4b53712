import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.distances import GMML
from rarefind.distances._gmml import pair_moments


def naive_moments(X, codes):
    sums, counts = np.zeros((2, X.shape[1], X.shape[1])), [0, 0]
    for i in range(len(X)):
        for j in range(i):
            gap = X[i] - X[j]
            kind = int(codes[i] != codes[j])
            sums[kind] += np.outer(gap, gap)
            counts[kind] += 1
    return sums[0] / counts[0], sums[1] / counts[1]


@st.composite
def tables(draw):
    n, d = draw(st.integers(4, 15)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(-3, 3), min_size=n * d, max_size=n * d)
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    codes[:3] = 0, 0, 1
    X = np.array(draw(cells), dtype=float).reshape(n, d)
    return X, np.unique(codes, return_inverse=True)[1]


@given(tables())
@settings(max_examples=60)
def test_all_pairs_in_closed_form(table):
    X, codes = table
    for found, expected in zip(pair_moments(X, codes), naive_moments(X, codes), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def power(matrix, t):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**t) @ vectors.T


def geodesic(similar, dissimilar, t):
    """S⁻¹ #ₜ D as the paper writes it."""
    half, back = power(similar, 0.5), power(similar, -0.5)
    return back @ power(half @ dissimilar @ half, t) @ back


def regularised(X, y, reg):
    similar, dissimilar = naive_moments(X, y)
    eye = np.eye(X.shape[1])
    return tuple(m + reg * np.trace(m) / X.shape[1] * eye for m in (similar, dissimilar))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    y = (np.arange(60) % 5 == 0).astype(int)
    X[y == 1] += 2.0
    return X, y


@pytest.mark.parametrize("t", [0.0, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("reg", [0.0, 0.1])
def test_the_matrix_lies_on_the_geodesic(data, t, reg):
    similar, dissimilar = regularised(*data, reg)
    found = GMML(t, reg=reg).fit(*data).get_mahalanobis_matrix()
    np.testing.assert_allclose(found, geodesic(similar, dissimilar, t), rtol=1e-8, atol=1e-10)


def test_ends_and_middle_of_the_geodesic(data):
    similar, dissimilar = regularised(*data, 0.0)

    def at(t):
        return GMML(t, reg=0).fit(*data).get_mahalanobis_matrix()

    np.testing.assert_allclose(at(0) @ similar, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(at(1), dissimilar)
    np.testing.assert_allclose(at(0.5) @ similar @ at(0.5), dissimilar)


def test_the_middle_is_the_minimum_of_the_papers_objective(data):
    similar, dissimilar = regularised(*data, 0.0)
    found = GMML(reg=0).fit(*data).get_mahalanobis_matrix()

    def objective(matrix):
        return np.trace(matrix @ similar) + np.trace(np.linalg.inv(matrix) @ dissimilar)

    rng = np.random.default_rng(0)
    for size in (0.1, 0.01, 0.001):
        for _ in range(50):
            step = size * rng.normal(size=(4, 4))
            other = (np.eye(4) + step) @ found @ (np.eye(4) + step).T
            assert objective(other) >= objective(found) - 1e-9


@pytest.mark.parametrize("t", [0.2, 0.5])
def test_turning_the_table_turns_the_matrix(data, t):
    X, y = data
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    plain, turned = GMML(t).fit(X, y), GMML(t).fit(X @ turn, y)
    np.testing.assert_allclose(
        turn @ turned.get_mahalanobis_matrix() @ turn.T, plain.get_mahalanobis_matrix(), rtol=1e-8
    )


def test_at_t_0_the_scale_of_a_column_changes_nothing_and_elsewhere_it_does(data):
    X, y = data
    scale = np.array([1.0, 10.0, 0.1, 3.0])
    for t, equal in ((0.0, True), (0.5, False)):
        plain = GMML(t, reg=0).fit(X, y).get_mahalanobis_matrix()
        scaled = GMML(t, reg=0).fit(X * scale, y).get_mahalanobis_matrix()
        assert np.allclose(scaled * np.outer(scale, scale), plain) == equal


def test_much_regularisation_gives_the_prior(data):
    prior = np.diag([1.0, 2.0, 4.0, 8.0])
    found = GMML(reg=1e9, prior=prior).fit(*data).get_mahalanobis_matrix()
    np.testing.assert_allclose(found / found[0, 0], prior, atol=1e-6)


def test_errors_tell_what_to_do(data):
    X, y = data
    copied = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="raise reg"):
        GMML(reg=0).fit(np.column_stack([X, np.ones(len(X))]), y)
    assert np.isfinite(GMML().fit(copied, y).components_).all()
    with pytest.raises(ValueError, match="no similar pair"):
        GMML().fit(X[:3], [0, 1, 2])
    for prior in (np.eye(3), -np.eye(4), np.triu(np.ones((4, 4)))):
        with pytest.raises(ValueError, match="prior is a symmetric 4 × 4 matrix"):
            GMML(prior=prior).fit(X, y)

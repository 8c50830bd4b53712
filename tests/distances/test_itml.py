import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rarefind.distances import ITML
from rarefind.distances._itml import draw_pairs, project


def algorithm_1(gaps, similar, u, low, gamma, passes):
    """The paper's Algorithm 1 as printed, but for the step, derived again (see the class)."""
    matrix = np.eye(gaps.shape[1])
    dual = np.zeros(len(gaps))
    xi = np.where(similar, u, low).astype(float)
    for _ in range(passes):
        for i, gap in enumerate(gaps):
            p = gap @ matrix @ gap
            delta = 1 if similar[i] else -1
            alpha = min(dual[i], delta * gamma / (gamma + 1) * (1 / p - 1 / xi[i]))
            beta = delta * alpha / (1 - delta * alpha * p)
            xi[i] = gamma * xi[i] / (gamma + delta * alpha * xi[i])
            dual[i] -= alpha
            image = matrix @ gap
            matrix = matrix + beta * np.outer(image, image)
    return matrix


@st.composite
def constraints(draw):
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**31 - 1))
    gaps = np.random.default_rng(seed).normal(size=(n, d))
    return gaps, np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))


@given(constraints(), st.sampled_from([0.01, 0.5, 1.0, 10.0]), st.integers(1, 30))
@settings(max_examples=60)
def test_the_projections_are_algorithm_1(drawn, gamma, passes):
    gaps, similar = drawn
    found, done, _ = project(gaps, similar, (0.5, 3.0), 1 / gamma, passes, -1.0)
    expected = algorithm_1(gaps, similar, 0.5, 3.0, gamma, passes)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    assert done <= passes
    assert np.linalg.eigvalsh(found)[0] > 0, "positive definite"


def test_hard_bounds_that_can_be_kept_are_kept():
    gaps, similar = np.eye(3), np.array([True, False, True])
    found, _, converged = project(gaps, similar, (0.25, 4.0), 0.0, 1000, 1e-6)
    assert converged
    np.testing.assert_allclose(found, np.diag([0.25, 4.0, 0.25]), rtol=1e-6)


def test_of_the_matrices_within_the_bounds_it_is_the_nearest_in_logdet():
    rng = np.random.default_rng(0)
    gaps, similar = rng.normal(size=(4, 2)), np.array([True, False, True, False])
    u, low = 2.0, 1.0
    found, _, converged = project(gaps, similar, (u, low), 0.0, 10_000, 1e-9)
    assert converged

    def divergence(matrix):
        return np.trace(matrix) - np.linalg.slogdet(matrix)[1]

    def allowed(matrix):
        p = np.einsum("ij,jk,ik->i", gaps, matrix, gaps)
        return (p[similar] <= u + 1e-6).all() and (p[~similar] >= low - 1e-6).all()

    assert allowed(found)
    for _ in range(3000):
        step = rng.normal(size=(2, 2)) * rng.choice([0.3, 0.03, 0.003])
        other = found + step + step.T
        if np.linalg.eigvalsh(other)[0] > 0 and allowed(other):
            assert divergence(other) >= divergence(found) - 1e-4


@given(st.lists(st.integers(0, 3), min_size=3, max_size=30), st.integers(0, 2**31 - 1))
def test_drawn_pairs_are_of_their_kind(labels, seed):
    labels[0], labels[1] = 0, 1
    codes = np.unique(labels, return_inverse=True)[1]
    pairs = draw_pairs(codes, 40, 60, np.random.RandomState(seed))
    same = codes[pairs.first] == codes[pairs.second]
    np.testing.assert_array_equal(same, pairs.similar)
    assert (pairs.first != pairs.second).all()
    assert (~pairs.similar).sum() == 60
    assert pairs.similar.sum() == (40 if np.bincount(codes).max() > 1 else 0)


def test_all_pairs_are_drawn_equally_often():
    codes = np.array([0, 1, 0, 0, 1, 2])
    pairs = draw_pairs(codes, 40_000, 60_000, np.random.RandomState(0))
    counts = np.zeros((6, 6))
    np.add.at(counts, (pairs.first, pairs.second), 1)
    counts += counts.T
    same = codes[:, None] == codes[None]
    for kind, pairs_of_kind in ((same & ~np.eye(6, dtype=bool), 4), (~same, 11)):
        share = counts[kind] / counts[kind].sum()
        np.testing.assert_allclose(share, 1 / (2 * pairs_of_kind), rtol=0.05)


def test_bounds_are_percentiles_of_the_squared_distance():
    X = np.array([[0.0], [1.0], [3.0]])
    model = ITML(percentiles=(0, 100), random_state=0).fit(X, [0, 0, 1])
    assert model.bounds_ == (1.0, 9.0)
    many = np.random.default_rng(0).normal(size=(2000, 3))
    model = ITML(random_state=0).fit(many, many[:, 0] > 0)
    squared = ((many[:1000, None] - many[None, 1000:]) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.bounds_, np.percentile(squared, [5, 95]), rtol=0.05)


def test_what_separates_gains_weight():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([3 * y + 0.3 * rng.normal(size=200), rng.normal(size=(200, 3))])
    matrix = ITML(n_constraints=400, random_state=0).fit(X, y).get_mahalanobis_matrix()
    assert np.diag(matrix).argmax() == 0


def test_errors_and_warnings_tell_what_to_do():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes"):
        ITML(max_iter=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="two numbers that rise"):
        ITML(percentiles=(95, 5)).fit(X, y)
    with pytest.raises(ValueError, match="All rows of X are equal"):
        ITML().fit(np.ones((4, 2)), [0, 1, 0, 1])
    # Hard bounds that no matrix keeps: still a matrix.
    with pytest.warns(ConvergenceWarning):
        model = ITML(gamma=np.inf, max_iter=50, random_state=0).fit(X, y)
    assert np.isfinite(model.components_).all()

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import LinearConstraint, minimize

from rarefind.distances._few_positives import TripletProblem

whole = st.integers(-3, 3).map(float)


def table(low, high):
    return arrays(float, st.tuples(st.integers(low, high), st.just(2)), elements=whole)


def naive(positives, negatives, matrix, mu, c):
    """(3.1) over α², triplet by triplet."""
    p, n = len(positives), len(negatives)
    m, alpha = p + n, p / (p + n)

    def learned(a, b):
        return (a - b) @ matrix @ (a - b)

    def plain(a, b):
        return (a - b) @ (a - b)

    fn = sum(
        max(0.0, 1 - c + learned(i, j) - plain(i, k))
        for i in positives
        for j in positives
        for k in negatives
    )
    fp = sum(
        max(0.0, 1 - c + plain(i, j) - learned(i, k))
        for i in negatives
        for j in negatives
        for k in positives
    )
    away = ((matrix - np.eye(len(matrix))) ** 2).sum()
    return ((1 - alpha) * fn + alpha * fp) / m**3 / alpha**2 + mu * away


@given(table(1, 4), table(1, 6), arrays(float, (2, 2), elements=whole), st.floats(0, 1))
@settings(max_examples=50)
def test_the_objective_is_the_sum_over_all_triplets(positives, negatives, root, c):
    matrix = root @ root.T / 9
    problem = TripletProblem(positives, negatives)
    found, _ = problem.objective(matrix, 0.3, c)
    assert found == pytest.approx(naive(positives, negatives, matrix, 0.3, c), rel=1e-9, abs=1e-9)
    diagonal = np.diag(matrix)
    found, _ = problem.objective(diagonal, 0.3, c)
    expected = naive(positives, negatives, np.diag(diagonal), 0.3, c)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("bend", [0.05, 1.0])
@pytest.mark.parametrize("ndim", [1, 2])
def test_the_gradient_is_that_of_finite_differences(ndim, bend):
    rng = np.random.default_rng(0)
    problem = TripletProblem(rng.normal(size=(6, 3)) + 1, rng.normal(size=(40, 3)))
    root = rng.normal(size=(3, 3)) / 2
    matrix = root @ root.T if ndim == 2 else rng.uniform(0.1, 0.9, 3)
    _, gradient = problem.objective(matrix, 0.2, 0.4, bend)
    for at in np.ndindex(matrix.shape):
        step = np.zeros_like(matrix)
        step[at] += 1e-6
        if ndim == 2:
            step[at[::-1]] = 1e-6  # M stays symmetric
        ahead = problem.objective(matrix + step, 0.2, 0.4, bend)[0]
        behind = problem.objective(matrix - step, 0.2, 0.4, bend)[0]
        expected = (gradient * step).sum() / 1e-6
        assert (ahead - behind) / 2e-6 == pytest.approx(expected, rel=1e-5, abs=1e-7)


def by_a_generic_solver(positives, negatives, mu, c, most):
    """The diagonal problem with a slack variable a triplet, by SLSQP."""
    p, n, d = len(positives), len(negatives), positives.shape[1]
    m, alpha = p + n, p / (p + n)
    rows, constants, weights = [], [], []
    for i in positives:
        for j in positives:
            for k in negatives:
                rows.append((i - j) ** 2)
                constants.append(1 - c - ((i - k) ** 2).sum())
                weights.append((1 - alpha) / m**3 / alpha**2)
    for i in negatives:
        for j in negatives:
            for k in positives:
                rows.append(-((i - k) ** 2))
                constants.append(1 - c + ((i - j) ** 2).sum())
                weights.append(alpha / m**3 / alpha**2)
    rows, constants, weights = map(np.array, (rows, constants, weights))
    start = np.concatenate([np.ones(d), np.maximum(rows.sum(axis=1) + constants, 0)])
    found = minimize(
        lambda v: weights @ v[d:] + mu * ((v[:d] - 1) ** 2).sum(),
        start,
        jac=lambda v: np.concatenate([2 * mu * (v[:d] - 1), weights]),
        bounds=[(0, most)] * d + [(0, None)] * len(rows),
        constraints=LinearConstraint(np.hstack([-rows, np.eye(len(rows))]), constants, np.inf),
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return found.x[:d], found.fun


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("constraint", [True, False])
def test_the_optimum_is_that_of_a_generic_convex_solver(seed, constraint):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.normal(size=(3, 2)) + 0.5, rng.normal(size=(4, 2))
    mu, c = 0.05, 0.3
    problem = TripletProblem(positives, negatives)
    found = problem.solve(mu, c, full=False, constraint=constraint, tol=1e-9)
    most = 1.0 if constraint else None
    matrix, value = by_a_generic_solver(positives, negatives, mu, c, most)
    assert found.converged
    assert found.objective == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(found.matrix, matrix, atol=1e-4)


@pytest.mark.parametrize("full", [False, True])
def test_the_optimum_does_not_depend_on_the_start(full):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), np.arange(120) < 12
    X[y] = X[y] * [0.2, 1, 1.5, 1] + [0, 1, 0, 0]
    problem = TripletProblem(X[y], X[~y])
    root = rng.normal(size=(4, 4))
    starts = [None, root @ root.T if full else rng.uniform(0, 1, 4)]
    one, other = (
        problem.solve(0.05, 0.5, full=full, constraint=True, start=start) for start in starts
    )
    assert one.converged
    assert other.converged
    assert other.objective == pytest.approx(one.objective, rel=1e-6)
    np.testing.assert_allclose(other.matrix, one.matrix, atol=1e-3)


def test_a_full_matrix_is_never_worse_than_a_diagonal_one_and_keeps_its_eigenvalues():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 3)), np.arange(100) < 10
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    problem = TripletProblem(X[y], X[~y])
    diagonal = problem.solve(0.01, 0.5, full=False, constraint=True)
    full = problem.solve(0.01, 0.5, full=True, constraint=True)
    assert full.objective <= diagonal.objective + 1e-9
    eigenvalues = np.linalg.eigvalsh(full.matrix)
    assert eigenvalues.min() >= -1e-9
    assert eigenvalues.max() <= 1 + 1e-9


def test_rows_that_stand_for_several_count_as_several():
    rng = np.random.default_rng(2)
    positives, negatives = rng.normal(size=(4, 2)), rng.normal(size=(7, 2))
    copies = TripletProblem(np.repeat(positives, 2, axis=0), np.repeat(negatives, 3, axis=0))
    weighted = TripletProblem(positives, negatives, positives_each=2, negatives_each=3)
    matrix = np.array([0.4, 0.9])
    assert weighted.size == copies.size
    assert weighted.share == copies.share
    for one, other in zip(
        weighted.objective(matrix, 0.1, 0.5, 0.3),
        copies.objective(matrix, 0.1, 0.5, 0.3),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_too_few_steps_are_not_called_converged():
    rng = np.random.default_rng(3)
    problem = TripletProblem(rng.normal(size=(5, 3)), 2 * rng.normal(size=(50, 3)))
    for full in (False, True):
        found = problem.solve(1e-3, 0.5, full=full, constraint=True, max_iter=2)
        assert not found.converged
        assert found.n_iter <= 2


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("full", [False, True])
def test_the_unit_of_the_columns_does_not_stop_the_solver(scale, full):
    """Without its margin the problem is the same in all units, but for that of mu."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 3)), np.arange(80) < 10
    plain = TripletProblem(X[y], X[~y]).solve(0.1, 1.0, full=full, constraint=True)
    other = TripletProblem(X[y] * scale, X[~y] * scale).solve(
        0.1 * scale**2, 1.0, full=full, constraint=True
    )
    assert plain.converged
    assert other.converged
    np.testing.assert_allclose(other.matrix, plain.matrix, atol=1e-3)

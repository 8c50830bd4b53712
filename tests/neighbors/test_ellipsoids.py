import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from rarefind.neighbors.ellipsoids import (
    EllipsoidRows,
    Setting,
    excluding_ellipsoids,
    solve,
)


def primal(radius, matrix, offsets, n, bound, mu, lam):
    """Problem (2) as printed, its slacks at their best."""
    depth = radius - np.einsum("ij,jk,ik->i", offsets, matrix, offsets)
    shape = ((matrix - np.eye(len(matrix))) ** 2).sum()
    return np.maximum(depth, 0).sum() / n + mu * (bound - radius) ** 2 + lam * shape


def dual(alpha, offsets, bound, mu, lam):
    """The dual and its gradient, for all negatives, near and far."""
    total = alpha.sum()
    shape = np.einsum("i,ij,ik->jk", alpha, offsets, offsets) / (2 * lam)
    first = bound * total - total**2 / (4 * mu) if total <= 2 * mu * bound else mu * bound * bound
    value = first - lam * (shape**2).sum() - alpha @ (offsets**2).sum(axis=1)
    radius = np.clip(bound - total / (2 * mu), 0, bound)
    matrix = np.eye(offsets.shape[1]) + shape
    return value, radius - np.einsum("ij,jk,ik->i", offsets, matrix, offsets)


def by_scipy(offsets, bound, mu, lam):
    """Radius and matrix by a general solver, on the dual of all negatives, scaled to size 1."""
    n = len(offsets)
    scale = max(abs(dual(np.full(n, 0.5 / n), offsets, bound, mu, lam)[0]), 1e-3 * bound)

    def objective(share):
        value, slope = dual(share / n, offsets, bound, mu, lam)
        return -value / scale, -slope / n / scale

    share, box = np.full(n, 0.5), [(0, 1)] * n
    # The first comes near fast, the second then gets all digits.
    for method, options in (
        ("L-BFGS-B", {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20_000, "maxfun": 100_000}),
        ("SLSQP", {"ftol": 1e-18, "maxiter": 2000}),
    ):
        share = minimize(objective, share, jac=True, method=method, bounds=box, options=options).x
    alpha = share / n
    shape = np.einsum("i,ij,ik->jk", alpha, offsets, offsets) / (2 * lam)
    radius = np.clip(bound - alpha.sum() / (2 * mu), 0, bound)
    return radius, np.eye(offsets.shape[1]) + shape


def ours(offsets, bound, mu, lam, tol=1e-12, max_iter=5000):
    near = offsets[(offsets**2).sum(axis=1) < bound]
    alpha = np.zeros(len(near))
    found = solve(np.ascontiguousarray(near), len(offsets), bound, mu, lam, alpha, tol, max_iter)
    return (*found, alpha)


@st.composite
def problems(draw):
    """A centre among few negatives, some of them copies of each other or of the centre."""
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    n, d = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    offsets = rng.normal(size=(n, d))
    if draw(st.booleans()):
        offsets = np.round(2 * offsets) / 2
    if draw(st.booleans()):
        offsets[0] = 0
    squared = (offsets**2).sum(axis=1)
    bound = float(np.quantile(squared, draw(st.sampled_from([0.3, 0.6, 1.0]))) + 0.01)
    mu = draw(st.sampled_from([0.02, 0.2, 1.0, 10.0]))
    lam = draw(st.sampled_from([0.003, 0.05, 1.0, 100.0]))
    return offsets, bound, mu, lam


@given(problems())
@settings(max_examples=60, deadline=None)
def test_a_general_solver_agrees(problem):
    offsets, bound, mu, lam = problem
    n = len(offsets)
    radius, matrix, loss, gap, _, alpha = ours(*problem)
    assert gap <= 1e-12
    peer_radius, peer_matrix = by_scipy(*problem)
    value = primal(radius, matrix, offsets, n, bound, mu, lam)
    peer_value = primal(peer_radius, peer_matrix, offsets, n, bound, mu, lam)
    assert value <= peer_value + 1e-6 * max(peer_value, 1e-9)
    full = np.zeros(n)
    full[(offsets**2).sum(axis=1) < bound] = alpha
    # The dual value of the multipliers proves that no solution is better.
    assert dual(full, offsets, bound, mu, lam)[0] == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert radius == pytest.approx(peer_radius, abs=1e-6 * max(1, bound))
    np.testing.assert_allclose(matrix, peer_matrix, atol=1e-6 * np.abs(peer_matrix).max())
    assert loss == pytest.approx(
        np.maximum(radius - np.einsum("ij,jk,ik->i", offsets, matrix, offsets), 0).mean()
    )


@given(problems())
@settings(max_examples=25, deadline=None)
def test_no_step_in_any_direction_lowers_the_primal(problem):
    offsets, bound, mu, lam = problem
    n, d = offsets.shape
    radius, matrix = ours(*problem)[:2]
    value = primal(radius, matrix, offsets, n, bound, mu, lam)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            other_radius = np.clip(radius + size * bound * rng.normal(), 0, bound)
            turn = size * rng.normal(size=(d, d))
            other = primal(other_radius, matrix + turn + turn.T, offsets, n, bound, mu, lam)
            assert other >= value * (1 - 1e-9)


@pytest.mark.parametrize(("n", "d"), [(3000, 8), (1500, 50)])
@pytest.mark.parametrize("quantile", [0.02, 0.5])
@pytest.mark.parametrize("mu", [0.01, 1.0])
@pytest.mark.parametrize("lam", [1e-6, 1e-3, 1.0])
def test_larger_problems_meet_the_conditions_of_the_optimum(n, d, quantile, mu, lam):
    offsets = np.random.default_rng(d).normal(size=(n, d))
    squared = (offsets**2).sum(axis=1)
    bound = float(np.quantile(squared, quantile))
    mu, lam = mu / bound, lam * bound
    radius, matrix, _, gap, looks, alpha = ours(offsets, bound, mu, lam, 1e-9, 1000)
    assert gap <= 1e-9
    assert looks < 300
    full = np.zeros(n)
    full[squared < bound] = alpha
    value, slope = dual(full, offsets, bound, mu, lam)
    best = primal(radius, matrix, offsets, n, bound, mu, lam)
    assert value == pytest.approx(best, rel=1e-8)
    assert 0 <= radius <= bound
    assert np.linalg.eigvalsh(matrix).min() >= 1 - 1e-9
    near_zero = 1e-3 * bound
    assert (slope[full == 0] < near_zero).all()
    assert (slope[full >= 1 / n] > -near_zero).all()
    assert np.abs(slope[(full > 0) & (full < 1 / n)]).max(initial=0) < near_zero


def test_a_heavy_price_of_shape_leaves_balls():
    offsets = np.random.default_rng(0).normal(size=(200, 3))
    _, matrix, *_ = ours(offsets, 2.0, 1.0, 1e9)
    np.testing.assert_allclose(matrix, np.eye(3), atol=1e-6)


def test_without_near_negatives_it_is_the_largest_ball():
    radius, matrix, loss, gap, looks, _ = ours(np.full((5, 2), 3.0), 4.0, 1.0, 1.0)
    assert (radius, loss, gap, looks) == (4.0, 0.0, 0.0, 1)
    np.testing.assert_array_equal(matrix, np.eye(2))


def test_turning_the_table_turns_the_ellipsoid():
    rng = np.random.default_rng(1)
    offsets = rng.normal(size=(300, 4)) * [1, 2, 0.5, 1]
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    radius, matrix, *_ = ours(offsets, 2.0, 0.5, 0.01)
    turned_radius, turned, *_ = ours(offsets @ turn.T, 2.0, 0.5, 0.01)
    assert turned_radius == pytest.approx(radius)
    np.testing.assert_allclose(turned, turn @ matrix @ turn.T, atol=1e-5)


@given(problems(), st.floats(0.1, 10))
@settings(max_examples=25, deadline=None)
def test_the_unit_of_distance_changes_the_radius_only(problem, unit):
    """B·s², μ/s² and λ·s² make the same problem, s² times as large."""
    offsets, bound, mu, lam = problem
    radius, matrix, loss, *_ = ours(*problem)
    scaled = ours(offsets * unit, bound * unit**2, mu / unit**2, lam * unit**2)
    assert scaled[0] == pytest.approx(radius * unit**2, rel=1e-6, abs=1e-6 * bound * unit**2)
    np.testing.assert_allclose(scaled[1], matrix, atol=1e-5 * np.abs(matrix).max())
    assert scaled[2] == pytest.approx(loss * unit**2, rel=1e-5, abs=1e-7 * bound * unit**2)


def test_one_column_scaled_alone_gives_another_ellipsoid():
    """The price of shape is measured from the identity, which such a change does not keep."""
    offsets = np.random.default_rng(1).normal(size=(300, 2))
    stretch = np.array([3.0, 1.0])
    radius, matrix, *_ = ours(offsets, 1.0, 1.0, 0.01)
    stretched_radius, stretched, *_ = ours(offsets * stretch, 1.0, 1.0, 0.01)
    assert abs(stretched_radius - radius) > 1e-4
    assert np.abs(stretched * np.outer(stretch, stretch) - matrix).max() > 0.1


def test_far_negatives_only_count():
    rng = np.random.default_rng(2)
    near, far = rng.uniform(-0.5, 0.5, size=(50, 2)), rng.normal(size=(150, 2)) + 10
    offsets = np.vstack([near, far])
    screened = ours(offsets, 0.6, 1.0, 0.01)
    alpha = np.zeros(200)
    whole = solve(offsets, 200, 0.6, 1.0, 0.01, alpha, 1e-12, 5000)
    assert not alpha[50:].any()
    assert whole[0] == pytest.approx(screened[0])
    np.testing.assert_allclose(whole[1], screened[1], rtol=1e-6)


def table(seed=0, n=120, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[-10:] = X[:10]  # copies, of either class
    positive = rng.random(n) < 0.15
    positive[[0, 1]] = True, False
    return EllipsoidRows(X, np.flatnonzero(positive), np.flatnonzero(~positive))


SETTINGS = [Setting(q, 1.0, lam) for q in (0.01, 0.1, 0.5) for lam in (1.0, 1e-2, 1e-4)]


def test_an_ellipsoid_is_the_solution_of_its_setting_wherever_it_starts():
    rows = table()
    for row in rows.positives[:4]:
        warm = excluding_ellipsoids(rows, int(row), SETTINGS, 1e-12, 5000)
        for setting, found in zip(SETTINGS, warm, strict=True):
            offsets = rows.X[rows.negatives] - rows.X[row]
            squared = np.sort((offsets**2).sum(axis=1))
            bound = np.quantile(squared, setting.quantile, method="inverted_cdf")
            assert found.max_radius == pytest.approx(bound)
            unit = bound or 1.0
            alone = ours(offsets, found.max_radius, 1.0 / unit, setting.lam * unit)
            assert found.radius == pytest.approx(alone[0], rel=1e-6)
            np.testing.assert_allclose(found.matrix, alone[1], rtol=1e-5, atol=1e-5)
            assert found.loss == pytest.approx(alone[2], rel=1e-5, abs=1e-9)


def test_rows_inside_are_listed():
    rows = table()
    row = int(rows.positives[2])
    for found in excluding_ellipsoids(rows, row, SETTINGS, 1e-12, 5000):
        offset = rows.X - found.centre
        depth = found.radius - np.einsum("ij,jk,ik->i", offset, found.matrix, offset)
        close = 1e-5 * max(found.radius, 1e-9)
        for listed, candidates in (
            (found.positives, rows.positives),
            (found.negatives, rows.negatives),
        ):
            assert set(candidates[depth[candidates] > close]) <= set(listed)
            assert set(listed) <= set(candidates[depth[candidates] >= -close])
        assert row in found.positives


def test_axes_and_lengths_make_the_matrix_again():
    rows = table()
    (found,) = excluding_ellipsoids(rows, int(rows.positives[0]), [SETTINGS[4]], 1e-9, 1000)
    eigenvalues = found.radius / found.lengths**2
    np.testing.assert_allclose((found.axes.T * eigenvalues) @ found.axes, found.matrix, atol=1e-9)
    assert (np.diff(found.lengths) <= 1e-12).all()
    tips = found.centre + found.axes * found.lengths[:, None]
    np.testing.assert_allclose(found.squared_distances(tips), found.radius)


def naive_score(x, ellipsoid, X):
    """The smaller of two ratios, by their definition; distances are not 0 here."""

    def squared(z):
        return (x - z) @ ellipsoid.matrix @ (x - z)

    to_positive = min(squared(X[i]) for i in ellipsoid.positives)
    to_negative = min((squared(X[i]) for i in ellipsoid.negatives), default=np.inf)
    return min(ellipsoid.radius / squared(ellipsoid.centre), to_negative / to_positive)


def test_scores_are_the_smaller_of_two_ratios():
    rows = table()
    queries = np.random.default_rng(5).normal(size=(60, 3))
    every = np.arange(60)
    for row in rows.positives[:3]:
        for found in excluding_ellipsoids(rows, int(row), SETTINGS, 1e-9, 1000):
            expected = np.array([naive_score(x, found, rows.X) for x in queries])
            score = found.score(rows.X, queries, every, np.zeros(60))
            np.testing.assert_allclose(score, expected, rtol=1e-9)
            floor = np.where(every % 2 == 0, expected * 1.01, expected * 0.99)
            kept = np.maximum(found.score(rows.X, queries, every, floor), floor)
            np.testing.assert_allclose(kept, np.maximum(expected, floor), rtol=1e-9)


def test_scores_are_finite_and_in_order_where_distances_are_0():
    X = np.array([[0.0], [0.0], [3.0], [5.0]])
    rows = EllipsoidRows(X, np.array([0]), np.array([1, 2, 3]))
    (shut,) = excluding_ellipsoids(rows, 0, [Setting(0.1, 1.0, 1.0)], 1e-9, 1000)
    assert shut.radius == shut.max_radius == 0
    assert shut.negatives.tolist() == [1]
    at = np.arange(2)
    copy, other = shut.score(X, np.array([[0.0], [0.1]]), at, np.zeros(2))
    assert copy == 1, "a copy of one row of each class"
    assert other == 0
    rows = EllipsoidRows(X, np.array([0, 1]), np.array([2, 3]))
    (open_,) = excluding_ellipsoids(rows, 0, [Setting(1.0, 1.0, 1.0)], 1e-9, 1000)
    copy, near = open_.score(X, np.array([[0.0], [0.1]]), at, np.zeros(2))
    assert copy > near > 1
    assert np.isfinite(copy)

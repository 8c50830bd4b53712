import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from rarefind.distances import ImbML
from rarefind.distances._imbml import ImbMLLoss, near_pairs, random_pairs


@st.composite
def tables(draw):
    n, d = draw(st.integers(4, 12)), draw(st.integers(1, 3))
    cells = st.lists(st.integers(-3, 3), min_size=n * d, max_size=n * d)
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[:2] = True, False
    return np.array(draw(cells), dtype=float).reshape(n, d), positive


def naive_loss(X, positive, components, margin, lam, a):
    """The objective as written, pair by pair, all pairs."""
    matrix = components.T @ components
    kinds = {"sim+": [], "sim-": [], "dis": []}
    for i in range(len(X)):
        for j in range(i):
            squared = (X[i] - X[j]) @ matrix @ (X[i] - X[j])
            if positive[i] != positive[j]:
                kinds["dis"].append(max(0.0, 1 + margin - squared))
            else:
                kinds["sim+" if positive[i] else "sim-"].append(max(0.0, squared - 1))
    total = lam * ((matrix - np.eye(len(matrix))) ** 2).sum()
    # Each pair of both classes has a positive anchor once and a negative one once.
    for kind, weight in (("sim+", a), ("sim-", 1 - a), ("dis", a), ("dis", 1 - a)):
        if kinds[kind]:
            total += weight * np.mean(kinds[kind])
    return total


def loss_of(X, positive, margin=1.0, lam=0.01, a=0.5, n_neighbors=None, **options):
    model = ImbML(margin, lam, a, n_neighbors=n_neighbors, **options)
    return ImbMLLoss(X, model._kinds(X, positive, np.random.RandomState(0)), margin, lam)


@given(tables(), st.floats(0, 1), st.sampled_from([0.0, 1.0, 10.0]), st.sampled_from([0.0, 0.1]))
@settings(max_examples=60)
def test_the_loss_is_that_of_the_pairs(table, a, margin, lam):
    X, positive = table
    components = np.random.default_rng(0).normal(size=(X.shape[1],) * 2)
    value, _ = loss_of(X, positive, margin, lam, a)(components)
    expected = naive_loss(X, positive, components, margin, lam, a)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(tables(), st.sampled_from([None, 1, 2]), st.integers(0, 2**31 - 1))
@settings(max_examples=40)
def test_the_gradient_is_that_of_finite_differences(table, n_neighbors, seed):
    X, positive = table
    rng = np.random.default_rng(seed)
    X = X + 0.1 * rng.normal(size=X.shape)
    loss = loss_of(X, positive, 3.0, 0.1, 0.3, n_neighbors=n_neighbors)
    shape = (X.shape[1],) * 2
    at = rng.normal(size=shape)
    error = check_grad(
        lambda flat: loss(flat.reshape(shape))[0],
        lambda flat: loss(flat.reshape(shape))[1].ravel(),
        at.ravel(),
        epsilon=1e-7,
    )
    assert error <= 1e-4 * (1 + np.abs(loss(at)[1]).sum())


def test_pairs_of_neighbours():
    X = np.array([[0.0], [1.0], [1.5], [5.0], [5.2]])
    rows, others = np.array([0, 1, 2]), np.array([3, 4])
    first, second = near_pairs(X, rows, rows, 1)
    assert list(zip(first, second, strict=True)) == [(0, 1), (1, 2), (2, 1)]
    first, second = near_pairs(X, rows, others, 1)
    assert list(zip(first, second, strict=True)) == [(0, 3), (1, 3), (2, 3)]
    assert near_pairs(X, np.array([0]), np.array([0]), 2)[0].size == 1
    alone = np.array([0])
    assert near_pairs(X, alone, alone, 2)[0].size == 0


def test_drawn_pairs_stand_for_all():
    rng = np.random.RandomState(0)
    rows, others = np.arange(300), np.arange(300, 400)
    first, second = random_pairs(rows, rows, 5000, rng)
    assert first.size == 5000
    assert (first != second).all()
    first, second = random_pairs(rows, others, 5000, rng)
    assert set(second) <= set(others)
    X = np.random.default_rng(0).normal(size=(400, 3))
    positive = np.arange(400) >= 300
    whole, _ = loss_of(X, positive)(np.eye(3))
    part, _ = loss_of(X, positive, max_pairs=5000)(np.eye(3))
    assert part == pytest.approx(whole, rel=0.05)


def test_the_fit_ends_where_the_loss_is_flat_in_every_direction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.arange(80) % 8 == 0
    X[y] += 1
    model = ImbML(lam=0.1, tol=1e-10, n_neighbors=None).fit(X, y)
    loss = loss_of(X - X.mean(axis=0), y, lam=0.1)
    assert model.loss_ == pytest.approx(loss(model.components_)[0])
    assert model.loss_ < loss(np.eye(3))[0]
    for _ in range(200):  # M is found: the problem is convex in it
        step = 0.01 * rng.normal(size=(3, 3))
        assert loss(model.components_ + step)[0] >= model.loss_ - 1e-6


def test_the_positive_label_decides_whose_pairs_weigh_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * [[1.0, 1.0]]
    y = np.array(["no", "yes"])[(np.arange(60) % 5 == 0).astype(int)]
    X[y == "yes", 0] *= 4  # positives spread along one axis, negatives along the other
    X[y == "no", 1] *= 4
    for pos_label, axis in ((None, 0), ("yes", 0), ("no", 1)):
        model = ImbML(a=0.95, n_neighbors=None, pos_label=pos_label).fit(X, y)
        assert model.pos_label_ == (pos_label or "yes")
        assert np.diag(model.get_mahalanobis_matrix()).argmin() == axis


def test_much_regularisation_gives_the_identity():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = ImbML(lam=1e4).fit(X, np.arange(40) < 8)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.eye(3), atol=1e-2)


def test_errors_and_warnings_tell_what_to_do():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="y holds 3 classes"):
        ImbML().fit(X, np.arange(40) % 3)
    with pytest.raises(ValueError, match="pos_label='x' is not among the labels"):
        ImbML(pos_label="x").fit(X, np.arange(40) % 2)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        ImbML(max_iter=1).fit(X, np.arange(40) % 2)

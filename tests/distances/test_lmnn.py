import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from rarefind.distances import LMNN, _impostors
from rarefind.distances._impostors import Impostors, squared_below, target_distances, within
from rarefind.distances._lmnn import LMNNLoss, best_scale, draw_anchors, target_neighbors


@st.composite
def tables(draw, spread=3):
    """Small tables with ties, copies, and classes of one row."""
    n, d = draw(st.integers(4, 12)), draw(st.integers(1, 6))
    cells = st.lists(st.integers(-spread, spread), min_size=n * d, max_size=n * d)
    X = np.array(draw(cells), dtype=float).reshape(n, d) / 2
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    codes[:3] = 0, 0, 1
    return X, np.unique(codes, return_inverse=True)[1]


def naive_targets(X, codes, k):
    found = []
    for i in range(len(X)):
        mates = [j for j in range(len(X)) if j != i and codes[j] == codes[i]]
        found.append(sorted(((X[i] - X[j]) ** 2).sum() for j in mates)[:k])
    return found


def naive_loss(X, codes, targets, mu, components):
    """Equation 14 of the paper, triplet by triplet."""

    def squared(i, j):
        gap = components @ (X[i] - X[j])
        return gap @ gap

    total = 0.0
    for i in range(len(X)):
        for j in targets[i]:
            if j < 0:
                continue
            total += (1 - mu) * squared(i, j)
            for other in range(len(X)):
                if codes[other] != codes[i]:
                    total += mu * max(0.0, 1 + squared(i, j) - squared(i, other))
    return total


def exact_loss(X, codes, k, mu):
    anchors, weight = draw_anchors(codes, 10**6, None)
    targets = target_neighbors(X, codes, anchors, k)
    of_all = np.full((len(X), k), -1)
    of_all[anchors] = targets
    return LMNNLoss(X - X.mean(axis=0), codes, anchors, weight, targets, mu), of_all


@given(tables(), st.integers(1, 4))
@settings(max_examples=40)
def test_targets_are_the_nearest_of_the_class(table, k):
    X, codes = table
    _, targets = exact_loss(X, codes, k, 0.5)
    for i, expected in enumerate(naive_targets(X, codes, k)):
        there = targets[i][targets[i] >= 0]
        assert i not in there
        assert (codes[there] == codes[i]).all()
        np.testing.assert_allclose(((X[there] - X[i]) ** 2).sum(axis=1), expected)


@given(tables(), st.integers(1, 3), st.floats(0, 1), st.integers(0, 2**31 - 1))
@settings(max_examples=40)
def test_the_loss_is_that_of_the_triplets_however_the_map_moves(table, k, mu, seed):
    X, codes = table
    loss, targets = exact_loss(X, codes, k, mu)
    rng = np.random.default_rng(seed)
    components = rng.normal(size=(X.shape[1], X.shape[1]))
    for size in (0.0, 0.001, 0.01, 0.1, 1.0, 0.01):  # small steps use the pairs found before
        components = components + size * rng.normal(size=components.shape)
        value, _ = loss(components)
        assert value == pytest.approx(naive_loss(X, codes, targets, mu, components), abs=1e-9)


@given(tables(), st.floats(0, 1), st.integers(0, 2**31 - 1), st.booleans())
@settings(max_examples=40)
def test_the_gradient_is_that_of_finite_differences(table, mu, seed, narrow):
    X, codes = table
    rng = np.random.default_rng(seed)
    X = X + 0.1 * rng.normal(size=X.shape)  # away from the kinks of ties
    loss, _ = exact_loss(X, codes, 2, mu)
    shape = (1 if narrow else X.shape[1], X.shape[1])
    at = rng.normal(size=shape)
    error = check_grad(
        lambda flat: loss(flat.reshape(shape))[0],
        lambda flat: loss(flat.reshape(shape))[1].ravel(),
        at.ravel(),
        epsilon=1e-7,
    )
    assert error <= 1e-4 * (1 + np.abs(loss(at)[1]).sum())


def test_few_searches_serve_many_small_steps():
    X, y = make_classification(300, 6, random_state=0)
    loss, _ = exact_loss(X, y, 3, 0.5)
    components = np.eye(6)
    for _ in range(20):
        components = components * 1.001
        loss(components)
    assert loss.impostors.n_searches == 1


def test_pairs_too_many_to_keep_are_found_again_each_time(monkeypatch):
    X, y = make_classification(100, 4, random_state=0)
    kept, _ = exact_loss(X, y, 3, 0.5)
    expected = kept(np.eye(4))
    monkeypatch.setattr(_impostors, "_MOST_PAIRS", 5)
    monkeypatch.setattr(_impostors, "_BLOCK_CELLS", 500)
    streamed, _ = exact_loss(X, y, 3, 0.5)
    for _ in range(2):
        value, slope = streamed(np.eye(4))
        assert value == pytest.approx(expected[0])
        np.testing.assert_allclose(slope, expected[1])
    assert streamed.impostors.n_searches == 2


def test_the_loss_does_not_depend_on_the_number_of_cores(monkeypatch):
    monkeypatch.setattr(_impostors, "_BLOCK_CELLS", 500)
    X, y = make_classification(200, 4, random_state=0)
    anchors, weight = draw_anchors(y, 200, None)
    targets = target_neighbors(X, y, anchors, 3)
    losses = [LMNNLoss(X, y, anchors, weight, targets, 0.5, n_jobs) for n_jobs in (1, 2)]
    for scale in (1.0, 1.001):  # found again, then from the pairs kept
        (one, slope), (two, other) = (loss(scale * np.eye(4)) for loss in losses)
        assert one == two
        np.testing.assert_array_equal(slope, other)
    assert [loss.impostors.n_searches for loss in losses] == [1, 1]


def test_the_compiled_distances_and_their_slow_twins():
    rng = np.random.default_rng(0)
    for d in (1, 3, 4, 7, 8):
        placed = rng.normal(size=(9, d))
        squared = ((placed[:, None] - placed[None]) ** 2).sum(axis=2)
        assert squared_below(placed, 2, 5, np.inf) == pytest.approx(squared[2, 5])
        assert squared_below(placed, 2, 5, squared[2, 5] / 2) >= squared[2, 5] / 2
        targets = np.array([[1, 2], [3, -1]])
        near = target_distances(placed, np.array([0, 4]), targets)
        np.testing.assert_allclose(near, [squared[0, [1, 2]], [squared[4, 3], -np.inf]])
        length = (placed**2).sum(axis=1)
        others = np.arange(4, 9)
        start, pairs = within(
            placed[:4] @ placed[4:].T, length[:4], length[4:], np.full(4, 2.0), others
        )
        for a in range(4):
            expected = others[squared[a, 4:] < 2.0]
            np.testing.assert_array_equal(pairs[start[a] : start[a + 1]], expected)


def test_the_fit_lowers_the_loss_to_what_a_slow_solver_finds():
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=1)
    model = LMNN(tol=1e-9, max_iter=2000).fit(X, y)
    loss, targets = exact_loss(X, y, 3, 0.5)
    assert model.loss_ == pytest.approx(naive_loss(X, y, targets, 0.5, model.components_))
    # Subgradient steps on M, projected: the problem is convex there, so this is the optimum.
    matrix, best = np.eye(3), np.inf
    for step in range(1, 3000):
        values, vectors = np.linalg.eigh(matrix)
        components = (vectors * np.sqrt(np.maximum(values, 0))).T
        value, _ = loss(components)
        best = min(best, value)
        _, force = loss.impostors.push(components)
        slope = 0.5 * loss.pull + 0.5 * np.linalg.pinv(components) @ (force.T @ loss.X)
        slope = (slope + slope.T) / 2
        matrix = (vectors * np.maximum(values, 0)) @ vectors.T
        matrix = matrix - 0.5 / np.sqrt(step) * slope / np.linalg.norm(slope)
    assert model.loss_ <= best * (1 + 1e-3)


def test_noise_columns_shrink_and_neighbours_improve():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = np.column_stack([y + 0.3 * rng.normal(size=300), 2 * rng.normal(size=(300, 4))])
    model = LMNN().fit(X[:200], y[:200])
    weight = np.diag(model.get_mahalanobis_matrix())
    assert weight[0] > 5 * weight[1:].max()
    plain = KNeighborsClassifier(3).fit(X[:200], y[:200]).score(X[200:], y[200:])
    near = KNeighborsClassifier(3).fit(model.transform(X[:200]), y[:200])
    assert near.score(model.transform(X[200:]), y[200:]) > plain + 0.05


def test_the_units_of_the_table_do_not_matter_to_the_neighbours_found():
    X, y = make_classification(150, 4, random_state=0)
    small, large = LMNN(tol=1e-8).fit(X, y), LMNN(tol=1e-8).fit(1000 * X, y)
    assert small.loss_ == pytest.approx(large.loss_, rel=1e-3)


def test_fewer_components():
    X, y = make_classification(150, 6, n_informative=3, random_state=0)
    model = LMNN(n_components=2).fit(X, y)
    assert model.transform(X).shape == (150, 2)
    assert list(model.get_feature_names_out()) == ["lmnn0", "lmnn1"]
    with pytest.raises(ValueError, match="more than the 6 columns"):
        LMNN(n_components=7).fit(X, y)


def test_drawn_anchors_stand_for_all():
    codes = np.repeat([0, 1, 2], [1, 50, 400])
    anchors, weight = draw_anchors(codes, 100, np.random.RandomState(0))
    assert np.bincount(codes[anchors], minlength=3).tolist() == [0, 50, 100]
    assert weight[codes[anchors] == 2].sum() == pytest.approx(400)
    X, y = make_classification(600, 5, weights=[0.9], random_state=0)
    part = LMNN(max_anchors=200, random_state=0).fit(X, y).get_mahalanobis_matrix()
    whole = LMNN().fit(X, y).get_mahalanobis_matrix()
    assert np.corrcoef(part.ravel(), whole.ravel())[0, 1] > 0.9


def test_the_start_is_about_the_best_multiple():
    X, y = make_classification(120, 4, random_state=0)
    loss, _ = exact_loss(50 * X, y, 3, 0.5)
    scale = best_scale(loss, y)
    grid = [loss(c * np.eye(4))[0] for c in scale * np.geomspace(0.1, 10, 41)]
    assert loss(scale * np.eye(4))[0] <= 1.1 * min(grid)


def test_warnings_tell_what_to_raise():
    X, y = make_classification(200, 8, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        LMNN(max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="raise mu"):
        LMNN(mu=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LMNN().fit(X, y)


def test_without_two_rows_of_a_class_there_is_no_target():
    with pytest.raises(ValueError, match="no neighbour to pull near"):
        LMNN().fit(np.arange(6.0).reshape(3, 2), [0, 1, 2])


def test_progress_is_shown_only_when_asked(capsys):
    X, y = make_classification(100, 4, random_state=0)
    LMNN().fit(X, y)
    assert capsys.readouterr() == ("", "")
    assert isinstance(exact_loss(X, y, 3, 0.5)[0].impostors, Impostors)

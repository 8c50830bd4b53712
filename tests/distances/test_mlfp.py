import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rarefind.distances import MLFP
from rarefind.distances._few_positives import TripletProblem


@pytest.fixture
def rows():
    """Positives differ from negatives in the second feature, and vary widely in the first."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) < 15
    X[y] += [0, 2, 0]
    X[y] *= [3, 1, 1]
    return X, y


def test_the_distance_shrinks_what_does_not_tell_positives_apart(rows):
    model = MLFP(mu=0.01).fit(*rows)
    weight = np.diag(model.get_mahalanobis_matrix())
    assert weight.argmin() == 0
    assert weight[0] < 0.5
    assert (weight <= 1).all()
    np.testing.assert_allclose(model.transform(rows[0]), rows[0] * np.sqrt(weight))


def test_a_strong_pull_leaves_the_euclidean_distance(rows):
    np.testing.assert_allclose(
        MLFP(mu=1e6).fit(*rows).get_mahalanobis_matrix(), np.eye(3), atol=1e-4
    )


def test_without_the_constraint_positives_may_move_away(rows):
    X, y = rows
    X = X / 10  # negatives are within the margin of all positives, which better stay away
    free = MLFP(mu=1e-4, c=0, constraint=False).fit(X, y)
    bound = MLFP(mu=1e-4, c=0).fit(X, y)
    assert np.linalg.eigvalsh(free.get_mahalanobis_matrix()).max() > 1
    assert np.linalg.eigvalsh(bound.get_mahalanobis_matrix()).max() <= 1 + 1e-9
    assert free.objective_ <= bound.objective_


def test_the_objective_is_that_of_the_thesis(rows):
    X, y = rows
    model = MLFP(mu=0.2, c=0.3, matrix="full").fit(X, y)
    share = y.mean()
    problem = TripletProblem(X[y], X[~y])
    expected, _ = problem.objective(model.get_mahalanobis_matrix(), 0.2, 0.3)
    assert model.objective_ == pytest.approx(expected * share**2)
    assert model.mu_ == pytest.approx(0.2 * share**2)


def test_drawn_negatives_stand_for_all(rows):
    X, y = rows
    all_rows = MLFP(random_state=0).fit(X, y)
    drawn = MLFP(max_negatives=90, random_state=0).fit(X, y)
    assert drawn._size == pytest.approx(200)
    assert drawn._share == pytest.approx(y.mean())
    assert drawn.mu_ == pytest.approx(all_rows.mu_)
    np.testing.assert_allclose(
        drawn.get_mahalanobis_matrix(), all_rows.get_mahalanobis_matrix(), atol=0.2
    )
    again = MLFP(max_negatives=90, random_state=0).fit(X, y)
    np.testing.assert_array_equal(drawn.components_, again.components_)


def test_the_positive_label_may_be_either(rows):
    X, y = rows
    chosen = MLFP(pos_label="rare").fit(X, np.where(y, "rare", "usual"))
    np.testing.assert_array_equal(chosen.components_, MLFP().fit(X, y).components_)
    other = MLFP(pos_label="usual").fit(X, np.where(y, "rare", "usual"))
    assert np.abs(other.components_ - chosen.components_).max() > 0.01


def test_a_solver_that_is_stopped_says_so(rows):
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        model = MLFP(mu=1e-3, max_iter=1).fit(*rows)
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MLFP().fit(*rows).converged_


def test_the_bound_is_that_of_the_theorems(rows):
    X, y = rows
    model = MLFP(mu=5.0, c=0.25).fit(X, y)
    found = model.bound(0.1)
    share, m = y.mean(), len(y)
    squared = ((X - X.mean(axis=0)) ** 2).sum(axis=1).max()
    lipschitz = 4 * (1 - share) * squared
    assert found.kappa == pytest.approx(6 * lipschitz**2 / model.mu_)
    assert found.sigma == pytest.approx((1 - share) * (0.75 + 4 * squared))
    regular = model.mu_ * ((model.get_mahalanobis_matrix() - np.eye(3)) ** 2).sum()
    assert found.empirical_risk == pytest.approx(model.objective_ - regular)
    slack = 2 * (found.kappa + found.sigma) * np.sqrt(np.log(20) / (2 * m))
    assert found.risk == pytest.approx(found.empirical_risk + 2 * found.kappa / m + slack)
    assert found.false_positives > found.false_negatives
    assert found.vacuous
    assert str(found).count("vacuous") == 3
    assert str(found).endswith("make it smaller.")


def test_a_bound_that_says_something_says_what():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1)) / 1e4
    model = MLFP(mu=1e6, c=0).fit(X, rng.random(3000) < 0.3)
    found = model.bound()
    assert not found.vacuous
    assert "vacuous" not in str(found).split(";")[0]
    assert str(found).startswith("With probability 0.95: risk at most")


@pytest.mark.parametrize(
    ("model", "delta", "message"),
    [
        (MLFP(), 1.5, "delta=1.5 is not a probability"),
        (MLFP(constraint=False), 0.1, "constraint=True"),
    ],
)
def test_a_bound_that_cannot_be_given_is_refused(rows, model, delta, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*rows).bound(delta)


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match="holds 3 classes"):
        MLFP().fit(np.eye(3), [0, 1, 2])

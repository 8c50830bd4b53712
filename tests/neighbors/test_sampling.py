import numpy as np
import pytest
from imblearn.combine import SMOTEENN, SMOTETomek
from imblearn.over_sampling import ADASYN, SMOTE, RandomOverSampler
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification

from rarefind.neighbors._sampling import resample


@pytest.fixture
def table():
    X, y = make_classification(200, 4, weights=[0.85], flip_y=0.1, random_state=0)
    return X, y == 1


@pytest.mark.parametrize(
    "sampler", [SMOTE(), SMOTEENN(), SMOTETomek()], ids=lambda s: type(s).__name__
)
def test_real_positives_are_told_from_synthetic_ones(table, sampler):
    X, positive = table
    drawn = resample(sampler, X, positive, seed=0)
    real = drawn.row >= 0
    np.testing.assert_array_equal(drawn.X[real], X[drawn.row[real]])
    assert positive[drawn.row[real]].all()
    assert np.unique(drawn.row[real]).size == real.sum(), "each original row at most once"
    synthetic = drawn.X[drawn.positive & ~real]
    assert len(synthetic) > 0
    assert not any((X[positive] == row).all(axis=1).any() for row in synthetic)


def test_copies_beyond_the_originals_are_synthetic(table):
    X, positive = table
    X = X.copy()
    first, second = np.flatnonzero(positive)[:2]
    X[second] = X[first]  # an original that is there twice
    drawn = resample(RandomOverSampler(), X, positive, seed=0)
    assert (drawn.row >= 0).sum() == positive.sum()
    assert {first, second} <= set(drawn.row.tolist())
    assert drawn.positive.sum() == (~positive).sum()


class Shuffling(BaseEstimator):
    """A sampler that gives back its rows in another order, and fewer of them."""

    def fit_resample(self, X, y):
        order = np.random.default_rng(0).permutation(len(X))[: len(X) // 2]
        made = X[y == 1][:5] + 0.25
        return np.vstack([made, X[order]]), np.append(np.ones(5, int), y[order])


def test_positions_are_not_trusted(table):
    X, positive = table
    drawn = resample(Shuffling(), X, positive, seed=0)
    assert (drawn.row[:5] == -1).all()
    kept = np.random.default_rng(0).permutation(len(X))[: len(X) // 2]
    expected = np.where(positive[kept], kept, -1)
    np.testing.assert_array_equal(drawn.row[5:], expected)


@pytest.mark.parametrize(
    "sampler",
    [SMOTE(), ADASYN(), SMOTEENN(), SMOTETomek(), SMOTETomek(smote=SMOTE(k_neighbors=7))],
    ids=str,
)
def test_neighbours_of_the_sampler_shrink_with_the_positives(table, sampler):
    X, _ = table
    positive = np.linalg.norm(X - X[0], axis=1).argsort().argsort() < 4
    drawn = resample(sampler, X, positive, seed=0)
    assert (drawn.positive & (drawn.row < 0)).sum() > 50


def test_the_seed_is_used_unless_the_sampler_has_one(table):
    X, positive = table
    one, two = (resample(SMOTE(), X, positive, seed=s).X for s in (1, 2))
    assert not np.array_equal(one, two)
    one, two = (resample(SMOTE(random_state=0), X, positive, seed=s).X for s in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_sampler_that_cannot_is_named(table):
    X, _ = table
    with pytest.raises(ValueError, match="SMOTE cannot resample 1 positives and 199 negatives"):
        resample(SMOTE(), X, np.arange(len(X)) < 1, seed=0)


class Emptying(BaseEstimator):
    def fit_resample(self, X, y):
        return X[y == 0], y[y == 0]


def test_a_sampler_that_drops_a_class_is_refused(table):
    with pytest.raises(ValueError, match="Emptying left one of the classes without rows"):
        resample(Emptying(), *table, seed=0)

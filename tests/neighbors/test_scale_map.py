from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from imblearn.over_sampling import SMOTE
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from rarefind.metrics import Cost, count_metric
from rarefind.neighbors import GammaKNNClassifier, scale_map
from rarefind.neighbors._sampling import resample
from rarefind.selection import folds


class Shifting(BaseEstimator):
    """A sampler that keeps whole numbers whole, so that ties are exact."""

    def fit_resample(self, X, y):
        made = X[y == 1] + 1
        return np.vstack([X, made]), np.append(y, np.ones(len(made), int))


def naive_algorithm_1(to_real, to_synthetic, to_negatives, k, gamma, gamma_synthetic):
    """Algorithm 2.1: scale, merge, let the k nearest vote; ties to the positive."""
    merged = sorted(
        [(gamma * d, 0) for d in to_real]
        + [(gamma_synthetic * d, 0) for d in to_synthetic]
        + [(d, 1) for d in to_negatives]
    )[:k]
    return sum(1 for _, negative in merged if not negative) >= Fraction(k, 2)


def naive_map(model, X, positive, gammas, gammas_synthetic, distance, pairs=None):
    """Pooled counts of the folds of the fit, cell by cell."""
    seed = int(check_random_state(model.random_state).randint(2**31 - 1))
    if pairs is None:
        pairs = folds(X, positive, 5, random_state=seed)
    counts = np.zeros((len(gammas), len(gammas_synthetic), 4))
    for train, test in pairs:
        drawn = resample(model.sampler, X[train], positive[train], seed)
        real, made = drawn.row >= 0, drawn.positive & (drawn.row < 0)
        for x, truth in zip(X[test], positive[test], strict=True):
            to = [distance(x, drawn.X[rows]) for rows in (real, made, ~drawn.positive)]
            for i, g in enumerate(gammas):
                for j, h in enumerate(gammas_synthetic):
                    alert = naive_algorithm_1(*to, model.k, g, h)
                    counts[i, j] += [
                        alert and truth,
                        alert and not truth,
                        not alert and truth,
                        not alert and not truth,
                    ]
    return count_metric(model.metric)(*np.moveaxis(counts, 2, 0))


def whole_manhattan(x, rows):
    return [Fraction(int(d)) for d in np.abs(rows - x).sum(axis=1)]


def euclidean(x, rows):
    return cdist([x], rows)[0]


@st.composite
def grids(draw):
    """Rows on a coarse grid, where ties and copies are the rule."""
    d, n = draw(st.integers(1, 2)), draw(st.integers(8, 14))
    X = draw(hnp.arrays(float, (n, d), elements=st.integers(0, 4)))
    positive = np.zeros(n, dtype=bool)
    positive[: draw(st.integers(3, 5))] = True
    return X, positive


@given(grids(), st.integers(1, 5), st.sampled_from(["f1", "g_mean"]))
@settings(max_examples=25)
def test_each_cell_is_that_of_algorithm_1_ties_included(table, k, metric):
    X, positive = table
    model = GammaKNNClassifier(
        k, metric=metric, distance="manhattan", sampler=Shifting(), random_state=3, pos_label=True
    )
    scales = [Fraction(n, 8) for n in (1, 2, 3, 4, 6, 8)], [Fraction(n, 4) for n in (1, 2, 3, 4, 8)]
    found = scale_map(model, X, positive, gammas=scales[0], gammas_synthetic=scales[1])
    expected = naive_map(model, X, positive, *scales, whole_manhattan)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)


def imbalanced(n=150, seed=0):
    return make_classification(
        n, 4, n_informative=3, n_redundant=0, weights=[0.88], class_sep=0.7, random_state=seed
    )


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_each_cell_is_that_of_algorithm_1_for_real_numbers(k):
    X, y = imbalanced()
    model = GammaKNNClassifier(k, sampler=SMOTE(), cv=KFold(3), random_state=1)
    scales = [0.13, 0.4, 0.71, 0.98], [0.2, 0.55, 1.1, 1.9]
    found = scale_map(model, X, y, gammas=scales[0], gammas_synthetic=scales[1])
    pairs = list(KFold(3).split(X))
    expected = naive_map(model, X, y == 1, *scales, euclidean, pairs)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert found.values.shape == (4, 4)


@pytest.mark.parametrize("options", [{}, {"max_queries": 40}, {"metric": Cost(c_fn=9)}])
def test_each_cell_is_what_a_fit_with_these_scales_is_worth(options):
    X, y = imbalanced(400)
    groups = np.arange(400) // 2
    model = GammaKNNClassifier(sampler=SMOTE(), random_state=0, **options)
    found = scale_map(model, X, y, groups=groups)
    for i, j in ((3, 90), (20, 20), (35, 70), (49, 0), (49, 99)):
        fixed = GammaKNNClassifier(
            gamma=found.gammas[i],
            gamma_synthetic=found.gammas_synthetic[j],
            sampler=SMOTE(),
            random_state=0,
            **options,
        )
        value = fixed.fit(X, y, groups=groups).value_
        assert found.values[i, j] == pytest.approx(value, rel=1e-9)


def test_the_best_pair_is_that_of_the_fit_and_rarely_far_below_the_grid():
    X, y = imbalanced(300)
    model = GammaKNNClassifier(gamma=0.2, gamma_synthetic=0.2, sampler=SMOTE(), random_state=0)
    found = scale_map(model, X, y)
    fitted = GammaKNNClassifier(sampler=SMOTE(), random_state=0).fit(X, y)
    assert found.best_gamma == fitted.gamma_
    assert found.best_gamma_synthetic == fitted.gamma_synthetic_
    assert found.best_value == fitted.value_
    assert found.best_value > found.values.max() - 0.01
    assert model.get_params()["gamma"] == 0.2  # the estimator given is left as it is
    assert not hasattr(model, "gamma_")


def test_the_default_grid_holds_that_of_the_papers():
    found = scale_map(GammaKNNClassifier(sampler=SMOTE(), random_state=0), *imbalanced())
    assert found.values.shape == (50, 100)
    assert set(np.arange(1, 11) / 10) <= set(found.gammas.tolist())
    assert set(np.arange(1, 21) / 10) <= set(found.gammas_synthetic.tolist())
    assert found.metric == "f1"


def test_scales_are_sorted_and_those_at_the_end_count():
    X, y = imbalanced()
    model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    all_cells = scale_map(model, X, y)
    few = scale_map(model, X, y, gammas=[1.0, 0.5, 0.5], gammas_synthetic=[2.0])
    np.testing.assert_array_equal(few.gammas, [0.5, 1.0])
    np.testing.assert_array_equal(few.values, all_cells.values[[24, 49]][:, [99]])


@pytest.mark.parametrize("before", [[], [StandardScaler()]])
def test_a_pipeline_is_measured_after_its_first_steps(before):
    X, y = imbalanced()
    model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    found = scale_map(make_pipeline(*before, model), X * [1, 100, 1, 1], y)
    plain = StandardScaler().fit_transform(X * [1, 100, 1, 1]) if before else X * [1, 100, 1, 1]
    np.testing.assert_array_equal(found.values, scale_map(model, plain, y).values)


def test_any_labels_and_either_positive():
    X, y = imbalanced()
    model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    named = scale_map(model, X, np.where(y == 1, "a fraud", "honest"))
    np.testing.assert_array_equal(named.values, scale_map(model, X, y).values)


def test_a_metric_that_is_not_a_number_is_missing():
    def precision(tp, fp, fn, tn):
        return tp / (tp + fp)

    X, y = imbalanced()
    model = GammaKNNClassifier(sampler=SMOTE(), metric=precision, random_state=0)
    found = scale_map(model, X, y, gammas=[0.5, 1e6], gammas_synthetic=[1.0, 1e6])
    assert found.metric == "precision"
    assert np.isnan(found.values[1, 1])
    assert np.isfinite(found.values[0, 0])


def test_errors_say_what_is_wrong():
    X, y = imbalanced()
    with pytest.raises(ValueError, match="GammaKNNClassifier has no sampler: without synthetic"):
        scale_map(GammaKNNClassifier(), X, y)
    model = GammaKNNClassifier(sampler=SMOTE())
    with pytest.raises(ValueError, match="gammas must be finite numbers above 0"):
        scale_map(model, X, y, gammas=[0.0, 0.5])
    with pytest.raises(ValueError, match="gammas_synthetic must be finite numbers above 0"):
        scale_map(model, X, y, gammas_synthetic=[])

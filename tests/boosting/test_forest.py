"""Trees as arrays: the same margins as XGBoost's, to the last bit."""

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.boosting import NLBClassifier, ProjectionBoostingClassifier, SGBAPClassifier
from rarefind.boosting._forest import FEW_ROWS


def mixed_rows(rng, n, values):
    """Columns of few values with ties, of any size, and of categories, all with missing values."""
    X = np.column_stack(
        [
            rng.choice(values, n),
            rng.normal(size=n) * 10.0 ** rng.integers(-3, 40),
            rng.integers(0, 6, n),
            rng.choice([-1.5, 0.25, 7.0, 1e9], n),
        ]
    )
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def rows_at_thresholds(forest, rows):
    """Rows with the value at each threshold, and just below it."""
    column, left, _, own_set = forest.links.T
    at = np.flatnonzero((left > 0) & (own_set < 0) & np.isfinite(forest.threshold))
    made = rows[np.arange(2 * at.size) % len(rows)]
    value = forest.threshold[at]
    made[: at.size][np.arange(at.size), column[at]] = value
    made[at.size :][np.arange(at.size), column[at]] = np.nextafter(value, -np.inf)
    return made


def booster_margins(model, X):
    """The margins by XGBoost, of rows as they are coded for it."""
    coding = model._coding
    data = xgboost.DMatrix(
        coding.codes(X),
        feature_types=coding.feature_types,
        enable_categorical=bool(coding.is_set.any()),
    )
    return model.booster_.predict(data, output_margin=True)


@given(
    seed=st.integers(0, 2**32 - 1),
    bins=st.sampled_from(["positive-aware", "quantile"]),
    depth=st.integers(1, 7),
    sets=st.sampled_from([None, [2], [2, 3]]),
    values=st.lists(st.floats(-(2.0**120), 2.0**120, width=32), min_size=1, max_size=5),
    rate=st.sampled_from([0.03, 0.1, 1.0]),
)
@settings(max_examples=40, deadline=None)
def test_margins_are_those_of_the_booster(seed, bins, depth, sets, values, rate):
    rng = np.random.default_rng(seed)
    X = mixed_rows(rng, 80, values)
    positive = np.arange(80) % 4 == 0
    model = SGBAPClassifier(
        n_estimators=12,
        max_depth=depth,
        learning_rate=rate,
        bins=bins,
        categorical_features=sets,
        early_stopping_rounds=None,
        threshold=None,
        random_state=0,
    ).fit(X, positive)
    # Rows of the fit, and others, with values on thresholds and categories that are new.
    rows = np.vstack([X, mixed_rows(rng, 40, [*values, *np.nextafter(values, np.inf)])])
    rows[-10:, 2] = 6.5
    forest = model._trees.forest(model._coding)
    rows = np.vstack([rows, rows_at_thresholds(forest, rows)])
    assert forest.margins(rows).tolist() == booster_margins(model, rows).tolist()
    assert (model.priority(rows[:FEW_ROWS]) == model.priority(rows)[:FEW_ROWS]).all()


@pytest.mark.parametrize("bins", ["positive-aware", "quantile"])
def test_margins_of_twenty_thousand_rows(bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    X[:, 5] = rng.integers(0, 30, len(X))
    X[rng.random(X.shape) < 0.1] = np.nan
    positive = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + rng.normal(size=len(X)) > 3
    model = SGBAPClassifier(
        n_estimators=200,
        max_depth=6,
        bins=bins,
        categorical_features=[5],
        early_stopping_rounds=None,
        threshold=None,
        random_state=0,
    ).fit(X[:4000], positive[:4000])
    forest = model._trees.forest(model._coding)
    assert np.array_equal(forest.margins(X), booster_margins(model, X))


@pytest.mark.parametrize("make", [NLBClassifier, ProjectionBoostingClassifier])
def test_few_rows_have_the_scores_of_many(make):
    rng = np.random.default_rng(1)
    X = mixed_rows(rng, 300, [1.0, 2.0, 3.0])
    X[:, 1] /= np.nanmax(np.abs(X[:, 1]))
    positive = np.nan_to_num(X[:, 0]) + rng.normal(size=300) > 3
    model = make(
        n_estimators=15,
        categorical_features=[2],
        early_stopping_rounds=None,
        threshold=None,
        random_state=0,
    ).fit(X, positive)
    whole = model.priority(X)
    assert whole[:5].tolist() == model.priority(X[:5]).tolist()
    assert [float(model.priority(X[[i]])[0]) for i in range(20)] == whole[:20].tolist()

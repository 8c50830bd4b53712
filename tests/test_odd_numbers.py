"""Huge, tiny and far-off numbers: every estimator learns from them, or says which column is why."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rarefind.distances
from rarefind.auto import AutoClassifier, estimators
from rarefind.conditions import ConditionClassifier
from rarefind.neighbors import GammaKNNClassifier, KRNNClassifier, MLFPClassifier

LARGEST = np.finfo(float).max


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (np.arange(60) % 6 == 0).astype(int)
    X[y == 1, 0] += 2
    return X, y


def odd_tables() -> dict[str, np.ndarray]:
    X, _ = rows()
    tables = {f"all {scale:g}": X * scale for scale in (1e155, 1e300, 1e-155, 1e-300, 1e-320)}
    tables["one huge column"] = X * [1, 1e155, 1]
    tables["mixed"] = X * [1e300, 1, 1e-300]
    tables["both ends"] = np.column_stack([X[:, :2], np.where(X[:, 2] > 0, LARGEST, -LARGEST)])
    for name, value in (("outlier", 1e155), ("largest", LARGEST), ("least", -LARGEST)):
        tables[name] = X.copy()
        tables[name][7, 1] = value
    tables["constant"] = np.column_stack([X[:, :2], np.full(60, LARGEST)])
    tables["far from 0"] = np.add(X, [0, 1e300, 1e16])
    tables["whole numbers"] = np.add(X, [0, 0, 2.0**62])
    tables["all equal"] = np.ones((60, 3))
    return tables


# Few rounds and folds, where there are any to choose: numbers are met in the first.
QUICK = {"n_estimators": 3, "n_learners": 3, "epochs": 2, "cv": 2, "n_trials": 2, "n_trees": 3}
SLOW = {"auto", "rule-list", "iml"}


def makers() -> dict[str, object]:
    made = {}
    for each in estimators():
        if each.name not in SLOW:
            model = each.make(n_jobs=1)
            given = model.get_params()
            quick = {name: value for name, value in QUICK.items() if name in given}
            if "random_state" in given:
                quick["random_state"] = 0
            made[each.name] = model.set_params(**quick)
    for name in rarefind.distances.__all__:
        made[name] = getattr(rarefind.distances, name)()
    return made


@pytest.mark.parametrize("name", makers())
def test_odd_numbers_are_learned_from_or_refused_with_the_column(name: str) -> None:
    """No warning of overflow, no NaN, no text of another library, and an end."""
    _, y = rows()
    for X in odd_tables().values():
        model = makers()[name]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(X, y)
                found = (getattr(model, "priority", None) or model.transform)(X)
            except ValueError as error:
                text = str(error)
                assert "\n" not in text
                assert "'x" in text or "All rows of X are equal" in text
                continue
        assert np.isfinite(found).all()


@pytest.mark.parametrize("model", [MLFPClassifier(), GammaKNNClassifier(), KRNNClassifier()])
def test_a_row_that_is_too_large_to_be_squared_is_refused_when_scored(model) -> None:
    X, y = rows()
    model.fit(X, y)
    X[3, 1] = -1e155
    with pytest.raises(ValueError, match=r"Column 'x1' holds -1e\+155, .*MaxAbsScaler"):
        model.priority(X)


def test_given_distances_are_not_squared() -> None:
    X, y = rows()
    distances = 1e100 * np.abs(X[:, :1] - X[:, :1].T)
    model = GammaKNNClassifier(distance="precomputed").fit(distances, y)
    plain = GammaKNNClassifier(distance="precomputed").fit(distances / 1e100, y)
    assert model.gamma_ == pytest.approx(plain.gamma_)


def test_columns_beyond_single_precision_are_named_before_xgboost_sees_them() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=r"Column 'x2' has numbers up to .*e\+40, and XGBClass"):
        ConditionClassifier().fit(X * [1, 1, 1e40], y)


def test_auto_scales_huge_and_tiny_columns_for_models_that_measure_distances() -> None:
    X, y = rows()
    settings = {"candidates": ["gamma-knn"], "random_state": 0, "n_jobs": 1, "time_limit": None}
    plain = AutoClassifier(**settings).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        odd = AutoClassifier(**settings).fit(X * [1e200, 1e-200, 1], y)
        np.testing.assert_allclose(
            odd.priority(X * [1e200, 1e-200, 1]), plain.priority(X), rtol=1e-9
        )

"""Whatever backend of joblib is set around a model, it is the same model."""

import joblib
import numpy as np
import pytest
from joblib import parallel_config

from rarefind.auto import estimators
from rarefind.boosting import _scoring
from rarefind.data import bins

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
Y = X[:, 0] + X[:, 1] + RNG.normal(0, 0.5, 240) > 1.8
# A model a few trees, rounds or rows large, of the registry's own making.
SMALL = {
    "n_estimators": 6,
    "max_rounds": 2,
    "trials": 2,
    "epochs": 2,
    "inner_depth": 2,
    "outer_depth": 2,
    "max_conditions": 4,
    "candidates": ["metaap", "sgbap"],
    "cv": 2,
}
NAMES = [each.name for each in estimators()]


def scores_of(name):
    info = next(each for each in estimators() if each.name == name)
    rules = {"rules": {"high": "x0 > 0.5", "low": "x0 <= -0.5"}} if name == "rule-list" else {}
    model = info.make(**rules)
    given = SMALL | {"random_state": 0}
    model.set_params(**{key: given[key] for key in given.keys() & model.get_params().keys()})
    few = 30 if name == "iml" else 240  # it learns a distance for each row asked about
    model.fit(X, Y)
    return model.priority(X[:few]), model.predict_proba(X[:few]), model.predict(X[:few])


@pytest.fixture(autouse=True)
def _few_rows_are_worth_threads(monkeypatch):
    monkeypatch.setattr(bins, "WORTH_THREADS", 1)
    monkeypatch.setattr(_scoring, "WORTH_THREADS", 1)


@pytest.fixture(scope="module", autouse=True)
def _processes_end():
    yield
    joblib.externals.loky.get_reusable_executor().shutdown()


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_the_same_under_every_backend(name):
    plain = scores_of(name)
    for backend in ("loky", "threading"):
        with parallel_config(backend, n_jobs=2):
            for found, expected in zip(scores_of(name), plain, strict=True):
                np.testing.assert_array_equal(found, expected)

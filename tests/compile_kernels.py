"""Compile what the tests use before they start; conftest.py runs both halves at once.

``python compile_kernels.py 0`` fits, scores and explains half of the estimators on a small table;
the other half comes with features, blocks of points and a scorer of rows. Numba keeps the machine
code on disk, where the workers find it.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from data.test_feature_table import FEATURES, START, arrive
from expected_failures import CHECKED
from sklearn.base import clone

from rarefind import TableModel
from rarefind._core.blocks import PointBlocks
from rarefind.boosting import SGBAPClassifier
from rarefind.data import transaction_features
from rarefind.data.feature_table import feature_table

# These compile about as long as all the others.
FIRST = ("streams", "neighbors")


def fit_all(half):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 5 == 0
    for estimator, _ in CHECKED:
        family = type(estimator).__module__.split(".")[1]
        if (family in FIRST) == (half == 0):
            model = clone(estimator).fit(X, y)
            model.predict_proba(X)
            model.explain(X[:2])


def payments(n=12):
    """Payments of two cards, of which some come late and some labels are taken back."""
    number = np.arange(n)
    return pd.DataFrame(
        {
            "time": START + pd.to_timedelta(number * 10, unit="min"),
            "card": np.where(number % 2, "a", "b"),
            "shop": np.where(number % 3, "x", "y"),
            "country": "FR",
            "amount": number / 4,
            "fraud": number % 2,
            "arrival": np.where(number < 2, 2 - 2 * number, 2 * number),
            "known_at": np.where(number % 4, 2.0 * number + 3, np.nan),
            "taken_back_at": np.where(number % 5, np.nan, 2.0 * number + 5),
        }
    )


def describe_and_search():
    paid = payments()
    transaction_features(paid, customer="card", terminal="shop", label="fraud")
    known = {"arrival": "arrival", "label": "fraud", "known_at": "known_at"}
    feature_table(paid, FEATURES, **known, taken_back_at="taken_back_at")
    arrive(paid)
    points = np.random.default_rng(0).normal(size=(500, 3))
    cut = PointBlocks.of(points, np.ones(500, dtype=np.intp))
    cut.count_nearer(points[:5], cut.nearest(points[:5], 2, 1)[0][:, 1].copy(), 1)
    table = pd.DataFrame({"x": np.arange(60.0), "y": np.arange(60) > 50})
    model = TableModel(SGBAPClassifier(n_estimators=2), target="y").fit(table)
    model.row_scorer().score({"x": 1.0})


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    half = int(sys.argv[1])
    fit_all(half)
    if half == 1:
        describe_and_search()

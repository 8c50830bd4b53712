"""Compile what the tests use before they start; conftest.py runs both halves at once.

``python compile_kernels.py 0`` fits, scores and explains half of the estimators on a small table.
Numba keeps the machine code on disk, where the workers find it.
"""

import sys
import warnings

import numpy as np
from expected_failures import CHECKED
from sklearn.base import clone

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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    fit_all(int(sys.argv[1]))

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from rarefind.auto._candidates import named_estimators
from rarefind.base import RareClassifier
from rarefind.metrics import average_precision

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
NAMES = ("gamma-knn", "mlfp", "me2", "metaap", "metaap-forest", "sgbap", "nlb", "projection")
NAMES += ("conditions", "xgboost")


def test_every_name_of_the_command_line_is_known():
    found = named_estimators(10, random_state=3, n_jobs=1)
    assert set(found) == set(NAMES)
    for estimator in found.values():
        assert isinstance(estimator, RareClassifier)
        assert estimator.get_params()["random_state"] == 3
        assert estimator.get_params()["n_jobs"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_each_ranks_better_than_chance_by_any_budget(name):
    for budget in ("5%", 500) if name == "metaap" else (10,):
        model = clone(named_estimators(budget, random_state=0)[name])
        quick = {"n_estimators": 20, "max_rounds": 2} if name != "metaap-forest" else {}
        known = model.get_params()
        model.set_params(**{p: v for p, v in quick.items() if p in known})
        model.fit(X[::2], Y[::2])
        assert average_precision(Y[1::2], model.priority(X[1::2])) > np.mean(Y) + 0.1

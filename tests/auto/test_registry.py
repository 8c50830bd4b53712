import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from rarefind.auto import AutoClassifier, estimators, find_estimator
from rarefind.auto._candidates import candidate_estimators
from rarefind.auto._registry import CAPABILITIES
from rarefind.base import RareClassifier
from rarefind.metrics import average_precision

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
OFFERED = [each.name for each in estimators(on_command_line=True) if each.name != "auto"]
RULES = {"RuleListClassifier": {"rules": "x0 > 0"}}

every_estimator = pytest.mark.parametrize("info", estimators(), ids=lambda info: info.name)


def made(info, **given):
    return info.make(**RULES.get(info.class_name, {}), **given)


def test_names_are_unique_and_the_command_line_has_some():
    names = [each.name for each in estimators()]
    assert len(set(names)) == len(names)
    assert {
        "gamma-knn",
        "mlfp",
        "me2",
        "metaap",
        "metaap-forest",
        "randomized-forest",
        "sgbap",
        "nlb",
    } <= set(OFFERED)
    assert {"projection", "conditions", "xgboost"} <= set(OFFERED)
    offered = estimators(on_command_line=True)
    assert [*offered, *estimators(on_command_line=False)] == estimators()


@every_estimator
def test_it_is_made_with_a_seed_and_a_number_of_threads(info):
    estimator = made(info, random_state=3, n_jobs=1)
    assert isinstance(estimator, RareClassifier)
    assert type(estimator) is info.load()
    assert estimator.get_params()["random_state"] == 3
    assert estimator.get_params()["n_jobs"] == 1


@every_estimator
def test_what_it_can_do_is_what_its_class_can_do(info):
    estimator = made(info)
    tags, known = get_tags(estimator), estimator.get_params(deep=False)
    can = {
        "missing values": tags.input_tags.allow_nan,
        "categories": "categorical_features" in known or estimator.reads_tables,
        "more classes": tags.classifier_tags.multi_class,
        "sample weights": has_fit_parameter(estimator, "sample_weight"),
        "streams": hasattr(estimator, "partial_fit"),
        "rules": hasattr(info.load(), "to_rules") or hasattr(info.load(), "rules_"),
        "SQL": hasattr(estimator, "to_sql"),
        "stops in time": estimator.stops_quickly,
        "best effort": estimator.fits_in_time,
    }
    assert info.capabilities == {name for name, able in can.items() if able}
    assert info.capabilities <= CAPABILITIES.keys()


@every_estimator
def test_its_description_is_one_line(info):
    assert 10 < len(info.description) < 90
    assert info.description[-1] != "."


def test_a_budget_is_for_those_that_can_use_it():
    tree = find_estimator("metaap").make(25)
    assert (tree.target, tree.k) == ("precision_at_k", 25)
    assert find_estimator("metaap").make().target == "average_precision"
    assert find_estimator("auto").make("2%", trials=3).get_params()["budget"] == "2%"


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="There is no estimator 'magic': known are auto, sgbap"):
        find_estimator("magic")


def test_candidates_are_variants_of_registered_estimators():
    names = AutoClassifier.candidate_names()
    found = candidate_estimators(names, 3, 1)
    assert list(found) == names
    assert {type(estimator) for estimator in found.values()} <= {
        each.load() for each in estimators()
    }
    assert found["xgboost-aware"].get_params() == {
        **found["xgboost"].get_params(),
        "bins": "positive-aware",
    }


@pytest.mark.parametrize("name", OFFERED)
def test_each_ranks_better_than_chance_by_any_budget(name):
    for budget in ("5%", 500) if name == "metaap" else (10,):
        model = clone(find_estimator(name).make(budget, random_state=0))
        quick = {"n_estimators": 20, "max_rounds": 2} if name != "metaap-forest" else {}
        known = model.get_params()
        model.set_params(**{p: v for p, v in quick.items() if p in known})
        model.fit(X[::2], Y[::2])
        assert average_precision(Y[1::2], model.priority(X[1::2])) > np.mean(Y) + 0.1


def test_names_are_known_without_the_heavy_libraries():
    code = (
        "import sys; from rarefind.auto import estimators; estimators(); "
        "print([m for m in ('numpy', 'pandas', 'sklearn', 'numba') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert shown.stdout == b"[]\n"

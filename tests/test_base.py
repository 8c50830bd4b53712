import importlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from expected_failures import CHECKED, SENSITIVE
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from rarefind.auto import estimators
from rarefind.base import RareClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.persistence import load, save

ALL = parametrize_with_checks(
    [estimator for estimator, _ in CHECKED],
    expected_failed_checks=lambda estimator: next(
        reasons for checked, reasons in CHECKED if checked is estimator
    ),
)
NAME_OF = ALL.kwargs["ids"]
WHOLE = {type(estimator): estimator for estimator, _ in reversed(CHECKED)}.values()


def to_run(estimator, check):
    return any(estimator is each for each in WHOLE) or NAME_OF(check) in SENSITIVE


CHECKS = [each if hasattr(each, "values") else pytest.param(*each) for each in ALL.args[1]]


@pytest.mark.parametrize(ALL.args[0], [c for c in CHECKS if to_run(*c.values)], ids=NAME_OF)
def test_scikit_learn_agrees(estimator, check, request):
    expected = request.node.get_closest_marker("xfail")
    try:
        check(estimator)
    except Exception:
        if expected is None:
            raise
    else:
        return
    # Said in one line: to show where it failed takes pytest longer than most checks.
    pytest.xfail(expected.kwargs["reason"])


def test_the_checks_of_other_parameters_are_scikit_learns():
    assert {NAME_OF(check.values[1]) for check in CHECKS} >= SENSITIVE


def test_every_public_estimator_is_checked():
    registered = {each.load() for each in estimators()}
    assert registered == {type(estimator) for estimator, _ in CHECKED}
    families = {importlib.import_module(f"rarefind.{each.family}") for each in estimators()}
    public = [getattr(family, name) for family in families for name in family.__all__]
    assert registered == {
        thing for thing in public if isinstance(thing, type) and issubclass(thing, RareClassifier)
    }


X = pd.DataFrame({"amount": np.arange(12.0), "hour": np.arange(12.0)[::-1]})
Y = np.arange(12) > 8


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (
            X.assign(amount=[np.nan, np.nan, *range(10)]),
            Y,
            "Column 'amount' holds NaN in 2 of 12 rows",
        ),
        (X.assign(hour=[np.inf, *range(11)]), Y, "Column 'hour' holds inf in 1 of 12 rows"),
        (X.to_numpy() * np.nan, Y, "Column 'x0' holds NaN in 12 of 12 rows"),
        (X, np.zeros(12), "All 12 rows are of class 0.0: learning needs rows of two classes"),
        (X[:0], Y[:0], "0 sample"),
        (X, Y[:5], "inconsistent numbers of samples"),
        (X, np.linspace(0, 1, 12), "Unknown label type"),
    ],
)
def test_bad_tables_are_answered_with_a_sentence(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        GammaKNNClassifier().fit(rows, labels)


def test_a_table_to_score_is_checked_as_well():
    model = GammaKNNClassifier(k=1).fit(X, Y)
    with pytest.raises(ValueError, match="Column 'hour' holds NaN in 12 of 12 rows"):
        model.priority(X.assign(hour=np.nan))
    with pytest.raises(ValueError, match="feature names"):
        model.explain(X.rename(columns={"hour": "time"}))
    with pytest.raises(NotFittedError):
        GammaKNNClassifier().priority(X)


class TwoClassesOnly(RareClassifier):
    """The smallest estimator: its priority is the first column."""

    def fit(self, X, y):
        self._start_fit(X, y, None)
        self.threshold_ = 0.5
        return self

    def _priority(self, X):
        return X[:, 0]

    def _probability(self, scores):
        return scores / (1 + np.abs(scores))

    def _explain(self, X):
        return []


def test_more_classes_are_refused_by_default():
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        TwoClassesOnly().fit([[0], [1], [2]], [0, 1, 2])


@pytest.mark.parametrize("positive", ["aaa", "zzz"])
def test_signs_follow_the_order_of_the_labels(positive):
    rows = np.array([[0.5], [0.4], [0.6], [0.1]])
    labels = np.where([True, False, False, False], positive, "mmm")
    model = TwoClassesOnly().fit(rows, labels)
    assert model.predict(rows).tolist() == [positive, "mmm", positive, "mmm"]
    above = rows[:, 0] - 0.5
    expected = above if positive == "zzz" else -above
    np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-300)
    column = 1 if positive == "zzz" else 0
    np.testing.assert_array_equal(
        model.predict_proba(rows)[:, column], rows[:, 0] / (1 + rows[:, 0])
    )


def test_a_row_on_the_threshold_is_an_alert_by_every_method():
    rows = np.array([[0.0], [2.0], [9.0], [11.0]])
    for labels in ([1, 0, 0, 0], ["a", "b", "b", "b"]):
        model = GammaKNNClassifier(1, gamma=None).fit(rows, labels)
        (tie,) = model.decision_function([[1.0]])
        assert model.predict([[1.0]])[0] == labels[0]
        assert tie > 0 if model.classes_[1] == labels[0] else tie < 0


def mixed_table(n=300):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "amount": rng.normal(size=n),
            "city": pd.Categorical(rng.choice(["Lyon", "Paris", "Nice", "Lille"], n)),
        }
    )
    y = np.where((table.city == "Nice") & (table.amount > 0), "yes", "no")
    table.loc[::17, "city"] = None
    return table, y


TAKES_CATEGORIES = [
    clone(e).set_params(random_state=0) for e in WHOLE if "categorical_features" in e.get_params()
]
TAKES_NUMBERS = [
    e for e in WHOLE if "categorical_features" not in e.get_params() and not e.reads_tables
]


@pytest.mark.parametrize("estimator", TAKES_CATEGORIES, ids=lambda e: type(e).__name__)
def test_categories_are_taken_as_they_are(estimator, tmp_path):
    table, y = mixed_table()
    coded = table.assign(city=table.city.cat.codes.replace(-1, np.nan).astype(float))
    plain = clone(estimator).set_params(categorical_features=["city"]).fit(coded, y)
    model = clone(estimator).fit(table, y)
    assert model.categories_ == {"city": ["Lille", "Lyon", "Nice", "Paris"]}
    expected = plain.priority(coded)
    np.testing.assert_array_equal(model.priority(table), expected)
    np.testing.assert_array_equal(
        clone(model).fit(pl.from_pandas(table), y).priority(table), expected
    )
    # A row may come as a dict, its columns in any order and its categories as texts.
    np.testing.assert_array_equal(
        model.priority({"city": "Nice", "amount": 1.5}),
        plain.priority(pd.DataFrame({"amount": [1.5], "city": [2.0]})),
    )
    reasons = model.explain([{"city": c, "amount": 1.5} for c in ("Nice", "Rome", None)])
    assert not any("city = 2" in str(reason) for reason in reasons)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.categories_ == model.categories_
    np.testing.assert_array_equal(again.priority(table), expected)
    assert not hasattr(model.fit(coded, y), "categories_")


def test_categories_that_are_numbers_are_categories():
    table, y = mixed_table()
    table["city"] = table.city.cat.rename_categories(
        {"Nice": 30, "Lyon": 10, "Paris": 20, "Lille": 5}
    )
    for estimator in TAKES_CATEGORIES[:3]:
        model = clone(estimator).fit(table, y)
        assert model.categories_ == {"city": [5, 10, 20, 30]}
        assert (
            model.priority(table)[y == "yes"] > model.priority(table)[y == "no"].max()
        ).mean() > 0.8
        assert "city = 30" in str(model.explain({"amount": 1.5, "city": 30})[0])


@pytest.mark.parametrize("estimator", TAKES_NUMBERS, ids=lambda e: type(e).__name__)
def test_texts_are_refused_with_the_column_and_a_way_out(estimator):
    table, y = mixed_table(60)
    table["city"] = table.city.astype(object).fillna("Lyon")
    with pytest.raises(ValueError, match=r"'city' holds text \('.*TableEncoder.*TableModel"):
        estimator.fit(table, y)


@pytest.mark.parametrize("estimator", WHOLE, ids=lambda e: type(e).__name__)
def test_sparse_rows_are_refused_by_name(estimator):
    name = type(estimator).__name__
    with pytest.raises(TypeError, match=f"{name} does not take sparse rows"):
        clone(estimator).fit(csr_matrix(X), Y)

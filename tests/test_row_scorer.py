"""One row at a time: the priority of the same row in a table, bit for bit."""

import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind import TableModel
from rarefind.auto import AutoClassifier, find_estimator
from rarefind.boosting import NLBClassifier, SGBAPClassifier
from rarefind.conditions import ConditionClassifier, RuleListClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.streams import ONLBClassifier
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier, RandomizedForestClassifier

ESTIMATORS = [
    SGBAPClassifier(n_estimators=10, random_state=0),
    SGBAPClassifier(n_estimators=10, mix=1.0, bins="quantile", random_state=0),
    NLBClassifier(n_estimators=8, random_state=0),
    MetaAPClassifier(random_state=0),
    MetaAPClassifier(ties="leaf", random_state=0),
    MetaAPForestClassifier(n_estimators=8, random_state=0),
    RandomizedForestClassifier(n_estimators=8, random_state=0),
    ConditionClassifier(random_state=0),
    GammaKNNClassifier(random_state=0),
    AutoClassifier(candidates=["sgbap", "metaap", "gamma-knn"], trials=3, cv=2, random_state=0),
    AutoClassifier(candidates=["sgbap"], trials=1, cv=2, random_state=0),
    ONLBClassifier(random_state=0),
    find_estimator("xgboost").make().set_params(random_state=0),
]


def mixed_table():
    """Numbers, texts, truths and dates, with missing values."""
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "amount": rng.normal(size=n),
            "count": rng.integers(0, 9, n),
            "country": rng.choice(["FR", "BE", "XX"], n),
            "online": rng.choice([True, False], n),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "h"),
        }
    )
    score = table["amount"] + (table["country"] == "XX") + 0.2 * table["count"]
    table["fraud"] = np.where(score + rng.normal(size=n) > 3, "yes", "no")
    for name in ("amount", "country", "day"):
        table.loc[rng.random(n) < 0.1, name] = None
    return table


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda e: type(e).__name__)
def scored(request):
    model = TableModel(request.param, target="fraud").fit(mixed_table())
    return model, model.row_scorer()


rows = st.fixed_dictionaries(
    {
        "amount": st.one_of(st.floats(-1e6, 1e6), st.none(), st.just(np.nan)),
        "count": st.integers(-5, 20),
        "country": st.sampled_from(["FR", " BE ", "XX", "new", "", None, 7]),
        "online": st.booleans(),
        "day": st.one_of(
            st.none(), st.datetimes(pd.Timestamp(2020, 1, 1), pd.Timestamp(2030, 1, 1))
        ),
        "further": st.just("not read"),
    }
)


@given(row=rows)
@settings(max_examples=25, deadline=None)
def test_rows_have_the_priority_of_a_table(scored, row):
    model, scorer = scored
    score = scorer.score(row)
    assert score == float(model.priority([row])[0]) == float(model.priority(row)[0])
    positive = list(model.classes_).index("yes")
    probability = scorer.probability(row)
    assert probability == scorer.probability_of(score)
    assert probability == float(model.predict_proba([row])[0, positive])


def test_rows_of_a_table_and_of_numbers(scored):
    model, scorer = scored
    table = mixed_table().drop(columns="fraud")
    whole, proba = model.priority(table), model.predict_proba(table)[:, 1]
    assert [scorer.probability(row) for row in table.to_dict("records")] == proba.tolist()
    assert [scorer.score(row) for row in table.head(30).to_dict("records")] == whole[:30].tolist()
    assert [float(model.priority(table.iloc[[i]])[0]) for i in range(9)] == whole[:9].tolist()
    numbers = model.encoder_.transform(table.head(9))
    of_numbers = model.estimator_.row_scorer()
    assert [of_numbers.score(row) for row in numbers] == whole[:9].tolist()
    names = of_numbers.columns
    by_name = [of_numbers.score(dict(zip(names, row, strict=True))) for row in numbers.tolist()]
    assert by_name == whole[:9].tolist()


def test_threads_share_a_scorer(scored):
    _, scorer = scored
    given_rows = mixed_table().drop(columns="fraud").head(40).to_dict("records")
    alone = [scorer.score(row) for row in given_rows]
    found = {}

    def work(number):
        found[number] = [scorer.score(row) for row in given_rows]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [alone] * 4


def test_what_a_model_cannot_take_is_an_error():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) > 7
    scorer = GammaKNNClassifier(k=1).fit(X, y).row_scorer()
    with pytest.raises(ValueError, match="'x1' holds NaN"):
        scorer.score([1.0, np.nan])
    with pytest.raises(ValueError, match="takes 2 numbers"):
        scorer.score([1.0])
    with pytest.raises(ValueError, match="lacks 'x1'"):
        scorer.score({"x0": 1.0})


def test_categories_of_an_estimator_are_coded():
    table = pd.DataFrame({"a": pd.Categorical(["u", "v", "w", "v"] * 20), "b": np.arange(80.0)})
    y = (table["a"] == "v") & (table["b"] > 50)
    model = MetaAPClassifier(random_state=0).fit(table, y)
    found = [model.row_scorer().score(row) for row in table.to_dict("records")]
    assert found == model.priority(table).tolist()
    new = pd.DataFrame({"a": pd.Categorical(["z", None]), "b": [60.0, 60.0]})
    scores = [model.row_scorer().score({"a": a, "b": 60.0}) for a in ("z", None)]
    assert scores == model.priority(new).tolist()


def test_rules_score_a_row_as_a_table():
    table = mixed_table()
    known = table.drop(columns="fraud")
    rules = {
        "large": "amount > 1",
        "abroad": "country = 'XX' and amount is not missing",
        "many": "count / (count - 3) > 1.5 or online",
    }
    model = RuleListClassifier(rules, random_state=0).fit(known, table["fraud"])
    scorer = model.row_scorer()
    assert scorer.columns == ["amount", "country", "count", "online"]
    records = known.to_dict("records")
    assert [scorer.score(row) for row in records] == model.priority(known).tolist()
    positive = model.predict_proba(known)[:, 1].tolist()
    assert [scorer.probability(row) for row in records] == positive
    numbers = RuleListClassifier({"a": "x0 > 3"}, weights="equal", cv=2)
    numbers.fit(np.arange(20.0).reshape(10, 2), np.arange(10) > 7)
    assert numbers.row_scorer().score([4.0, 1.0]) == 1.0

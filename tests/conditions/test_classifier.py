"""The list of conditions: short, honest, and the same however it is written."""

import json
import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

import rarefind
from rarefind import TableModel
from rarefind.boosting import ProjectionBoostingClassifier, SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.conditions._choice import shortest, sizes_to_try
from rarefind.conditions._classifier import _LabelledRows
from rarefind.conditions._rounding import (
    opposite,
    round_threshold,
    roundest,
    shorten,
)
from rarefind.conditions._stumps import (
    Boosting,
    distinct,
    eliminations,
    merge_rows,
    with_parts,
)
from rarefind.metrics import average_precision
from rarefind.rules import Rule, RuleError, RuleSet
from rarefind.rules.branch_nodes import branch_node
from rarefind.rules.branches import Combination
from rarefind.rules.branches import Test as Asked


def table(seed=0, n=1200):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": rng.gamma(2, 50, n).round(2),
            "mean of card": rng.gamma(2, 50, n).round(2),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n)),
            "night": (rng.random(n) < 0.3).astype(float),
        }
    )
    positive = (X["amount"] > 150) & (X["night"] == 1) & ~(X["age"] < 40)
    return X, np.where(positive ^ (rng.random(n) < 0.01), "fraud", "fine")


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return ConditionClassifier(random_state=0).fit(X, y), X, y


def test_it_finds_the_rule_that_made_the_positives(fitted):
    model, _, _ = fitted
    new, y = table(1)
    assert model.n_conditions_ <= 15
    truth = y == "fraud"
    assert average_precision(truth, model.priority(new)) > 0.75
    first = model.conditions_["rule"].iloc[0]
    assert {"amount", "night"} <= set(Rule(first).columns)


def test_the_list_is_scored_as_it_reads(fitted):
    model, X, _ = fitted
    lines = model.export_text().splitlines()
    score = np.full(len(X), float(lines[0].removeprefix("score = ")))
    for line in lines[1:-1]:
        sign, weight, rule = re.fullmatch(r"  ([+-]) (\S+) if (.*?)(?:   #.*)?", line).groups()
        score += np.where(Rule(rule).fires_on(X), float(sign + weight), 0.0)
    assert np.array_equal(score, model.priority(X))
    threshold = float(re.fullmatch(r"alert from (\S+) on", lines[-1]).group(1))
    assert np.array_equal(score >= threshold, model.predict(X) == "fraud")


def in_sqlite(sql, X):
    connection = sqlite3.connect(":memory:")
    X.to_sql("rows", connection, index=False)
    return pd.read_sql_query(sql, connection)["priority"].to_numpy()


def in_duckdb(sql, X):
    connection = duckdb.connect()
    connection.register("rows", X)
    return connection.execute(sql).df()["priority"].to_numpy()


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        RandomForestClassifier(10, max_depth=3),
        ProjectionBoostingClassifier(n_estimators=20, max_rounds=5, cv=2),
    ],
)
def test_text_sql_and_json_give_the_same_scores(estimator, fitted, tmp_path):
    X, y = table()
    model = fitted[0]
    if estimator is not None:
        model = ConditionClassifier(estimator, cv=2, random_state=0).fit(X, y)
    new = table(2)[0]
    score = model.priority(new)
    assert np.array_equal(in_sqlite(model.to_sql("sqlite"), new), score)
    assert np.array_equal(in_duckdb(model.to_sql("duckdb"), new), score)
    again = ConditionClassifier.from_json(model.to_json())
    assert np.array_equal(again.priority(new), score)
    assert np.array_equal(again.predict_proba(new), model.predict_proba(new))
    assert np.array_equal(again.predict(new), model.predict(new))
    assert list(map(str, again.explain(new[:5]))) == list(map(str, model.explain(new[:5])))
    pd.testing.assert_frame_equal(again.conditions_, model.conditions_)
    assert again.to_json() == model.to_json()
    rarefind.save(model, tmp_path / "m.rarefind")
    assert np.array_equal(rarefind.load(tmp_path / "m.rarefind").priority(new), score)
    fires = model.to_rules().fires_on(new)
    by_rules = model.start_ + (fires * model.conditions_["weight"].to_numpy()).sum(axis=1)
    assert np.allclose(by_rules, score, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"kind": "rarefind conditions"}', "no json", "null", "[" * 100_000]
)
def test_what_is_not_a_list_is_refused(text):
    with pytest.raises(RuleError, match="not a list of conditions"):
        ConditionClassifier.from_json(text)


HOSTILE = [
    (("start",), float("nan")),
    (("start",), 10**400),
    (("start",), "1.5"),
    (("threshold",), float("inf")),
    (("version",), 99),
    (("classes",), ["fraud"]),
    (("classes",), ["fraud", "fraud"]),
    (("positive",), "other"),
    (("columns",), ["amount"] * 4),
    (("measured", "rows"), [0, 5]),
    (("measured", "alerts"), [[1]]),
    (("measured", "hits"), [float("nan")]),
    (("reference",), [[], []]),
    (("conditions", 0, "weight"), float("nan")),
    (("conditions", 0, "rule"), "amount > 1"),
    (("conditions", 0, "tests"), []),
    (("conditions", 0, "tests", 0, "column"), "amnt"),
    (("conditions", 0, "tests", 0, "missing"), "false"),
    (("conditions", 0, "tests", 0, "sum"), []),
    (("conditions", 0, "tests", 0, "above"), 10**400),
    (("chosen",), None),
]


@pytest.mark.parametrize(("place", "value"), HOSTILE)
def test_a_list_that_was_tampered_with_is_refused(fitted, place, value):
    whole = json.loads(fitted[0].to_json())
    at = whole
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(RuleError, match="not a list of conditions"):
        ConditionClassifier.from_json(json.dumps(whole))


def test_a_condition_that_asks_twice_for_a_column_is_refused(fitted):
    whole = json.loads(fitted[0].to_json())
    tests = whole["conditions"][0]["tests"]
    tests.append(tests[0])
    with pytest.raises(RuleError, match="asks twice"):
        ConditionClassifier.from_json(json.dumps(whole))


def test_conditions_are_measured_on_rows_that_nothing_is_learned_from(fitted):
    model, X, y = fitted
    said = model.conditions_
    assert model._measures.rows[0] == len(X) // 5
    for name in ("support", "precision", "recall", "lift"):
        known = said[said[name].notna()]  # a condition may hold for none of these rows
        assert (known[f"{name}_low"] <= known[name]).all()
        assert (known[name] <= known[f"{name}_high"]).all()
        assert len(known)
    rate = model._measures.positives[0] / model._measures.rows[0]
    assert np.allclose(said["lift"], said["precision"] / rate, equal_nan=True)
    # What is in those rows changes what is measured, and nothing that is learned.
    _, unseen = model._split(rows_of(X, y), np.ones(len(X), bool), seed_of(0))
    other = X.copy()
    other.iloc[unseen] = other.iloc[np.random.default_rng(0).permutation(unseen)].to_numpy()
    again = ConditionClassifier(random_state=0).fit(other, y)
    assert np.array_equal(again.priority(X), model.priority(X))
    assert again.conditions_["rule"].tolist() == said["rule"].tolist()
    assert not again.conditions_["precision"].equals(said["precision"])


def rows_of(X, y):
    return _LabelledRows(X.to_numpy(), y == "fraud", np.ones(len(X)))


def seed_of(random_state):
    return int(np.random.RandomState(random_state).randint(2**31 - 1))


def test_a_larger_tolerance_keeps_a_shorter_list():
    X, y = table(5)
    lengths = [
        ConditionClassifier(tolerance=t, cv=2, random_state=0).fit(X, y).n_conditions_
        for t in (0.0, 0.9)
    ]
    assert lengths[1] == 1 <= lengths[0]
    assert ConditionClassifier(max_conditions=2, cv=2).fit(X, y).n_conditions_ <= 2


def test_a_fitted_ensemble_is_taken_as_it_is():
    X, y = table(3, 600)
    ensemble = xgboost.XGBClassifier(n_estimators=20, max_depth=3).fit(X, y == "fraud")
    before = ensemble.get_booster().save_raw()
    new, labels = table(4)
    labels = (labels == "fraud").astype(int)
    model = ConditionClassifier(ensemble, prefit=True, cv=2, random_state=0).fit(new, labels)
    assert ensemble.get_booster().save_raw() == before
    raw = ConditionClassifier(ensemble.get_booster(), prefit=True, cv=2, random_state=0)
    assert raw.fit(new, labels).export_text() == model.export_text()
    frozen = ConditionClassifier(FrozenEstimator(ensemble), cv=2, random_state=0)
    assert clone(frozen).fit(new, labels).export_text() == model.export_text()
    with pytest.raises(ValueError, match="prefit=True needs"):
        ConditionClassifier(prefit=True).fit(X, y)
    with pytest.raises(ValueError, match="fitted to 4 columns, and X has 2"):
        ConditionClassifier(ensemble, prefit=True).fit(X.iloc[:, :2], y)
    with pytest.raises(ValueError, match="in the same order"):
        ConditionClassifier(ensemble, prefit=True).fit(X[X.columns[::-1]], y)
    with pytest.raises(ValueError, match="labels that the estimator knows"):
        ConditionClassifier(ensemble, prefit=True).fit(X, y)
    with pytest.raises(NotFittedError):
        ConditionClassifier(RandomForestClassifier(), prefit=True).fit(X, y)


def test_a_threshold_that_is_given_is_kept():
    X, y = table(0, 400)
    for threshold in (0.37, -1.234):
        model = ConditionClassifier(threshold=threshold, cv=2, random_state=0).fit(X, y)
        assert model.threshold_ == threshold


def test_measures_of_weighted_rows_are_those_of_the_rows_they_stand_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = (rng.random(3000) < 1 / (1 + np.exp(3 - 2 * X[:, 0]))).astype(int)
    kept = (y == 1) | (rng.random(3000) < 0.2)
    weight = np.where(y == 1, 1.0, 5.0)[kept]
    model = ConditionClassifier(max_conditions=1, pos_label=1, random_state=0)
    (found,) = model.fit(X[kept], y[kept], weight).conditions_.to_dict("records")
    alert = Rule(found["rule"]).fires_on(pd.DataFrame(X, columns=["x0", "x1"]))
    assert found["precision_low"] < y[alert].mean() < found["precision_high"]
    assert found["support_low"] < alert.mean() < found["support_high"]


def test_groups_stay_together_in_the_ensemble_too():
    X, y = table(0, 400)
    seen = []

    class Watching(SGBAPClassifier):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight, groups=groups)

    groups = np.arange(400) // 4
    watching = Watching(n_estimators=3, cv=2)
    ConditionClassifier(watching, cv=2, random_state=0).fit(X, y, groups=groups)
    assert all(found is not None for found in seen)
    for found in seen:
        assert set(np.unique(found, return_counts=True)[1]) == {4}  # whole groups
    # Positives of two groups are too few to keep one of them out.
    two = np.where(y == "fraud", np.arange(400) % 2, 10 + np.arange(400) % 40)
    assert not ConditionClassifier(cv=2).fit(X, y, groups=two)._measures.rows[0]


def test_levels_are_named_in_the_tables_own_words():
    rng = np.random.default_rng(0)
    n = 1500
    frame = pd.DataFrame(
        {
            "amount": rng.gamma(2, 50, n).round(2),
            "land": rng.choice(["FR", "BE", "it's", "US"], n),
            "online": rng.random(n) < 0.4,
            "made": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
        }
    )
    frame.loc[rng.random(n) < 0.05, "land"] = None
    positive = (frame["amount"] > 120) & (frame["land"] == "it's") & frame["online"]
    frame["fraud"] = np.where(positive ^ (rng.random(n) < 0.005), 1, 0)
    model = TableModel(
        ConditionClassifier(cv=2, random_state=0), target="fraud", drop=["made"]
    ).fit(frame)
    rules = model.rules()
    said = model.conditions()
    score = model.estimator_.start_ + rules.fires_on(frame) @ said["weight"].to_numpy()
    assert np.allclose(score, model.priority(frame), rtol=0, atol=1e-12)
    assert "land = 'it''s'" in said["rule"].iloc[0]
    assert "online" in said["rule"].iloc[0]
    assert RuleSet.from_text(rules.to_text()).to_text() == rules.to_text()
    reason = model.explain(frame.iloc[[int(np.argmax(score))]])[0]
    assert "land = it's" in str(reason)


def test_levels_and_scales_of_other_encoders_are_spoken_too():
    """One-hot levels, rare levels, frequencies, filled missing values and scaled numbers."""
    from rarefind.data import TableEncoder
    from rarefind.tables.rules import table_rules

    rng = np.random.default_rng(0)
    n = 800
    frame = pd.DataFrame(
        {
            "amount": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 9, n)),
            "land": rng.choice(
                ["A", "B", "C", "D", "E", None], n, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05]
            ),
            "ok": pd.array(rng.choice([True, False, None], n), dtype="boolean"),
        }
    )
    new = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    new.loc[:20, "land"] = "strange"
    for encoder in (
        TableEncoder(missing="fill", scale=True, max_levels=3),
        TableEncoder(levels="code", max_levels=3),
        TableEncoder(max_levels=2),
    ):
        encoded = encoder.fit(frame).transform(frame)
        there = encoder.transform(new)
        for j in range(encoded.shape[1]):
            middle = np.nanquantile(encoded[:, j], [0.3, 0.7]).mean()
            for test in (
                Asked(low=middle),
                Asked(high=middle),
                Asked(low=middle, missing=True),
                Asked(high=middle, missing=True),
            ):
                held = np.array([test.holds(value) for value in there[:, j]])
                rule = next(iter(table_rules(encoder, [{j: test}], [])))
                assert np.array_equal(rule.fires_on(new), held), (j, test, rule.text)


def test_rules_fire_where_the_model_reads_what_they_say():
    """Texts that stand for numbers, truths and missing values, as tables of pandas often have."""
    rng = np.random.default_rng(0)
    n = 900
    messy = pd.DataFrame(
        {
            "land": rng.choice(["FR", " FR", "BE", "", "NA", None], n),
            "ok": rng.choice(["yes", "no"], n),
            "sum": [f"{value:.1f}" for value in rng.normal(50, 9, n)],
            "big": rng.choice(["12", "13", "14"], n),
        }
    )
    messy["y"] = (messy["land"].isin(["", "NA"]) & (messy["ok"] == "yes")).astype(int)
    model = TableModel(ConditionClassifier(cv=2, random_state=0)).fit(messy)
    read = model.read(messy)
    rules, said = model.rules(), model.conditions()
    score = model.estimator_.start_ + rules.fires_on(read) @ said["weight"].to_numpy()
    assert np.allclose(score, model.priority(messy), rtol=0, atol=1e-12)
    assert len(np.unique(score)) > 1
    with pytest.raises(ValueError, match="no column 'ok'"):
        model.read(messy.drop(columns="ok"))


def test_dates_cannot_be_said_and_other_models_have_no_list():
    X, y = table(0, 300)
    frame = X.assign(made=pd.Timestamp("2025-01-01"), y=(y == "fraud").astype(int))
    frame["made"] += pd.to_timedelta(np.arange(300) % 7, "D")
    frame["y"] = (frame["made"].dt.day_of_week == 3).astype(int)
    model = TableModel(ConditionClassifier(cv=2, random_state=0)).fit(frame)
    with pytest.raises(RuleError, match="of 'made', a date"):
        model.rules()
    other = TableModel(SGBAPClassifier(n_estimators=3, cv=2)).fit(frame)
    with pytest.raises(ValueError, match="SGBAPClassifier is"):
        other.rules()


def test_levels_that_xgboost_does_not_take_are_refused():
    X, y = table(0, 300)
    with pytest.raises(ValueError, match="whole numbers"):
        ConditionClassifier(categorical_features=["amount"]).fit(X, y)
    with pytest.raises(
        ValueError, match="RandomForestClassifier has no parameter categorical_features"
    ):
        ConditionClassifier(RandomForestClassifier(2), categorical_features=[3]).fit(X, y)


def test_reasons_add_up_and_name_what_holds(fitted):
    model, X, _ = fitted
    top = X.iloc[np.argsort(-model.priority(X))[:5]]
    for reason, score in zip(model.explain(top), model.priority(top), strict=True):
        assert reason.base + sum(reason.contributions.values()) == pytest.approx(score)
        assert all(condition.feature in X.columns for condition in reason.because)
        assert sum(c.weight for c in reason.because) == pytest.approx(1)


def test_an_ensemble_without_a_split_is_a_list_without_conditions():
    X = np.ones((40, 2))
    y = np.arange(40) % 4 == 0
    model = ConditionClassifier(cv=2).fit(X, y)
    assert model.n_conditions_ == 0
    assert np.unique(model.priority(X)).size == 1
    assert model.conditions_.empty
    again = ConditionClassifier.from_json(model.to_json())
    assert np.array_equal(again.priority(X), model.priority(X))


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_xgboost(seed):
    rng = np.random.default_rng(seed)
    held = csr_matrix((rng.random((500, 12)) < rng.random(12)).astype(np.float32))
    score = held.toarray() @ rng.normal(size=12) + rng.normal(size=500)
    positive = score > np.quantile(score, 0.8)
    weight = rng.uniform(0.5, 2, 500)
    scale, _ = Boosting(25, 0.3, 1.0, True).fit(csc_matrix(held), positive, weight)
    params = {
        "objective": "binary:logistic",
        "max_depth": 1,
        "learning_rate": 0.3,
        "reg_lambda": 1.0,
        "min_child_weight": 0,
        "base_score": float(weight[positive].sum() / weight.sum()),
        "nthread": 1,
    }
    data = xgboost.DMatrix(held.toarray(), label=positive, weight=weight)
    booster = xgboost.train(params, data, 25)
    margin = booster.predict(data, output_margin=True)
    assert np.allclose(scale.score(held), margin, atol=1e-4)


def naive_boosting(dense, positive, weight, start, rounds, rate, shrinkage, negative):
    score = np.full(positive.size, start)
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-score))
        first, second = weight * (chance - positive), weight * chance * (1 - chance)

        def worth(rows, first=first, second=second):
            return first[rows].sum() ** 2 / (second[rows].sum() + shrinkage)

        def value(rows, first=first, second=second):
            return -rate * first[rows].sum() / (second[rows].sum() + shrinkage)

        every = np.ones(positive.size, dtype=bool)
        gains = [
            worth(c) + worth(~c) - worth(every) if negative or value(c) >= value(~c) else -1
            for c in dense.T
        ]
        if max(gains, default=0) <= 1e-6:
            score = score + value(every)
            continue
        split = dense[:, int(np.argmax(np.round(gains, 9)))]
        score = np.where(split, score + value(split), score + value(~split))
    return score


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 4), st.booleans())
def test_weights_are_those_of_the_definition(seed, n_conditions, negative):
    rng = np.random.default_rng(seed)
    dense = rng.random((30, n_conditions)) < 0.4
    positive = rng.random(30) < 0.3
    positive[:2] = True, False
    weight = rng.uniform(0.5, 2, 30)  # no two conditions gain the same
    prior = float(np.log(weight[positive].sum() / weight[~positive].sum()))
    held = csr_matrix(dense.astype(np.float32))
    scale, gains = Boosting(6, 0.3, 0.5, negative).fit(csc_matrix(held), positive, weight)
    expected = naive_boosting(dense, positive, weight, prior, 6, 0.3, 0.5, negative)
    assert np.allclose(scale.score(held), expected, atol=1e-9)
    assert ((gains > 0) | (scale.weights == 0)).all()
    assert negative or (scale.weights >= 0).all()


def test_elimination_keeps_what_gains_most():
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.3
    columns = [positive ^ (rng.random(400) < noise) for noise in (0.02, 0.2, 0.5, 0.5, 0.5)]
    held = csr_matrix(np.column_stack(columns).astype(np.float32))
    found = list(
        eliminations(held, positive, np.ones(400), Boosting(20, 0.3, 1.0, True), [4, 2, 1])
    )
    assert [scale.columns.size for scale in found] == [4, 2, 1]
    assert found[2].columns.tolist() == [0]
    assert set(found[2].columns) <= set(found[1].columns) <= set(found[0].columns)


def test_conditions_that_hold_for_the_same_rows_are_one_theshortest():
    held = np.array([[1, 1, 0, 1, 0], [0, 0, 1, 1, 0], [1, 1, 0, 1, 0]], dtype=np.float32)
    branches = [{j: Asked(low=0.5)} for j in range(5)]
    branches[0][5] = Asked(high=9.0)
    X = np.column_stack([held, np.zeros(3)])
    kept, matrix = distinct([*branches, branches[1]], X, None)
    assert kept == branches[1:3]  # the shorter of 0 and 1; those for all rows or none tell nothing
    assert np.array_equal(matrix.toarray(), held[:, 1:3])


def test_parts_of_a_branch_are_its_tests_without_some():
    first, second, third = {0: Asked(low=1.0)}, {1: Asked(low=2.0)}, {2: Asked(high=3.0)}
    found = with_parts([first | second | third])
    assert len(found) == 7
    for part in (first, second, third, first | second, first | third, first | second | third):
        assert part in found
    long = {j: Asked(low=1.0) for j in range(6)}
    assert with_parts([long]) == [long]


def test_sizes_fall_to_one():
    assert sizes_to_try(40)[:5] == [240, 120, 80, 40, 32]
    assert sizes_to_try(40)[-3:] == [3, 2, 1]
    assert sizes_to_try(1) == [6, 3, 2, 1]


def test_the_shortest_list_within_the_tolerance_is_taken():
    sizes, values = np.array([8, 4, 2, 1]), np.array([0.9, 0.8, 0.79, 0.5])
    assert shortest(sizes, values, 4, 0.8, 0.02) == 2
    assert shortest(sizes, values, 4, 0.99, 0.02) == 2  # from the best that may be kept
    assert shortest(sizes, values, 4, 0.99, 0.0) == 1
    assert shortest(sizes, values, 8, 0.9, 0.9) == 3
    lucky = np.array([0.9, 0.8, 0.7, 0.9])  # the shortest by chance: as good as the mean of them
    assert shortest(sizes, lucky, 8, 0.9, 0.0) == 0


finite = st.floats(-1e6, 1e6).map(lambda v: round(v, 6))


@given(finite, finite)
def test_round_numbers_part_what_they_parted(a, b):
    low, high = sorted((a, b))
    if low == high:
        return
    found = roundest(low, high, low)
    assert low <= found < high
    assert len(repr(found)) <= max(len(repr(low)), len(repr(high))) + 2


@given(st.lists(finite, min_size=2, max_size=8, unique=True), st.integers(0, 6))
def test_a_rounded_cut_alerts_the_same_rows(scores, at):
    score = np.array(scores)
    threshold = float(np.sort(score)[at % score.size])
    found = round_threshold(threshold, score)
    assert np.array_equal(score >= found, score >= threshold)


def test_shortened_conditions_hold_for_the_same_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 9, 200) / 3])
    branch = {0: Asked(low=-0.123456789, missing=True), 1: Asked(high=1.4142135)}
    found = shorten(branch, X, np.array([False, False]))
    assert not found[0].missing  # no missing value was seen
    for row in X:
        assert all(branch[j].holds(row[j]) == found[j].holds(row[j]) for j in (0, 1))
    assert len(repr(found[0].low)) < 7
    assert found[1].high == 1.5


def test_what_speaks_against_positives_is_turned_round_where_it_can_be():
    has_missing = np.array([True, False])
    values = [-1.0, 0.0, 1.0, 2.0, np.nan]
    for test in (
        Asked(high=1.0),
        Asked(low=0.0, missing=True),
        Asked(levels=frozenset({1.0, 2.0})),
        Asked(levels=frozenset({0.0}), negated=True, missing=True),
    ):
        turned = opposite({0: test}, has_missing)[0]
        assert [turned.holds(v) for v in values] == [not test.holds(v) for v in values]
    assert opposite({0: Asked(0.0, 1.0)}, has_missing) is None
    assert opposite({0: Asked(high=1.0), 1: Asked(low=0.0)}, has_missing) is None
    X, y = table(6)
    model = ConditionClassifier(max_conditions=3, cv=2, random_state=0).fit(X, y != "fraud")
    again = ConditionClassifier(max_conditions=3, cv=2, random_state=0).fit(X, y == "fraud")
    assert np.array_equal(model.priority(X), again.priority(X))


names = ["a", "b c"]
tests = st.one_of(
    st.builds(
        Asked,
        st.sampled_from([-np.inf, -1.5, 0.0]),
        st.sampled_from([0.5, 2.0, np.inf]),
        missing=st.booleans(),
    ),
    st.builds(
        Asked,
        levels=st.frozensets(st.sampled_from([0.0, 1.0, 2.0]), min_size=1),
        negated=st.booleans(),
        missing=st.booleans(),
    ),
)
COMBINATION = Combination((0, 1), (0.5, -2.0), (np.nan, 1.0))


@settings(deadline=None)
@example({0: Asked(missing=True), 1: Asked(low=0.0)}, [(None, 1.0), (1.0, None)])
@given(
    st.dictionaries(st.integers(0, 2), tests, min_size=1),
    st.lists(st.tuples(*[st.sampled_from([None, -2.0, -1.5, 0.0, 0.5, 1.0, 2.0])] * 2), min_size=1),
)
def test_a_condition_reads_as_it_is_tested(branch, points):
    rule = Rule(str(branch_node(branch, names, [COMBINATION])))
    for a, b in points:
        row = [np.nan if v is None else v for v in (a, b)]
        row.append(0.5 * row[0] - 2.0 * (1.0 if b is None else b))
        held = all(test.holds(row[j]) for j, test in branch.items())
        assert rule.fires({"a": a, "b c": b}) == held


def test_rows_for_which_the_same_conditions_hold_are_learned_from_as_one(monkeypatch):
    rng = np.random.default_rng(0)
    held = csr_matrix((rng.random((3000, 6)) < 0.2).astype(np.float32))
    positive = rng.random(3000) < 0.05 + 0.3 * held[:, [2]].toarray()[:, 0]
    weight = rng.random(3000) + 0.5
    boosting = Boosting(20, 0.3, 1.0, True)
    assert merge_rows(held, positive, weight)[0] is held  # few rows are as they are
    plain = list(eliminations(held, positive, weight, boosting, [4, 2]))
    monkeypatch.setattr("rarefind.conditions._stumps._MANY_ROWS", 1000)
    rows, _, merged = merge_rows(held, positive, weight)
    assert rows.shape[0] <= 2 * 2**6
    assert merged.sum() == pytest.approx(weight.sum())
    for one, other in zip(
        plain, eliminations(held, positive, weight, boosting, [4, 2]), strict=True
    ):
        np.testing.assert_array_equal(one.columns, other.columns)
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)
        assert one.start == pytest.approx(other.start)


def test_of_many_negatives_folds_learn_from_some_with_the_weight_of_all(monkeypatch):
    monkeypatch.setattr("rarefind.conditions._classifier._ENOUGH_NEGATIVES", 300)
    monkeypatch.setattr("rarefind.conditions._classifier._NEGATIVES_EACH", 2)
    rng = np.random.default_rng(0)
    positive = np.arange(2000) % 40 == 0
    X = rng.normal(size=(2000, 3)) + 2 * positive[:, None]
    rows = _LabelledRows(X, positive, rng.random(2000) + 0.5)
    thin = rows.thin(0)
    assert thin.positive.sum() == 50
    assert (~thin.positive).sum() == 300
    for side in (True, False):
        expected = rows.weight[positive == side].sum()
        assert thin.weight[thin.positive == side].sum() == pytest.approx(expected)
    assert thin.thin(0) is thin
    model = ConditionClassifier(random_state=0).fit(X, positive)
    alerts = model.predict(X).mean()
    assert 0.01 < alerts < 0.06  # the threshold is for the share of positives as it is


@pytest.mark.parametrize("levels", [["Lyon", "Nice", "Paris"], [10, 20, 30]])
def test_conditions_on_categories_name_their_levels(levels):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"amount": rng.normal(size=300), "city": pd.Categorical(rng.choice(levels, 300))}
    )
    y = (frame.city == levels[1]) & (frame.amount > 0)
    model = ConditionClassifier(random_state=0).fit(frame, y)
    assert all(f"city = {levels[1]!r}" in rule for rule in model.conditions_.rule)
    assert str(levels[1]) in model.export_text()
    # As rules on the table they hold where the model's conditions do.
    as_texts = frame.astype({"city": object if isinstance(levels[0], str) else float})
    held = sum(
        weight * rule.fires_on(as_texts)
        for rule, weight in zip(model.to_rules(), model.conditions_.weight, strict=True)
    )
    np.testing.assert_allclose(model.start_ + held, model.priority(frame))
    again = ConditionClassifier.from_json(model.to_json())
    np.testing.assert_array_equal(again.priority(frame), model.priority(frame))

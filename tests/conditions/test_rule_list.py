"""Experts' rules as an estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import rarefind
from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.conditions import RuleListClassifier
from rarefind.data import TableEncoder
from rarefind.rules import RuleError, RuleSet
from rarefind.selection import compare

RULES = """
let limit = 5
large: amount > limit * mean and not online
abroad: land != home
never: amount < 0
"""


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "amount": rng.gamma(2, 50, n),
            "mean": rng.gamma(2, 20, n),
            "online": rng.random(n) < 0.4,
            "land": rng.choice(["FR", "BE", None], n),
            "home": rng.choice(["FR", "BE"], n),
        }
    )
    large = (frame["amount"] > 5 * frame["mean"]) & ~frame["online"]
    abroad = (frame["land"] != frame["home"]) & frame["land"].notna()
    chance = 0.02 + 0.5 * large + 0.1 * abroad
    return frame, np.where(rng.random(n) < chance, "yes", "no"), large, abroad


@pytest.fixture(scope="module")
def fitted():
    frame, y, _, _ = table()
    return RuleListClassifier(RULES, pos_label="yes", random_state=0).fit(frame, y)


def test_scores_are_sums_of_the_weights_of_rules_that_fire(fitted):
    new, _, large, abroad = table(seed=1)
    weights = fitted.weights_
    expected = fitted.start_ + large * weights["large"] + abroad * weights["abroad"]
    assert np.allclose(fitted.priority(new), expected, rtol=0, atol=1e-12)
    assert weights["large"] > weights["abroad"] > 0
    assert weights["never"] == 0
    assert np.array_equal(fitted.priority(new[:1]), fitted.priority(new)[:1])
    assert np.array_equal(fitted.priority(pl.from_pandas(new)), fitted.priority(new))


def test_equal_weights_count_rules_and_given_weights_are_kept():
    frame, y, large, abroad = table()
    counted = RuleListClassifier(RULES, weights="equal", threshold=None, pos_label="yes")
    assert np.array_equal(counted.fit(frame, y).priority(frame), 1.0 * large + abroad)
    assert np.array_equal(counted.predict(frame) == "yes", large | abroad)
    given = RuleListClassifier(RULES, weights={"large": 2.5}, pos_label="yes").fit(frame, y)
    assert np.array_equal(given.priority(frame), 2.5 * large)
    with pytest.raises(ValueError, match="'larg', which is not a rule"):
        RuleListClassifier(RULES, weights={"larg": 1}).fit(frame, y)


def test_reasons_are_the_parts_of_rules_that_fire(fitted):
    new, _, large, abroad = table(seed=2)
    both = np.flatnonzero(large & abroad)[:3]
    for row, reason in zip(both, fitted.explain(new.iloc[both]), strict=True):
        texts = {str(condition) for condition in reason.because}
        assert texts == {"amount > 5 * mean", "not online", "land != home"}
        assert sum(c.weight for c in reason.because) == pytest.approx(1)
        assert reason.score == fitted.priority(new.iloc[[row]])[0]
    nothing = np.flatnonzero(~(large | abroad))[:1]
    assert fitted.explain(new.iloc[nothing])[0].because == []


def test_plain_comparisons_are_conditions_with_values():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", None, "y", "z"] * 5})
    y = [0, 0, 0, 1] * 5
    rules = {
        "one": "a > 2 and a != -1 and b in ('y', 'z') and b is not missing",
        "two": "b is missing",
    }
    model = RuleListClassifier(rules, weights="equal").fit(X, y)
    first = model.explain(X.iloc[[3]])[0].because
    said = {(c.feature, c.op, c.value) for c in first}
    assert said == {
        ("a", ">", 2.0),
        ("a", "not in", (-1.0,)),
        ("b", "in", ("y", "z")),
        ("b", "=", "present"),
    }
    (second,) = model.explain(X.iloc[[1]])[0].because
    assert (second.feature, second.op, second.value) == ("b", "=", "missing")


def test_rules_stand_beside_models_in_a_comparison():
    frame, y, _, _ = table(400)
    found = compare(
        {
            "experts": RuleListClassifier(RULES),
            "learned": make_pipeline(TableEncoder(), SGBAPClassifier(n_estimators=10, cv=2)),
        },
        frame,
        y,
        cv=3,
        pos_label="yes",
        random_state=0,
    )
    assert set(found.table().index) == {"experts", "learned"}


def test_it_is_kept_in_a_file(fitted, tmp_path):
    new = table(seed=3)[0]
    rarefind.save(fitted, tmp_path / "m.rarefind")
    again = rarefind.load(tmp_path / "m.rarefind")
    assert np.array_equal(again.priority(new), fitted.priority(new))
    assert again.rules_.to_text() == fitted.rules_.to_text()


def test_what_is_no_rule_or_no_table_is_refused():
    frame, y, _, _ = table(100)
    with pytest.raises(ValueError, match="needs rules"):
        RuleListClassifier().fit(frame, y)
    with pytest.raises(ValueError, match="at least one rule"):
        RuleListClassifier("# nothing").fit(frame, y)
    with pytest.raises(RuleError, match="no column 'amnt'"):
        RuleListClassifier({"a": "amnt > 5"}).fit(frame, y)
    with pytest.raises(RuleError, match="holds"):
        RuleListClassifier({"a": "land > 5"}).fit(frame, y)
    with pytest.raises(TypeError, match="does not take sparse rows"):
        RuleListClassifier({"a": "x0 > 5"}).fit(csr_matrix(np.eye(4)), [0, 1, 0, 0])
    with pytest.raises(ValueError, match="reads tables by itself"):
        TableModel(RuleListClassifier(RULES)).fit(frame.assign(y=y))
    fitted = RuleListClassifier(RULES).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.drop(columns="land"))


def test_a_set_of_rules_is_taken_as_it_is_and_cloned():
    frame, y, _, _ = table(200)
    rules = RuleSet.from_text(RULES)
    model = clone(RuleListClassifier(rules)).fit(frame, y)
    assert model.rules_.to_text() == rules.to_text()

"""Rules together: files, measures, and those that are retired."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.rules import Rule, RuleError, RuleSet, read_rules

FILE = """
# Written by the desk.
let limit = 5
let home = 'FR'

large: amount > limit * card_mean
abroad: country != home
  and not ecommerce
"""


def test_a_file_is_read_and_written():
    rules = RuleSet.from_text(FILE)
    assert [rule.name for rule in rules] == ["large", "abroad"]
    assert rules["abroad"].text == "country != home and not ecommerce"
    assert RuleSet.from_text(rules.to_text()).to_text() == rules.to_text()
    assert RuleSet.from_json(rules.to_json()).to_json() == rules.to_json()
    record = {"amount": 100, "card_mean": 10, "country": "US", "ecommerce": False}
    assert rules.fires(record) == ["large", "abroad"]
    with pytest.raises(KeyError):
        rules["none"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a > 1", "Line 1 is not a rule: write name: rule."),
        ("\nx: a >", "Rule 'x': The rule ends too early."),
        ("x: a > 1\nx: b > 1", "Two rules are called 'x'."),
        ("let limit", "Line 1"),
        ("let limit = seven", "Line 1: 'seven' is not a number, a text in quotes, true or false."),
    ],
)
def test_what_is_wrong_in_a_file_is_told(text, message):
    with pytest.raises(RuleError, match=message):
        RuleSet.from_text(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rules": [1]}', '{"rules": [{"name": "x"}]}'])
def test_other_json_is_refused(text):
    with pytest.raises(RuleError, match="not a file of rules"):
        RuleSet.from_json(text)


def test_a_rule_whose_name_has_signs_keeps_its_weight():
    """What was written did not read back: there was a weight of 'n >', and no such rule."""
    text = "n >= 2: n >= 2\nweight n >= 2 = 3.5\n"
    rules = RuleSet.from_text(text)
    assert rules["n >= 2"].weight == 3.5
    assert RuleSet.from_text(rules.to_text()).to_text() == rules.to_text()


def test_a_name_is_a_text():
    """A list of 2,000 was made one, and stood whole in the error."""
    text = json.dumps({"rules": [{"name": ["large"] * 2000, "rule": "a >"}]})
    with pytest.raises(RuleError, match=r"^This is not a file of rules \(a name is not a text\)"):
        RuleSet.from_json(text)


def test_a_long_constant_is_shortened_in_its_error():
    with pytest.raises(
        RuleError, match=r"The constant 'home' is .* which is not a number"
    ) as caught:
        RuleSet.from_json(json.dumps({"constants": {"home": ["FR"] * 2000}, "rules": []}))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (f"let limit = {'x' * 5000}", r"x' is not a number, a text in quotes, true or false\.$"),
        (f"{'x' * 5000}: amount > 'FR", r"\.$"),
        (f"{'x' * 5000}: amount > 1", r"x': The column 'amount' is a text, .* is needed\.$"),
        (f"weight {'x' * 5000} = 2", r"x', and no rule of that name\.$"),
    ],
)
def test_what_is_long_is_shortened_in_errors(tmp_path, text, ending):
    (tmp_path / "a.rules").write_text(text)
    with pytest.raises(ValueError, match=f"x….*{ending}") as caught:
        read_rules(tmp_path / "a.rules", pd.DataFrame({"amount": ["a", "b"]}))
    assert len(str(caught.value)) <= 500


def test_names_are_their_own():
    with pytest.raises(RuleError, match="Two rules are called 'a > 1'"):
        RuleSet([Rule("a > 1"), Rule("a>1")])
    twice = {"rules": [{"name": "x", "rule": "a > 1"}, {"name": "x", "rule": "a > 2"}]}
    with pytest.raises(RuleError, match="same name"):
        RuleSet.from_json(json.dumps(twice))
    for name, text in [("#1", "a > 1"), ("let x", "a > 1"), ("b", "a = 'x\ny'"), (" c", "a > 1")]:
        with pytest.raises(RuleError, match="cannot stand in a file"):
            RuleSet({name: text}).to_text()
        assert RuleSet.from_json(RuleSet({name: text}).to_json())[name].text == Rule(text).text
    with pytest.raises(RuleError, match="nested too deeply"):
        RuleSet.from_json("[" * 100_000)
    with pytest.raises(RuleError, match="cannot stand in a file"):
        RuleSet({"x: y": "a > 1"}).to_text()


rows = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=30
)


@settings(deadline=None)
@given(rows)
def test_measures_are_those_of_counting(found):
    a, b, c, y = (np.array(column) for column in zip(*found, strict=True))
    rules = RuleSet({name: name for name in "abc"})
    report = rules.measure({"a": a, "b": b, "c": c}, y, pos_label=True)
    alerts = {"a": a, "b": b, "c": c}
    before = np.zeros(len(y), dtype=bool)
    for name, own in alerts.items():
        others = np.logical_or.reduce([alerts[o] for o in "abc" if o != name])
        row = report.rules.loc[name]
        hits = (own & y).sum()
        assert row["alerts"] == own.sum()
        assert row["hits"] == hits
        assert row["hits_alone"] == (own & y & ~others).sum()
        assert row["hits_added"] == (own & y & ~before).sum()
        if own.any():
            assert row["precision"] == hits / own.sum()
            assert row["precision_low"] <= row["precision"] <= row["precision_high"]
            for other, theirs in alerts.items():
                assert report.overlap.loc[name, other] == (own & theirs).sum() / own.sum()
        if y.any():
            assert row["recall"] == hits / y.sum()
        if not y.all():
            assert row["false_alert_rate"] == (own & ~y).sum() / (~y).sum()
        before |= own
    assert report.together["alerts"] == before.sum()
    assert report.together["hits"] == (before & y).sum()
    assert report.rules["hits_added"].sum() == report.together["hits"]


def test_alerts_are_counted_a_day():
    times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 23:00", "2026-01-04 01:00"])
    report = RuleSet({"all": "true"}).measure({"a": [1, 2, 3]}, [1, 0, 0], time=times)
    assert report.rules.loc["all", "alerts_a_day"] == 3 / 4
    assert "alerts_a_day" in str(report)
    clock = pd.to_datetime(["2026-03-28 12:00", "2026-03-30 12:00"]).tz_localize("Europe/Paris")
    report = RuleSet({"all": "true"}).measure({"a": [1, 2]}, [1, 0], time=clock)
    assert report.rules.loc["all", "alerts_a_day"] == 2 / 3  # one of the days has 23 hours


def test_the_interval_of_precision_holds_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        y = np.append(rng.random(40) < 0.2, [True, False])
        report = RuleSet({"x": "a > 0"}).measure({"a": [1] * 40 + [0, 0]}, y, pos_label=True)
        row = report.rules.loc["x"]
        held += row["precision_low"] <= 0.2 <= row["precision_high"]
    assert held >= 0.94 * 300


def test_rules_that_fail_a_limit_are_retired_with_a_reason():
    rules = RuleSet({"good": "a > 1", "loud": "a > 0", "never": "a > 9"})
    report = rules.measure({"a": [2, 2, 1, 1, 1, 0]}, [1, 1, 0, 0, 0, 0])
    kept, retired = rules.retire(report, min_precision=0.5, max_false_alert_rate=0.5)
    assert [rule.name for rule in kept] == ["good", "never"]
    assert retired == {"loud": "precision 0.4 is below 0.5"}
    kept, retired = rules.retire(report, min_alerts=1)
    assert retired == {"never": "alerts 0 is below 1"}
    with pytest.raises(RuleError, match="'min_luck' is not a limit"):
        rules.retire(report, min_luck=1)


def test_labels_and_times_must_fit():
    rules = RuleSet({"x": "a > 0"})
    with pytest.raises(RuleError, match="2 labels were given for 1 rows"):
        rules.measure({"a": [1]}, [0, 1])
    with pytest.raises(RuleError, match="1 times were given for 2 rows"):
        rules.measure({"a": [1, 2]}, [0, 1], time=["2026-01-01"])
    with pytest.raises(RuleError, match="y has 3"):
        rules.measure({"a": [1, 2, 3]}, [0, 1, 2])

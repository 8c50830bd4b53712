"""What takes a second person where the desk wants one: rules that deny, and models that decide."""

import pytest
from desk.control.desks import TWO_PEOPLE
from desk.control.test_bring_models import fitted, table

from rarefind.desk.control import ControlConflict, NotThere


@pytest.fixture
def control(desk):
    return desk.of(TWO_PEOPLE)


def test_a_rule_denies_when_a_second_person_has_approved_it(control):
    control.rules.save("large", "amount > 10", "ann", role="scoring")
    assert control.rules.set_role("large", "blocking", "ann", "seen on Monday").role == "scoring"
    (asked,) = control.requests.waiting("rule", "large")
    assert control.in_force().rules.blocking == ()
    with pytest.raises(ControlConflict, match="another person"):
        control.requests.approve(asked.id, "ann", "rule")
    with pytest.raises(NotThere):
        control.requests.approve(asked.id, "bob", "model")
    done = control.requests.approve(asked.id, "bob", "rule")
    assert (done.state, done.answered_by) == ("approved", "bob")
    rule = control.rules.get("large")
    assert (rule.version, rule.role, rule.person) == (2, "blocking", "ann")
    assert rule.note == "seen on Monday"
    assert len(control.in_force().rules.blocking) == 1
    assert [row.action for row in control.audit.newest(limit=3)] == [
        "save rule",
        "approve change",
        "ask for change",
    ]
    assert control.audit.newest(limit=1)[0].detail["approved_by"] == "bob"
    assert control.requests.approve(asked.id, "eve", "rule") == done, "it is done once"
    assert control.rules.get("large").version == 2


def test_another_condition_of_a_rule_that_denies_waits_and_turning_it_off_does_not(control):
    first = control.rules.save("large", "amount > 10", "ann", role="blocking")
    assert (first.version, first.role) == (1, "shadow"), "there is something to try"
    control.requests.approve(control.requests.waiting("rule")[0].id, "bob", "rule")
    kept = control.rules.save("large", "amount > 1", "ann")
    assert (kept.version, kept.text) == (2, "amount > 10")
    (asked,) = control.requests.waiting("rule")
    assert control.rules.save("large", "amount > 10", "ann", note="why").version == 3
    with pytest.raises(ControlConflict, match="version 3 by now"):
        control.requests.approve(asked.id, "bob", "rule")
    assert control.requests.get(asked.id).state == "waiting"
    control.requests.reject(asked.id, "bob", "rule")
    assert control.rules.get("large").text == "amount > 10"
    assert control.rules.set_role("large", "off", "ann").role == "off"
    assert control.requests.waiting("rule") == []


def test_a_model_decides_when_approved_and_one_person_goes_back(control, tmp_path):
    for number, name in enumerate(("one", "two")):
        fitted(tmp_path / name, table(number))
        control.models.add(tmp_path / name, "sam", name)
    second, first = sorted(control.models.all(), key=lambda row: row.name, reverse=True)
    for model in (first, second):
        assert control.models.promote(model.digest, "sam").state == "challenger"
        (asked,) = control.requests.waiting("model")
        assert asked.content["name"] == model.name
        control.requests.approve(asked.id, "eve", "model")
        assert control.models.champion().digest == model.digest
        last = control.audit.newest(limit=1)[0]
        assert (last.person, last.action) == ("sam", "promote model")
        assert last.detail["approved_by"] == "eve"
    assert control.models.promote(second.digest, "sam", 0.9).threshold == second.threshold
    control.requests.reject(control.requests.waiting("model")[0].id, "sam", "model")
    assert control.models.promote(first.digest, "sam").state == "champion", "that is to roll back"
    assert control.requests.waiting("model") == []


def test_without_the_wish_for_two_nothing_waits(sqlite_desk):
    control = sqlite_desk.control
    assert control.rules.save("large", "amount > 10", "ann", role="blocking").role == "blocking"
    assert control.requests.in_state("waiting") == []

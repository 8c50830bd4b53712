"""Rules are measured by the worker, retired by limits of their own, and a person may undo it."""

import pytest
from desk.databases import KINDS
from desk.measures.desks import DAY, HistoryDesk

from rarefind.desk.api.logs import Log
from rarefind.desk.control import THE_DESK, ControlError
from rarefind.desk.measures import MeasuredRules, RuleWatch, _pieces


@pytest.fixture(params=KINDS)
def desk(request, tmp_path, monkeypatch):
    monkeypatch.setattr(_pieces, "LENGTH", 16)
    made = HistoryDesk(tmp_path / "desk", kind=request.param)
    yield made
    made.folder.close()


def watch(desk):
    """Let the worker measure all rules once."""
    desk.keep()
    measured = MeasuredRules(desk.database)
    log = Log("worker", desk.log)
    job = RuleWatch(desk.control, desk.history, measured, "Europe/Paris", desk.clock, log)
    while job.run():
        continue
    return measured.all()


def decide_many(desk, number=60, frauds=2):
    """Alerts of which few are frauds; all are ripe at the end."""
    ids = [desk.decide(amount=200 if n % 2 else 20, card=f"c{n}") for n in range(number)]
    desk.label(ids[1 : 2 * frauds : 2])
    desk.clock.advance(10 * DAY)


def test_a_rule_is_measured_and_kept_within_its_limits(desk):
    desk.control.rules.save(
        "large", "amount > 100", "ann", role="scoring", limits={"min_precision": 0.05}
    )
    desk.control.rules.save("same", "amount >= 200", "ann", role="scoring")
    decide_many(desk)
    found = watch(desk)
    large = found["large"].measures
    assert (large.counts.alerts, large.counts.hits, large.counts.false_alerts) == (30, 2, 28)
    assert large.counts.added == 0  # the other rule has them
    assert large.precision == pytest.approx(2 / 30)
    assert large.detection_rate == 1.0
    assert large.false_alert_rate == pytest.approx(28 / 58)
    assert large.days == 3
    assert large.alerts_a_day == 10
    assert desk.control.rules.get("large").role == "scoring"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"min_precision": 0.5}, "precision is 0.0667 (95 % interval 0.00818 to 0.221), below"),
        ({"max_false_alert_rate": 0.1}, "false-alert rate is 0.483"),
        ({"max_false_alerts_a_day": 5}, "number of false alerts a day is 9.33, above its limit 5"),
    ],
)
def test_a_rule_that_fails_is_retired_for_all_to_see(desk, limits, why):
    desk.control.rules.save("large", "amount > 100", "ann", role="blocking", limits=limits)
    desk.decider.rules = desk.control.in_force().rules
    desk.control.rules.set_role("large", "scoring", "ann")
    decide_many(desk)
    watch(desk)
    rule = desk.control.rules.get("large")
    assert (rule.role, rule.person) == ("off", THE_DESK)
    assert why in rule.note
    last = desk.control.audit.read()[-1]
    assert (last.person, last.action, last.subject) == (THE_DESK, "retire rule", "large")
    assert "rule-retired" in desk.log.getvalue()
    assert watch(desk)["large"].version == rule.version  # it is measured still

    desk.control.rules.set_role("large", "scoring", "ann", "It is worth its price.")
    watch(desk)
    assert desk.control.rules.get("large").role == "scoring"
    decide_many(desk)
    watch(desk)
    assert desk.control.rules.get("large").person == THE_DESK  # by what came since


def test_few_alerts_retire_nothing(desk):
    desk.control.rules.save("large", "amount > 100", "ann", limits={"min_precision": 0.5})
    decide_many(desk, number=6, frauds=1)
    watch(desk)
    assert desk.control.rules.get("large").role == "shadow"


def test_silence_about_what_was_denied_retires_nothing(desk):
    desk.control.rules.save(
        "large", "amount > 100", "ann", role="blocking", limits={"min_precision": 0.5}
    )
    decide_many(desk, frauds=0)
    counts = watch(desk)["large"].measures.counts
    assert (counts.alerts, counts.denied, counts.false_alerts) == (30, 30, 0)
    assert desk.control.rules.get("large").role == "blocking"


def test_a_rule_is_off_from_its_sunset_on(desk):
    save = desk.control.rules.save
    save("soon", "amount > 100", "ann", role="scoring", sunset="2026-01-03")
    desk.decide()
    watch(desk)
    assert desk.control.rules.get("soon").role == "scoring"
    desk.clock.advance(DAY)  # it is the 3rd in Paris
    watch(desk)
    rule = desk.control.rules.get("soon")
    assert (rule.role, rule.note) == ("off", "Its last day was the one before 2026-01-03.")
    saved = save("soon", "amount > 100", "ann", role="scoring", sunset="")
    assert saved.sunset is None
    watch(desk)
    assert desk.control.rules.get("soon").role == "scoring"


def test_limits_stay_with_a_rule_until_they_are_changed(desk):
    save = desk.control.rules.save
    save("large", "amount > 100", "ann", limits={"min_precision": 0.5}, sunset="2026-12-31")
    later = save("large", "amount > 200", "bob")
    assert (later.limits, later.sunset) == ({"min_precision": 0.5}, "2026-12-31")
    assert desk.control.rules.get("large") == later
    assert save("large", "amount > 200", "bob", limits={}).limits == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"limits": {"precision": 0.5}},
        {"limits": {"min_precision": 5}},
        {"limits": {"max_false_alerts_a_day": float("nan")}},
        {"sunset": "31/12/2026"},
        {"sunset": "20261231"},
    ],
)
def test_limits_that_cannot_be_are_refused(desk, wrong):
    with pytest.raises(ControlError):
        desk.control.rules.save("large", "amount > 100", "ann", **wrong)
    with pytest.raises(ControlError):
        desk.control.rules.get("large")

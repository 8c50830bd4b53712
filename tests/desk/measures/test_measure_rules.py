"""What a rule is worth, counted in columns, is what it is when each row is looked at by itself."""

import json
from itertools import count

import pytest
from desk.measures.desks import DAY, SCHEMA, HistoryDesk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rarefind.desk.control import rule_columns
from rarefind.desk.measures import Others, _pieces, try_rule
from rarefind.desk.records import Entry
from rarefind.rules import Rule

OTHERS = {"large": "amount > 300", "abroad": "country != 'FR'"}
PARTS = (
    "amount > 100",
    "amount_to_card_mean > 2",
    "country = 'US'",
    "country not in ('FR', 'US')",
    "ecommerce",
    "not ecommerce",
    "distance / amount > 1",
    "distance is missing",
    "card_count_1d >= 2",
    "hour(time) < 7",
    "minutes_between(opened, time) > 90",
    "weekday(opened) > 5",
    "true",
    "coalesce(distance, 5) = 5",
)
sent = st.fixed_dictionaries(
    {
        "amount": st.sampled_from((0, 1.5, 150, 400)),
        "card": st.sampled_from(("c1", "c2")),
        "terminal": st.sampled_from(("t1", "t2")),
        "country": st.sampled_from((None, "FR", "US", "ثا")),
        "ecommerce": st.sampled_from((None, True, False)),
        "distance": st.sampled_from((None, 0, 5, 700)),
        "opened": st.sampled_from((None, "2026-01-01T00:30:00+01:00", "2025-12-27T23:59:59Z")),
    }
)
texts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from((" and ", " or ")).map(lambda word: word.join(parts))
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    number = count()
    return lambda: tmp_path_factory.mktemp("desks") / f"desk{next(number)}"


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(_pieces, "LENGTH", 4)


def naive(desk, rule, others):
    """Row by row, from the ledger and the history of labels."""
    found = dict.fromkeys(
        ("alerts", "hits", "false_alerts", "added", "money", "money_added", "not_ripe", "denied"), 0
    )
    frauds = genuine = waiting = 0
    for entry in desk.ledger.read(0, 1_000):
        if not isinstance(entry, Entry):
            continue
        record = desk.intake.record(entry)
        (label,) = desk.labels.ripe([(entry.id, entry.time)])
        is_denied = entry.outcome.decision == "deny" and label.source == "silence"
        frauds += label.fraud is True
        genuine += label.fraud is False and not is_denied
        waiting += label.fraud is None
        if not rule.fires(record):
            continue
        is_added = label.fraud is True and not any(one.fires(record) for one in others)
        found["alerts"] += 1
        found["hits"] += label.fraud is True
        found["false_alerts"] += label.fraud is False and not is_denied
        found["added"] += is_added
        found["money"] += entry.amount * (label.fraud is True)
        found["money_added"] += entry.amount * is_added
        found["not_ripe"] += label.fraud is None
        found["denied"] += is_denied
    return found, (frauds, genuine, waiting)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.tuples(sent, st.sampled_from((None, "fraud", "genuine"))), max_size=12),
    text=texts,
    blocking=st.booleans(),
    age=st.sampled_from((0, 9, 10, 40)),
)
def test_columns_say_what_rows_say(folders, rows, text, blocking, age):
    desk = HistoryDesk(folders())
    try:
        roles = {"large": "blocking" if blocking else "scoring", "abroad": "scoring"}
        for name, other in OTHERS.items():
            desk.control.rules.save(name, other, "ann", role=roles[name])
        for values, verdict in rows:
            values = {name: value for name, value in values.items() if value is not None}
            identifier = desk.decide(**values)
            if verdict:
                desk.label([identifier], verdict)
        desk.clock.advance(age * DAY)
        desk.keep()
        columns = rule_columns(SCHEMA)
        rule = desk.control.rules.check(text)
        trial = try_rule(rule, desk.history, Others(desk.control))
        others = [Rule(other, columns=columns) for other in OTHERS.values()]
        expected, totals = naive(desk, rule, others)
        counts = trial.measures.counts
        assert {name: getattr(counts, name) for name in expected} == expected
        measures = trial.measures
        assert (measures.frauds, measures.genuine, measures.not_ripe) == totals
        assert len(trial.cases) == trial.entities
        # What was recorded when it was decided is what the columns say.
        history = desk.history.rows()
        for name, other in OTHERS.items():
            fired = [name in json.loads(one) for one in history.frame["rules"]]
            assert history.fires(Rule(other, columns=columns)).tolist() == fired
    finally:
        desk.folder.close()


def test_a_rule_that_is_changed_is_not_among_the_others(folders):
    desk = HistoryDesk(folders())
    desk.control.rules.save("large", "amount > 300", "ann", role="scoring")
    desk.label([desk.decide(amount=400)])
    desk.keep()
    rule = desk.control.rules.check("amount > 200")
    others = Others(desk.control)
    assert try_rule(rule, desk.history, others).measures.counts.added == 0
    assert try_rule(rule, desk.history, others, "large").measures.counts.added == 1
    desk.control.rules.set_role("large", "shadow", "ann")
    assert try_rule(rule, desk.history, others).measures.counts.added == 1
    (case,) = try_rule(rule, desk.history, others).cases
    assert (case.id, case.entity, case.amount, case.fraud, case.is_new) == (
        "p1",
        "c1",
        40_000,
        True,
        True,
    )
    desk.folder.close()


def test_an_empty_history_is_tried_on(folders):
    desk = HistoryDesk(folders())
    rule = desk.control.rules.check("amount > 200")
    trial = try_rule(rule, desk.history, Others(desk.control))
    assert (trial.rows, trial.cases, trial.measures.precision) == (0, [], None)
    assert trial.measures.alerts_a_day is None
    desk.folder.close()

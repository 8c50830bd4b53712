"""Days are counted as a person would who looks through the whole ledger."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from desk.databases import KINDS
from desk.measures.small_desks import DAY, NOON, SCHEMA, SmallDesk, run
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.desk.measures.day_cases import CaseCounter
from rarefind.desk.measures.day_counts import DayCounter
from rarefind.desk.measures.day_labels import LabelCounter
from rarefind.desk.measures.days import Days

PARIS = ZoneInfo("Europe/Paris")
rows = st.tuples(
    st.integers(0, 40 * 24),  # hours before noon
    st.fixed_dictionaries(
        {
            "alert": st.sampled_from(("", "risk", "random")),
            "decision": st.sampled_from(("accept", "deny")),
            "rules": st.sampled_from(((), ("a",), ("a", "b"))),
            "model": st.sampled_from(("", "one", "two")),
            "propensity": st.sampled_from((0.0, 0.01, 0.5)),
            "card": st.sampled_from("xyz"),
        }
        # What could not be drawn was not.
    ).filter(lambda about: about["alert"] != "random" or about["propensity"] > 0),
)
labels = st.tuples(
    st.integers(1, 12),
    st.sampled_from(("fraud", "genuine", "unclear")),
    st.sampled_from(("verdict", "claim", "correction")),
)


def jobs(desk):
    return (
        DayCounter(desk.database, desk.ledger, SCHEMA, rows=3),
        LabelCounter(desk.database, desk.ledger, desk.labels, SCHEMA),
        CaseCounter(desk.database, SCHEMA, desk.clock),
    )


def day(time):
    return datetime.fromtimestamp(time // 10**9, PARIS).date().isoformat()


def known_labels(given_labels):
    """The last label of each transaction, and whether a person has looked at it."""
    fraud, checked = {}, {}
    for number, verdict, source in given_labels:
        name = f"t{number}"
        if verdict == "unclear" and name not in fraud:
            continue
        fraud[name] = {"fraud": True, "genuine": False, "unclear": None}[verdict]
        looked = source in ("verdict", "correction")
        checked[name] = fraud[name] is not None and (looked or checked.get(name, False))
    return {name: (each, checked[name]) for name, each in fraud.items() if each is not None}


@settings(max_examples=25)
@given(st.lists(rows, max_size=12), st.lists(labels, max_size=8), st.integers(0, 12))
def test_days_are_what_the_ledger_says(made, given_labels, split):
    with SmallDesk() as desk:
        # Counted in two parts, by counters that are made anew: nothing twice, and nothing lost.
        entries = []
        for part, some in ((made[:split], given_labels[:3]), (made[split:], given_labels[3:])):
            entries += desk.append(*((NOON - hours * DAY // 24, about) for hours, about in part))
            for number, verdict, source in some:
                desk.label([f"t{number}"], verdict, source)
            run(*jobs(desk))
        early = {e.id for e in entries[:split]}
        usable = [
            one
            for at, one in enumerate(given_labels)
            if f"t{one[0]}" in (early if at < 3 else {e.id for e in entries})
        ]
        known = known_labels(usable)
        days = Days(desk.database, SCHEMA, desk.clock)
        found = days.read(28)
        assert [each.day for each in found] == days.names(28)
        assert found[-1].day == "2026-01-31"
        for each in found:
            own = [e for e in entries if day(e.time) == each.day]
            assert each.transactions == len(own)
            assert each.denied == sum(e.outcome.decision == "deny" for e in own)
            assert each.alerts == sum(e.outcome.alert == "risk" for e in own)
            assert each.drawn == sum(e.outcome.alert == "random" for e in own)
            assert each.is_ripe == (each.day < "2026-01-21")
            frauds = [e for e in own if known.get(e.id, (False, False))[0]]
            assert (each.frauds, each.frauds_amount) == (
                len(frauds),
                sum(e.amount for e in frauds),
            )
            raised = [e for e in frauds if e.outcome.alert == "risk" and known[e.id][1]]
            assert each.random.found == len(raised)
            drawn = [e for e in own if e.outcome.alert == "random" and known.get(e.id, (0, 0))[1]]
            assert each.random.checked == len(drawn)
            assert each.random.hits == sum(known[e.id][0] for e in drawn)
        names = days.names(28)
        for line in days.rules(names):
            for at, name in enumerate(names):
                own = [e for e in entries if day(e.time) == name and line.name in e.outcome.rules]
                assert line.counts[at] == len(own)
                assert line.alerts[at] == sum(e.outcome.alert == "risk" for e in own)
                assert line.hits[at] == sum(known.get(e.id, (0, 0)) == (True, True) for e in own)
        for line in days.models(names):
            assert sum(line.counts) == sum(
                e.outcome.model == line.name and day(e.time) in names for e in entries
            )


@pytest.mark.parametrize("kind", KINDS)
def test_cases_count_on_the_day_on_which_they_were_opened(kind):
    with SmallDesk(kind=kind) as desk:
        desk.append(*((NOON - n * DAY, {"alert": "risk", "card": f"c{n}"}) for n in range(4)))
        for case, verdict in ((1, "fraud"), (2, "genuine"), (3, "unclear")):
            desk.cases.take(case, "ann")
            desk.cases.decide(case, "ann", verdict)
        run(*jobs(desk))
        found = Days(desk.database, SCHEMA, desk.clock).read(4)
        assert [(d.opened, d.checked, d.hits, d.unclear) for d in found] == [
            (1, 0, 0, 0),
            (1, 1, 0, 1),
            (1, 1, 0, 0),
            (1, 1, 1, 0),
        ]
        assert [d.precision for d in found] == [None, None, 0.0, 1.0]
        # Labels came at noon of the last day: at once, a day later, and none for the unclear one.
        assert [d.lag_median for d in found] == [None, None, DAY, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_ledger_that_was_cut_off_is_counted_anew(monkeypatch, kind):
    with SmallDesk(kind=kind) as desk:
        desk.append((NOON, {"alert": "risk"}), (NOON, {}))
        desk.label(["t1"], "fraud")
        run(*jobs(desk))
        # After a loss of power others have the numbers of the rows that are lost.
        monkeypatch.setattr(type(desk.ledger), "chain_at", lambda *_: bytes(32))
        counter, labels, cases = jobs(desk)
        run(counter, labels, cases)
        (today,) = Days(desk.database, SCHEMA, desk.clock).read(1)
        assert (today.transactions, today.alerts, today.frauds) == (2, 1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_times_until_labels_are_of_half_and_of_most(kind):
    with SmallDesk(kind=kind) as desk:
        desk.append(*((NOON - n * 10**9, {}) for n in range(11)))
        desk.label([f"t{n + 1}" for n in range(11)], "genuine")
        run(*jobs(desk))
        (today,) = Days(desk.database, SCHEMA, desk.clock).read(1)
        assert (today.lag_median, today.lag_most) == (5 * 10**9, 9 * 10**9)
        assert np.isclose(today.precision_interval, (0.0, 1.0)).all()

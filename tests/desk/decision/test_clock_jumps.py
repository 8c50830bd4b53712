"""The clock of the machine jumps by a day: what counts is the order of arrival and event times."""

from contextlib import closing

import pytest
from desk.decision.test_snapshots import NOON, Desk, payment

DAY = 86_400 * 10**9
NOW = NOON * 10**9


@pytest.fixture
def desk(tmp_path):
    with closing(Desk(tmp_path)) as desk:
        yield desk


def decide(desk, number, hours):
    (answer,) = desk.decider.decide([payment(number, hours)])
    return getattr(answer, "kind", "stored")


@pytest.mark.parametrize("days", [1, -1])
def test_what_is_sent_while_the_clock_is_wrong_is_taken(desk, days):
    desk.clock.set(NOW)
    assert decide(desk, 1, 0) == "stored"
    desk.clock.advance(days * DAY)
    assert decide(desk, 2, 1) == "stored", "the sender's time goes on"
    assert decide(desk, 3, -2) == "stored", "late by an hour, and not by a day"
    desk.clock.set(NOW)
    assert decide(desk, 4, 2) == "stored"
    assert [row.sequence for row in desk.ledger.read(0, 10)] == [1, 2, 3, 4]
    assert desk.ledger.verify().is_whole


def test_ahead_is_by_the_clock_as_it_is(desk):
    desk.clock.set(NOW)
    assert decide(desk, 1, 49) == "ahead"
    desk.clock.advance(DAY)
    assert decide(desk, 1, 49) == "stored"
    desk.clock.set(NOW)
    assert decide(desk, 1, 49) == "stored", "what is stored is answered the same"
    assert decide(desk, 2, 0) == "late", "a day is the limit, and the newest is two days ahead"
    assert decide(desk, 3, 30) == "stored"


@pytest.mark.parametrize("days", [1, -1, 40_000])
def test_retention_goes_on_and_deletes_no_present(desk, days):
    desk.clock.set(NOW)
    decide(desk, 1, 0)
    decide(desk, 2, 6 * 24)
    for number in range(3, 6):
        desk.clock.set(NOW + 6 * DAY)
        decide(desk, number, 6 * 24)
    desk.clock.advance(days * DAY)
    desk.retain()
    left = [row.id for row in desk.ledger.read(0, 10)]
    assert left[-3:] == ["p3", "p4", "p5"]
    assert desk.ledger.verify().is_whole
    desk.clock.set(NOW + 6 * DAY)
    later = [payment("new", 6 * 24 + 1)]
    found = []
    for decider in (desk.decider, desk.restart()):
        prepared = decider.prepare(later)
        found.append(prepared.entries)
        decider.abort(prepared)
    assert found[0] == found[1]


def test_arrivals_that_go_back_are_restored_in_their_order(desk):
    for number, hours in enumerate((0, 1, 2, 3, 4)):
        desk.clock.set(NOW + (DAY if number % 2 else -DAY))
        decide(desk, number, hours)
    arrived = [row.arrived for row in desk.ledger.read(0, 10)]
    assert arrived != sorted(arrived)
    desk.snapshot()
    decide(desk, 5, 2)
    later = [payment("new", 5)]
    entries = [d.prepare(later).entries for d in (desk.decider, desk.restart())]
    assert entries[0] == entries[1]

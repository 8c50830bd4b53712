"""Confirmed frauds that look like a transaction are found, and what was erased is not."""

import pytest
from desk_web import WebDesk


@pytest.fixture
def desk(tmp_path):
    made = WebDesk(tmp_path)
    yield made
    made.close()


def confirm(desk, card, amount, verdict="fraud"):
    desk.pay(card, amount)
    case = desk.case_of(card)
    desk.door.cases.take(case, "ann")
    desk.door.cases.decide(case, "ann", verdict)
    return case


def entry_of(desk, card, amount):
    answer = desk.pay(card, amount)
    return desk.door.ledger.find([answer.id])[answer.id]


def test_the_nearest_by_the_features_of_the_reason_come_first(desk):
    cases = {amount: confirm(desk, f"f{amount}", amount) for amount in (1_000, 2_000, 4_000)}
    confirm(desk, "g", 2_001, "genuine")
    entry = entry_of(desk, "c1", 2_010)
    found = desk.door.similar.nearest(entry, {"amount": 1.0}, count=1)
    assert [each.case.id for each in found] == [cases[2_000]]
    assert found[0].alike["amount"] == 2_000.0
    everything = desk.door.similar.nearest(entry, {"amount": 1.0}, count=9)
    distances = [each.distance for each in everything]
    assert distances == sorted(distances)
    assert desk.case_of("c1") not in [each.case.id for each in everything]


def test_a_correction_and_an_erasure_count_at_once(desk):
    case = confirm(desk, "f1", 2_000)
    confirm(desk, "f2", 2_000)
    entry = entry_of(desk, "c1", 2_000)
    assert len(desk.door.similar.nearest(entry, {})) == 2
    desk.door.cases.decide(case, "ann", "genuine")
    assert [each.transaction for each in desk.door.similar.nearest(entry, {})] == ["p2"]
    desk.writer.erase(0, "f2", by="ann", now=desk.clock.now())
    assert desk.door.similar.nearest(entry, {}) == []


def test_without_confirmed_frauds_none_is_similar(desk):
    assert desk.door.similar.nearest(entry_of(desk, "c1", 2_000), {"amount": 1.0}) == []

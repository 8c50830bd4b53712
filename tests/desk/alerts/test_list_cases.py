"""Cases are listed by state, a page at a time; the same verdict twice is one."""

import pytest
from desk.databases import KINDS, opener
from desk.entries import entry

from rarefind.desk import Schema
from rarefind.desk.alerts import CaseLists, Cases
from rarefind.desk.clock import ManualClock
from rarefind.desk.labels import Claims, LabelHistory

SCHEMA = Schema.from_text(
    """
name = "cards"
transaction = {id = "id", time = "time", amount = "amount"}
entities = {card = {column = "card"}, terminal = {column = "terminal"}}
alerts = {entity = "card"}
"""
)


class Desk:
    def __init__(self, database):
        self.database, self.clock = database, ManualClock(10**18)
        self.labels = LabelHistory(database, SCHEMA, self.clock)
        self.cases = Cases(database, SCHEMA, self.labels, self.clock)
        self.claims = Claims(database, self.labels, self.clock)
        self.lists = CaseLists(database, self.clock)


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    made = Desk(opener(request.param, tmp_path)())
    made.cases.add([entry(number, alert="risk") for number in range(1, 11)], 10)
    yield made
    made.database.close()


def test_cases_are_listed_by_the_state_they_have_now(desk):
    first, second, third = (case.id for case in desk.lists.page(limit=3))
    desk.cases.take(first, "ann")
    desk.cases.snooze(second, "ann", desk.clock.now() + 3_600 * 10**9)
    desk.cases.take(third, "bob")
    desk.cases.decide(third, "bob", "fraud")

    def numbers(*state):
        return [case.id for case in desk.lists.page(*state)]

    assert numbers("taken") == [first]
    assert numbers("snoozed") == [second]
    assert numbers("decided") == [third]
    assert numbers("expired") == []
    assert len(numbers("open")) == 4
    desk.clock.advance("2h")
    assert numbers("taken") == numbers("snoozed") == []
    assert len(numbers("open")) == 6
    assert numbers() == [first, *(case.id for case in desk.lists.page(before=first))]


def test_alerts_are_counted_and_the_last_ones_shown(desk):
    (case,) = desk.lists.of_entity("card 1")
    assert desk.lists.count_alerts(case.id) == 2
    assert [each.sequence for each in desk.lists.last_alerts(case.id)] == [8, 1]
    assert [each.sequence for each in desk.lists.last_alerts(case.id, 1)] == [8]
    assert desk.lists.alerts_after(7) == 3
    assert desk.lists.of_entity("none") == []


def test_the_same_verdict_once_more_is_the_one_that_is_there(desk):
    (case,) = desk.lists.of_entity("card 1")
    desk.cases.take(case.id, "ann")
    first = desk.cases.decide(case.id, "ann", "fraud", "called")
    assert desk.cases.decide(case.id, "ann", "fraud", "called") == first
    assert len(desk.lists.verdicts(case.id)) == 1
    assert len(desk.labels.after(0)) == 2
    desk.cases.decide(case.id, "ann", "fraud", "called again")
    desk.cases.decide(case.id, "bob", "fraud", "called again")
    assert len(desk.lists.verdicts(case.id)) == 3


def test_claims_are_listed_by_state_a_page_at_a_time(desk):
    made = [desk.claims.make(f"transaction {number}") for number in (3, 1, 2)]
    desk.claims.confirm(made[0].id, "eve")
    assert desk.claims.count_new() == 2
    assert [claim.transaction for claim in desk.claims.page("new")] == [
        "transaction 1",
        "transaction 2",
    ]
    assert desk.claims.page(after=made[0].id, limit=1) == [made[1]]
    assert [claim.id for claim in desk.claims.about(["transaction 3", "x"])] == [made[0].id]
    assert desk.claims.about([]) == []

"""People take cases, decide, put aside and give back; nobody has another's case."""

import threading
from contextlib import suppress

import pytest
from desk.databases import KINDS, opener

from rarefind.desk import Schema
from rarefind.desk.alerts import CaseError, CaseLists, Cases, NoSuchCase, Queue, expected_hits
from rarefind.desk.clock import ManualClock
from rarefind.desk.labels import LabelHistory
from rarefind.desk.records import Entry, Outcome

DAY = 86_400 * 10**9
NOON = 20_000 * DAY + DAY // 2
SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[entities.card]
column = "card"
[alerts]
entity = "card"
budget = 4
random_share = 0.25
"""
)


class Desk:
    def __init__(self, open_database):
        self.clock = ManualClock(NOON)
        self.database = open_database()
        self.labels = LabelHistory(self.database, SCHEMA, self.clock)
        self.cases = Cases(self.database, SCHEMA, self.labels, self.clock)
        self.lists = CaseLists(self.database, self.clock)
        self.queue = Queue(self.cases, SCHEMA, self.clock)
        self.sequence = 0

    def alert(self, card, priority, kind="risk", propensity=0.0):
        self.sequence += 1
        found = Entry(
            sequence=self.sequence,
            id=f"t{self.sequence}",
            time=self.clock.now(),
            arrived=self.clock.now(),
            amount=1_000,
            entities=(card,),
            body=b"{}",
            features=b"",
            outcome=Outcome(
                decision="accept",
                by="",
                rules=("large",),
                score=priority,
                priority=priority,
                alert=kind,
                propensity=propensity,
                rule_book="",
                model="",
            ),
        )
        self.cases.add([found], self.sequence)
        return found

    def case_of(self, card):
        (found,) = [case for case in self.cases.unclosed() if case.entity == card]
        return found


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    made = Desk(opener(request.param, tmp_path))
    yield made
    made.database.close()


def test_an_entity_has_one_case_and_more_alerts_join_it(desk):
    desk.alert("a", 0.3)
    desk.alert("a", 0.9)
    desk.alert("a", 0.5)
    case = desk.case_of("a")
    assert case.priority == 0.9
    assert [alert.transaction for alert in desk.cases.alerts(case.id)] == ["t1", "t2", "t3"]
    assert desk.cases.alerts(case.id)[0].rules == ("large",)


def test_entries_that_were_read_before_are_not_added_again(desk):
    entry = desk.alert("a", 0.3)
    assert desk.cases.add([entry], entry.sequence) == 0
    assert len(desk.cases.alerts(desk.case_of("a").id)) == 1
    assert desk.cases.read_up_to == 1


def test_two_people_never_have_the_same_case(desk):
    desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann")
    assert (case.state, case.holder) == ("taken", "ann")
    for attempt in (
        lambda: desk.cases.take(case.id, "bob"),
        lambda: desk.cases.decide(case.id, "bob", "fraud"),
        lambda: desk.cases.release(case.id, "bob"),
        lambda: desk.cases.snooze(case.id, "bob", NOON + DAY),
    ):
        with pytest.raises(CaseError, match=f"Case {case.id} is taken by ann"):
            attempt()


def test_of_many_who_take_at_once_one_gets_it(desk):
    desk.alert("a", 0.3)
    case, taken = desk.case_of("a").id, []

    def take(person):
        with suppress(CaseError):
            taken.append(desk.cases.take(case, person).holder)

    threads = [threading.Thread(target=take, args=(f"p{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == [desk.cases.get(case).holder]


def test_a_lease_that_has_ended_gives_the_case_back(desk):
    desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann")
    desk.clock.advance("31min")
    assert desk.cases.get(case.id).state == "open"
    with pytest.raises(CaseError, match="the time for it is over: take it"):
        desk.cases.decide(case.id, "ann", "fraud")
    assert desk.cases.take(case.id, "bob").holder == "bob"


def test_a_clock_that_was_ahead_gives_no_case_to_two_people_and_keeps_none_for_a_day(desk):
    desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann").id
    desk.clock.advance("1D")  # by mistake: ann's lease is over
    assert desk.cases.take(case, "bob").holder == "bob"
    with pytest.raises(CaseError, match="is taken by bob"):
        desk.cases.decide(case, "ann", "fraud")
    desk.clock.advance(-DAY)
    with pytest.raises(CaseError, match="is taken by bob"):
        desk.cases.take(case, "ann")
    assert desk.cases.shorten_leases() == 1
    assert desk.cases.shorten_leases() == 0
    desk.clock.advance("29min")
    assert desk.cases.get(case).holder == "bob"
    desk.clock.advance("1min")
    assert desk.cases.take(case, "ann").holder == "ann"


def test_a_clock_that_was_set_back_keeps_a_lease_for_at_most_its_length(desk):
    desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann").id
    desk.clock.advance(-DAY)
    desk.cases.shorten_leases()
    with pytest.raises(CaseError, match="is taken by ann"):
        desk.cases.take(case, "bob")
    assert desk.cases.decide(case, "ann", "genuine").state == "decided"
    assert desk.cases.shorten_leases() == 0


def test_a_case_is_given_back(desk):
    desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann")
    assert desk.cases.release(case.id, "ann").state == "open"


def test_a_snoozed_case_comes_back_by_itself(desk):
    desk.alert("a", 0.3)
    case = desk.cases.snooze(desk.case_of("a").id, "ann", NOON + DAY)
    assert case.state == "snoozed"
    assert desk.queue.today().cases == []
    desk.clock.advance("25h")
    assert [each.id for each in desk.queue.today().cases] == [case.id]
    with pytest.raises(CaseError, match="yet to come"):
        desk.cases.snooze(case.id, "ann", NOON)


def test_a_verdict_closes_the_case_and_labels_its_transactions(desk):
    first, second = desk.alert("a", 0.3), desk.alert("a", 0.4)
    case = desk.cases.take(desk.case_of("a").id, "ann")
    decided = desk.cases.decide(case.id, "ann", "fraud", "called the customer")
    assert (decided.state, decided.verdict, decided.holder) == ("decided", "fraud", None)
    assert desk.lists.verdicts(case.id) == [(1, "fraud", "ann", NOON, "called the customer")]
    known = desk.labels.ripe([(first.id, NOON), (second.id, NOON), ("other", NOON)])
    assert [(each.fraud, each.source) for each in known] == [
        (True, "verdict"),
        (True, "verdict"),
        (None, "not ripe"),
    ]
    desk.alert("a", 0.2)  # the entity can have another case now
    assert desk.case_of("a").id != case.id


def test_a_correction_is_added_and_the_first_verdict_stays(desk):
    entry = desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann")
    desk.cases.decide(case.id, "ann", "fraud")
    desk.cases.decide(case.id, "bob", "genuine")
    assert [found[1:3] for found in desk.lists.verdicts(case.id)] == [
        ("fraud", "ann"),
        ("genuine", "bob"),
    ]
    assert desk.labels.ripe([(entry.id, NOON)])[0].fraud is False
    desk.cases.decide(case.id, "bob", "unclear")
    assert desk.labels.ripe([(entry.id, NOON)])[0].fraud is None
    assert [label.fraud for label in desk.labels.after(0)] == [True, False, None]


def test_mistakes_get_a_sentence(desk):
    with pytest.raises(NoSuchCase, match=r"There is no case 99\."):
        desk.cases.take(99, "ann")
    desk.alert("a", 0.3)
    case = desk.cases.take(desk.case_of("a").id, "ann")
    with pytest.raises(CaseError, match="A verdict is one of fraud, genuine, unclear"):
        desk.cases.decide(case.id, "ann", "maybe")
    with pytest.raises(CaseError, match="at most 10,000 characters"):
        desk.cases.decide(case.id, "ann", "fraud", "x" * 10_001)


def test_the_queue_is_the_budget_of_the_day(desk):
    for number in range(6):
        desk.alert(f"card {number}", number / 10)
    today = desk.queue.today()
    assert [case.entity for case in today.cases] == ["card 5", "card 4", "card 3", "card 2"]
    assert (today.budget, today.done, today.waiting, today.amount) == (4, 0, 2, 4_000)
    assert today.ends - today.begins == DAY
    case = desk.queue.next_for("ann")
    assert case.entity == "card 5"
    desk.cases.decide(case.id, "ann", "fraud")
    today = desk.queue.today()
    assert (today.done, today.hits, len(today.cases)) == (1, 1, 3)
    desk.clock.advance("1D")
    assert (desk.queue.today().done, len(desk.queue.today().cases)) == (0, 4)


def test_the_top_is_always_the_current_one(desk):
    for number in range(6):
        desk.alert(f"card {number}", number / 10)
    desk.alert("card 0", 0.99)
    assert desk.queue.today().cases[0].entity == "card 0"


def test_a_share_of_the_budget_is_random(desk):
    for number in range(6):
        desk.alert(f"card {number}", 0.5 + number / 10)
    desk.alert("early", 0.01, "random", 0.002)
    desk.clock.advance("1h")
    desk.alert("late", 0.02, "random", 0.002)
    cases = desk.queue.today().cases
    assert [case.entity for case in cases] == ["card 5", "card 4", "card 3", "early"]
    assert cases[-1].propensity == 0.002


def test_what_is_risky_beside_the_random_share_is_risky(desk):
    desk.alert("a", 0.01, "random", 0.002)
    desk.alert("a", 0.9)
    assert desk.case_of("a").kind == "risk"
    assert desk.case_of("a").propensity == 0.002


def test_each_person_gets_a_case_of_their_own(desk):
    for number in range(3):
        desk.alert(f"card {number}", number / 10)
    taken = [desk.queue.next_for(person).entity for person in ("ann", "bob", "ann", "cy")]
    assert taken == ["card 2", "card 1", "card 2", "card 0"]
    assert desk.queue.next_for("dee") is None


def test_reasons_come_later_and_tell_what_is_expected(desk):
    entries = [desk.alert(f"card {number}", number / 10) for number in range(2)]
    assert [alert.sequence for alert in desk.cases.without_reason()] == [2, 1]
    reason = "4.4 × the card's usual amount"
    desk.cases.set_reasons([(entry.sequence, 0.5, reason) for entry in entries])
    assert desk.cases.without_reason() == []
    assert desk.queue.today().expected.hits == 1.0
    assert desk.queue.today().expected.known == 2


def test_cases_that_nobody_decides_expire(desk):
    desk.alert("a", 0.3)
    case = desk.case_of("a").id
    desk.clock.advance("200D")
    desk.alert("b", 0.3)
    assert desk.cases.expire(desk.clock.now() - 180 * DAY) == 1
    assert desk.cases.get(case).state == "expired"
    with pytest.raises(CaseError, match="is expired"):
        desk.cases.take(case, "ann")


def test_expected_hits_are_those_of_all_outcomes():
    found = expected_hits([0.1, 0.5, 0.9])
    assert found.hits == pytest.approx(1.5)
    # Of the eight outcomes: none has 0.045, three have 0.045.
    assert (found.low, found.high) == (0, 3)
    assert expected_hits([]) == (0.0, 0, 0, 0)

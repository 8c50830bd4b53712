"""Two people work one queue at the same time: each case is decided once, and none is lost."""

import threading

import pytest
from desk.databases import KINDS, opener
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rarefind.desk import Schema
from rarefind.desk.alerts import CaseError, CaseLists, Cases, Queue
from rarefind.desk.clock import ManualClock
from rarefind.desk.labels import LabelHistory
from rarefind.desk.records import Entry, Outcome

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
budget = 1_000
random_share = 0.1
"""
)
CLOCK = ManualClock(1_769_860_800 * 10**9)
PEOPLE = ("ann", "bob")


def entry(number, priority):
    kind = "random" if number % 5 == 0 else "risk"
    outcome = Outcome("accept", "", ("large",), priority, priority, kind, 0.1, "", "")
    card = (f"card {number}",)
    return Entry(number, f"t{number}", CLOCK.now(), CLOCK.now(), 100, card, b"{}", b"", outcome)


class Person(threading.Thread):
    """Takes the next case until there is none, and does with each what the plan says."""

    def __init__(self, name, queue, cases, plan):
        super().__init__(name=name)
        self.queue, self.cases, self.plan, self.decided = queue, cases, plan, []

    def run(self):
        step = 0
        while (case := self.queue.next_for(self.name)) is not None:
            what = self.plan[step % len(self.plan)] if step < 3 * len(self.plan) else "fraud"
            step += 1
            try:
                if what == "release":
                    self.cases.release(case.id, self.name)
                else:
                    self.cases.decide(case.id, self.name, what)
                    self.decided.append(case.id)
            except CaseError:
                continue


@pytest.fixture(scope="module", params=KINDS)
def databases(request, tmp_path_factory):
    """Two connections to one database, as two processes have them."""
    folder = tmp_path_factory.mktemp("two-people")
    open_database = opener(request.param, folder)
    both = [open_database(), open_database()]
    yield both
    for each in both:
        each.close()


DONE = st.sampled_from(["fraud", "genuine", "unclear", "release"])


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    priorities=st.lists(st.floats(0, 1), min_size=1, max_size=12),
    plans=st.tuples(*[st.lists(DONE, min_size=1, max_size=4)] * 2),
)
def test_no_case_is_decided_twice_or_lost(databases, priorities, plans):
    rooms = []
    for database in databases:
        cases = Cases(database, SCHEMA, LabelHistory(database, SCHEMA, CLOCK), CLOCK)
        rooms.append((cases, Queue(cases, SCHEMA, CLOCK)))
    first, _ = rooms[0]
    begin = first.read_up_to
    added = [entry(begin + at, each) for at, each in enumerate(priorities, start=1)]
    first.add(added, begin + len(added))
    opened = {case.id for case in first.unclosed()}
    people = [
        Person(name, queue, cases, plan)
        for name, (cases, queue), plan in zip(PEOPLE, rooms, plans, strict=True)
    ]
    for person in people:
        person.start()
    for person in people:
        person.join()
    decided = [case for person in people for case in person.decided]
    assert sorted(decided) == sorted(opened)
    for case in opened:
        (given_verdict,) = CaseLists(databases[0], CLOCK).verdicts(case)
        assert case in people[PEOPLE.index(given_verdict.person)].decided

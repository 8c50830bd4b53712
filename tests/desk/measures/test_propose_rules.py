"""Rules are learnt from confirmed frauds of the earlier weeks, and judged on the later ones."""

import pytest
from desk.databases import KINDS
from desk.measures.desks import DAY, HistoryDesk

from rarefind.desk.api.logs import Log
from rarefind.desk.folder import DeskFolder
from rarefind.desk.measures import Proposals
from rarefind.desk.worker._proposals import ProposalJob, propose_now


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    made = HistoryDesk(tmp_path / "desk", kind=request.param)
    yield made
    made.folder.close()


def decide_with_pattern(desk, number):
    """Frauds are far away and by e-commerce; nothing else is."""
    frauds = []
    for n in range(number):
        is_fraud = n % 5 == 0
        identifier = desk.decide(
            amount=10 + n % 7,
            card=f"c{n}",
            distance=900 + n % 10 if is_fraud else n % 300,
            ecommerce=bool(is_fraud or n % 2),
        )
        frauds += [identifier] if is_fraud else []
    desk.label(frauds)
    desk.clock.advance(10 * DAY)
    desk.keep()


def propose(desk):
    with DeskFolder(desk.folder.path, desk.folder.database_url) as folder:
        propose_now(folder, desk.clock, Log("proposals", desk.log))
    return Proposals(desk.database)


def test_a_pattern_is_found_and_measured_on_later_rows(desk):
    decide_with_pattern(desk, 250)
    found = propose(desk)
    first, *_ = found.all()
    assert "distance" in first.text
    counts = first.measures.counts
    assert counts.added == counts.hits > 0
    assert first.measures.frauds == 15  # the later ones of fifty
    assert first.measures.precision > 0.9
    assert found.state[:2] == ("done", desk.clock.now())
    desk.control.rules.check(first.text)

    # What is found already is not proposed again.
    desk.control.rules.save("far", "distance > 600", "ann", role="scoring")
    assert propose(desk).all() == []


def test_too_few_frauds_are_told(desk):
    decide_with_pattern(desk, 40)
    found = propose(desk)
    assert found.all() == []
    assert "There are 8 ripe frauds among 40 transactions" in found.state[2]


def test_they_are_made_when_somebody_asks_and_once_a_day(desk):
    proposals = Proposals(desk.database)
    job = ProposalJob(desk.folder, proposals, desk.clock, Log("worker", desk.log))
    assert not job.is_due()
    proposals.ask(desk.clock.now())
    assert job.is_due()
    proposals.store({}, desk.clock.now())
    assert not job.is_due()
    desk.clock.advance(DAY + 1)
    assert job.is_due()

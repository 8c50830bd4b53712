"""Labels ripen: verdicts at once, claims when confirmed, silence when it has lasted."""

import pytest
from desk.alerts.test_work_cases import NOON, SCHEMA
from desk.databases import KINDS, opener

from rarefind.desk.clock import ManualClock
from rarefind.desk.labels import ClaimError, Claims, LabelHistory, NoSuchClaim


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    clock = ManualClock(NOON)
    database = opener(request.param, tmp_path)()
    labels = LabelHistory(database, SCHEMA, clock)
    yield clock, labels, Claims(database, labels, clock)
    database.close()


def test_a_claim_counts_when_it_is_confirmed(desk):
    _, labels, claims = desk
    claim = claims.make("t1", "I was at home")
    assert claims.make("t1").id == claim.id
    assert labels.ripe([("t1", NOON)])[0].fraud is None
    assert claims.confirm(claim.id, "ann").state == "confirmed"
    found = labels.ripe([("t1", NOON)])[0]
    assert (found.fraud, found.source) == (True, "claim")
    assert claims.confirm(claim.id, "ann").person == "ann"  # once more changes nothing
    assert len(labels.after(0)) == 1
    with pytest.raises(ClaimError, match="was confirmed by ann"):
        claims.reject(claim.id, "bob")


def test_a_rejected_claim_is_not_a_label(desk):
    _, labels, claims = desk
    claim = claims.make("t1")
    assert [each.id for each in claims.new()] == [claim.id]
    claims.reject(claim.id, "ann")
    assert claims.new() == []
    assert labels.after(0) == []
    with pytest.raises(NoSuchClaim, match=r"There is no claim 77\."):
        claims.confirm(77, "ann")


def test_silence_means_genuine_after_the_delay(desk):
    clock, labels, _ = desk
    assert labels.ripe([("t1", NOON)])[0].source == "not ripe"
    clock.advance("30D")
    found = labels.ripe([("t1", NOON), ("t2", NOON + 1)])
    assert [(each.fraud, each.source) for each in found] == [
        (False, "silence"),
        (None, "not ripe"),
    ]

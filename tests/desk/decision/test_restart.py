"""A desk on a real ledger: what it has decided is there after a restart, to the last bit."""

from contextlib import closing

import numpy as np
import pytest
from desk.databases import KINDS, opener

from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider
from rarefind.desk.features import FeatureState
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger, LedgerUnavailable, LedgerUnknown
from rarefind.desk.records import LabelEntry
from rarefind.desk.schema import Schema

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[entities.card]
column = "card"
distinct = ["terminal"]
[entities.terminal]
column = "terminal"
risk = true
[alerts]
entity = "card"
random_share = 0.5
"""
)
INTAKE = Intake(SCHEMA)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z
DAY = 86_400


def some(first, count):
    """Payments of a month in which a few come late."""
    rng = np.random.default_rng(first)
    found = []
    for number in range(first, first + count):
        seconds = NOON // 10**9 - 30 * DAY + number * 9_000 - int(rng.integers(0, 40_000))
        body = (
            f'{{"id": "p{number}", "time": "{np.datetime64(seconds, "s")}Z", '
            f'"amount": {rng.integers(1, 99_999) / 100}, "card": "c{rng.integers(3)}", '
            f'"terminal": "t{rng.integers(3)}"}}'
        )
        found += INTAKE.decode(body.encode()).transactions
    return found


def decider_of(database):
    ledger = Ledger(database, writes=True)
    return Decider(FeatureState(SCHEMA), ledger, secret=b"s", clock=ManualClock(NOON))


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_restart_features_and_answers_are_the_same_to_the_last_bit(kind, tmp_path):
    settings = {"journal": "wal"} if kind == "sqlite" else {"sole": True}
    opened = opener(kind, tmp_path)
    with closing(opened(**settings)) as database:
        decider = decider_of(database)
        answers = [decider.decide(some(n, 10)) for n in range(0, 150, 10)]
        assert decider.add_labels([("p3", True, "claim"), ("p7", True, "verdict")]) == 2
        answers += [decider.decide(some(n, 10)) for n in range(150, 200, 10)]
        prepared = decider.prepare(some(200, 20))
        decider.abort(prepared)
    with closing(opened(**settings)) as database:
        again = decider_of(database)
        assert again.restore() == 202
        assert [again.decide(some(n, 10)) for n in range(0, 200, 10)] == answers
        assert again.ledger.last.sequence == 202
        after = again.prepare(some(200, 20))
        assert [each.features for each in after.entries] == [
            each.features for each in prepared.entries
        ]
        assert after.entries == prepared.entries
        again.commit(after)
        assert again.finish(after) == after.answers == prepared.answers
        assert again.ledger.verify().is_whole


class _LostDatabase(SqliteDatabase):
    """Loses the answer to a commit, after or before it was stored, and stays away for a while."""

    lost = stored = away = False

    def _commit(self, connection):
        if not self.lost:
            return super()._commit(connection)
        connection.execute("COMMIT" if self.stored else "ROLLBACK")
        self.away = True
        raise LedgerUnknown("lost")

    def read(self, sql, **parameters):
        if self.away:
            raise LedgerUnavailable("away")
        return super().read(sql, **parameters)


@pytest.mark.parametrize("stored", [False, True])
def test_a_commit_whose_fate_cannot_be_asked_is_settled_before_the_next(stored, tmp_path):
    with closing(_LostDatabase(tmp_path / "ledger.db", journal="wal")) as database:
        decider = decider_of(database)
        decider.decide(some(0, 10))
        database.lost, database.stored = True, stored
        with pytest.raises(LedgerUnknown):
            decider.decide(some(10, 10))
        with pytest.raises(LedgerUnavailable):
            decider.decide(some(20, 10))
        database.lost = database.away = False
        found = decider.prepare(some(20, 10)).entries
        assert decider.ledger.last.sequence == (20 if stored else 10)
        other = Decider(FeatureState(SCHEMA), decider.ledger, secret=b"s", clock=ManualClock(NOON))
        other.restore()
        assert found == other.prepare(some(20, 10)).entries


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("known", [["p1", "p2"], ["gone"]])
def test_labels_whose_commit_was_lost_are_learnt_once(stored, known, tmp_path):
    """They are read from the desk by their numbers, up to the last one that the ledger knows of."""
    labels = [(id, True, "verdict") for id in known]
    with closing(_LostDatabase(tmp_path / "ledger.db", journal="wal")) as database:
        decider = decider_of(database)
        decider.decide(some(0, 10))
        database.lost, database.stored = True, stored
        with pytest.raises(LedgerUnknown):
            decider.add_labels(labels, labels_read=7)
        database.lost = database.away = False
        decider.settle()
        assert decider.ledger.labels_read == (7 if stored else 0)
        if not stored:
            decider.add_labels(labels, labels_read=7)
        decider.decide(some(10, 1))
        found = [row.id for row in decider.ledger.read(0, 99) if isinstance(row, LabelEntry)]
        assert found == [id for id in known if id != "gone"]
        other = decider_of(database)
        other.restore()
        later = [each.prepare(some(20, 5)).entries for each in (decider, other)]
        assert later[0] == later[1]

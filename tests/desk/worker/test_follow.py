"""Alerts of the ledger become cases and messages, each exactly once, whoever is killed when."""

import json
import os
import random
import shutil
from contextlib import closing
from multiprocessing import get_context

import pytest
from databases import postgresql_url
from desk.databases import KINDS, opener
from desk.entries import entry
from desk.worker.desks import add_webhook, cases_of, follower_of, some_entries
from desk.worker.followers import follow

from rarefind.desk.alerts import delete_closed
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.ledger import Ledger

ROWS = 1_200
#: A longer trial: RAREFIND_KILLS=100.
KILLS = int(os.environ.get("RAREFIND_KILLS", "2"))


def writable(kind):
    return {"journal": "wal"} if kind == "sqlite" else {"sole": True}


@pytest.fixture(params=KINDS)
def databases(request, tmp_path):
    """A desk database and a ledger, and where another process finds them."""
    opened = opener(request.param, tmp_path)
    desk = opened()
    if request.param == "sqlite":
        ledger = SqliteDatabase(tmp_path / "ledger.db", journal="wal")
        place = (request.param, str(tmp_path), "")
    else:
        from rarefind.desk.database import PostgresDatabase

        ledger = PostgresDatabase(postgresql_url(), f"{desk.schema}_ledger", sole=True)
        place = (request.param, postgresql_url(), desk.schema)
    yield desk, ledger, place
    ledger.close()
    desk.close()


def messages(desk):
    rows = desk.read("SELECT message FROM outbox ORDER BY number")
    return [message for (message,) in rows]


def test_alerts_become_cases_and_messages_once(databases):
    desk, ledger, _ = databases
    book = Ledger(ledger, writes=True)
    add_webhook(desk)
    book.append(some_entries(1, 30))
    follower = follower_of(desk, ledger, rows=7)
    while follower.run():
        continue
    cases = cases_of(desk)
    assert cases.read_up_to == 30
    alerts = [alert.sequence for alert in cases.newest_alerts(100)][::-1]
    assert alerts == list(range(3, 31, 3))
    assert len(cases.unclosed()) == 7  # one a card
    assert messages(desk).count("alert.raised:3") == 1
    assert len(messages(desk)) == 10 + 7
    (body,) = desk.read("SELECT body FROM outbox WHERE message = 'alert.raised:3'")[0]
    assert json.loads(body)["transaction"] == "transaction 3"
    assert "card" not in json.loads(body)  # whose it is stays here
    assert not follower.run()
    book.append(some_entries(31, 3))
    assert not follower_of(desk, ledger).run()
    assert cases.read_up_to == 33


def test_a_worker_that_is_killed_anywhere_loses_and_doubles_nothing(databases):
    desk, ledger, place = databases
    Ledger(ledger, writes=True).append(some_entries(1, ROWS))
    add_webhook(desk)
    context, rng, ended, killed = get_context("spawn"), random.Random(0), False, 0
    while not ended:
        line, theirs = context.Pipe()
        process = context.Process(target=follow, args=(theirs, *place))
        process.start()
        assert line.poll(60)
        assert line.recv() == "begin"
        # The last one may take its time.
        ended = line.poll(60 if killed >= KILLS else rng.uniform(0.0, 0.15))
        process.kill()
        process.join()
        killed += not ended
        assert killed <= KILLS
    found = [alert.sequence for alert in cases_of(desk).newest_alerts(ROWS)]
    assert found == list(range(ROWS - ROWS % 3, 0, -3))
    told = messages(desk)
    assert len(told) == len(set(told)) == ROWS // 3 + 7
    assert cases_of(desk).read_up_to == ROWS


def test_a_ledger_that_has_lost_its_end_is_followed_from_there(tmp_path):
    """As after a loss of power with durability ``process``."""
    with closing(SqliteDatabase(tmp_path / "desk.db")) as desk:
        with closing(SqliteDatabase(tmp_path / "ledger.db", journal="wal")) as ledger:
            Ledger(ledger, writes=True).append(some_entries(1, 10))
            ledger.checkpoint()
            shutil.copy(tmp_path / "ledger.db", tmp_path / "short.db")
            Ledger(ledger, writes=True).append(some_entries(11, 10))
            follower_of(desk, ledger).run()
        assert cases_of(desk).newest_alerts(1)[0].sequence == 18
        with closing(SqliteDatabase(tmp_path / "short.db", journal="wal")) as ledger:
            book = Ledger(ledger, writes=True)
            # Others have the numbers of those that are lost.
            book.append([entry(n, alert="risk", card="new", day=1) for n in range(11, 26)])
            follower = follower_of(desk, ledger)
            while follower.run():
                continue
        alerts = cases_of(desk).newest_alerts(100)
        assert [alert.sequence for alert in alerts] == [*range(25, 10, -1), 9, 6, 3]
        assert {case.entity for case in cases_of(desk).unclosed()} >= {"new", "card 3", "card 6"}


def test_an_alert_that_was_erased_before_it_was_read_is_passed_over(databases):
    desk, ledger, _ = databases
    book = Ledger(ledger, writes=True)
    book.append(some_entries(1, 6))
    book.erase(0, "card 3", by="ann", now=1)
    assert not follower_of(desk, ledger).run()
    assert [alert.sequence for alert in cases_of(desk).newest_alerts(9)] == [6]


def test_cases_go_with_the_transactions_that_retention_deletes(databases):
    desk, ledger, _ = databases
    book = Ledger(ledger, writes=True)
    book.append(some_entries(1, 12))
    follower_of(desk, ledger).run()
    cases = cases_of(desk)
    first = cases.newest_alerts(9)[-1].case
    cases.take(first, "ann")
    cases.decide(first, "ann", "fraud", "called")
    book.delete_before(7 * 10**9, now=1)
    upto = book.deleted().sequence
    assert upto == 6
    assert delete_closed(desk, upto, 100) == 1  # the other one of these is not closed
    assert [alert.sequence for alert in cases.newest_alerts(9)] == [12, 9, 6]
    assert desk.read("SELECT count(*) FROM labels") == [(1,)]
    assert delete_closed(desk, upto, 100) == 0


def test_who_is_erased_while_alerts_are_read_is_not_stored(databases):
    desk, ledger, _ = databases
    book = Ledger(ledger, writes=True)
    book.append(some_entries(1, 6))
    follower = follower_of(desk, ledger)
    read = follower._ledger.read_alerts

    def read_then_erase(*given):
        found = read(*given)
        if not book.erasures:
            book.erase(0, "card 3", by="ann", now=1)
        return found

    follower._ledger.read_alerts = read_then_erase
    assert follower.run()
    assert cases_of(desk).read_up_to == 0
    assert not follower.run()
    assert [case.entity for case in cases_of(desk).unclosed()] == ["card 6"]

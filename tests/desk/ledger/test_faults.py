"""The ledger when processes are killed, the disk is full and the database is lost."""

import os
import random
import resource
import signal
import time
from itertools import count

import pytest
from desk.entries import entry, label
from desk.proxy import Proxy

from rarefind.desk.database import PostgresDatabase
from rarefind.desk.ledger import Ledger, LedgerUnavailable, LedgerUnknown

#: More by a command: RAREFIND_KILLS=200 pytest tests/desk/ledger/test_faults.py
KILLS = int(os.environ.get("RAREFIND_KILLS", "8"))


def in_a_child(work):
    """Run a function in a process of its own; return its process id and what it says."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    try:
        os.close(read)
        work(lambda number: os.write(write, number.to_bytes(8, "little")))
        os._exit(0)
    finally:
        os._exit(1)


def said(read):
    """The numbers that a child has said, all of them whole."""
    with os.fdopen(read, "rb") as file:
        content = file.read()
    return [
        int.from_bytes(content[start : start + 8], "little") for start in range(0, len(content), 8)
    ]


@pytest.mark.parametrize("durability", ["process", "disk"])
def test_what_was_answered_is_there_after_a_kill_and_nothing_is_half_there(ledgers, durability):
    rng = random.Random(durability)
    ledgers.writer().close()
    group, answered = 5, 0

    def write(answer):
        ledger = ledgers.writer(durability=durability)
        answer(0)
        for first in count(ledger.last.sequence + 1, group):
            rows = range(first, first + group)
            ledger.append(
                [entry(n) for n in rows if n % group], [label(n) for n in rows if not n % group]
            )
            answer(first + group - 1)
            if rng.random() < 0.1:
                ledger._checkpoint()

    for _ in range(KILLS):
        child, read = in_a_child(write)
        os.read(read, 8)  # it has opened the ledger
        time.sleep(rng.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        answered = max([answered, *said(read)])
        ledger = ledgers.writer()
        assert ledger.last.sequence >= answered
        assert ledger.last.sequence % group == 0
        ledger.close()
    ledger = ledgers.writer()
    found = ledger.verify()
    assert found.is_whole
    assert found.transactions == ledger.last.sequence * (group - 1) // group > 0
    assert found.labels == ledger.last.sequence // group
    assert ledger._database.read("SELECT count(*) FROM members") == [(found.transactions * 2,)]


def test_a_file_that_may_not_grow_loses_nothing_and_goes_on_later(sqlite_ledgers, tmp_path):
    def write(answer):
        ledger = sqlite_ledgers.writer()
        ledger.append([entry(1)])
        size = (tmp_path / "desk.db-wal").stat().st_size
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100_000, limit[1]))
        for number in count(2):
            try:
                ledger.append([entry(number)])
            except LedgerUnavailable:
                break
        assert ledger.recover().sequence == number - 1
        with pytest.raises(LedgerUnavailable):
            ledger.append([entry(number)])
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        ledger.append([entry(number)])
        answer(number)

    child, read = in_a_child(write)
    assert os.waitpid(child, 0)[1] == 0
    ledger = sqlite_ledgers.writer()
    assert [ledger.last.sequence] == said(read)
    assert ledger.verify().is_whole


@pytest.fixture
def proxy():
    proxy = Proxy()
    yield proxy
    proxy.stop()


def open_through(proxy, schema):
    return Ledger(PostgresDatabase(proxy.url, schema, sole=True, wait=5.0), writes=True)


def test_a_database_that_was_stopped_is_used_again_when_it_is_started(proxy):
    ledger = open_through(proxy, "stopped")
    ledger.append([entry(1)])
    proxy.stop()
    for _ in range(2):
        with pytest.raises(LedgerUnavailable, match="Look whether the server is running"):
            ledger.append([entry(2)])
    with pytest.raises(LedgerUnavailable):
        ledger.find([entry(1).id])
    assert ledger.last.sequence == 1
    proxy.start()
    assert ledger.find([entry(1).id]) == {entry(1).id: entry(1)}
    ledger.append([entry(2)])
    assert ledger.verify().is_whole
    ledger.close()


@pytest.mark.parametrize(("cut", "stored"), [("before", 1), ("after", 2)])
def test_a_commit_of_unknown_outcome_is_found_out(proxy, cut, stored):
    ledger = open_through(proxy, f"commit_{cut}")
    ledger.append([entry(1)])
    proxy.cut_at_commit = cut
    with pytest.raises(LedgerUnknown):
        ledger.append([entry(2)])
    assert ledger.recover().sequence == stored
    ledger.append([entry(stored + 1)])
    assert ledger.read(0, 10) == [entry(n) for n in range(1, stored + 2)]
    assert ledger.verify().is_whole
    ledger.close()


def test_rows_of_an_unknown_commit_are_not_stored_twice(proxy):
    """Whoever appends again without asking is stopped by the sequence."""
    ledger = open_through(proxy, "commit_twice")
    proxy.cut_at_commit = "after"
    with pytest.raises(LedgerUnknown):
        ledger.append([entry(1)])
    with pytest.raises(ValueError, match="has sequence 2, not 1"):
        ledger.append([entry(1)])
    assert ledger.read(0, 10) == [entry(1)]
    ledger.close()

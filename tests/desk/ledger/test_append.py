import threading
from collections import deque
from dataclasses import replace
from itertools import count

import pytest
from desk.entries import entry, label

from rarefind.desk.database import DatabaseConflict
from rarefind.desk.ledger import Ledger, LedgerUnavailable, Position


def test_what_was_appended_is_found_and_read(ledgers):
    ledger = ledgers.writer()
    assert ledger.last == Position(0, bytes(32))
    rows = [entry(1), entry(2, score=None, alert="random"), entry(3, decision="deny", by="a rule")]
    ledger.append(rows[:2])
    ledger.append(rows[2:])
    assert ledger.last.sequence == 3
    assert ledger.read(0, 10) == rows
    assert ledger.read(1, 1) == rows[1:2]
    assert ledger.find([rows[1].id]) == {rows[1].id: rows[1]}
    assert ledger.find([rows[2].id, "nobody", rows[0].id]) == {
        rows[0].id: rows[0],
        rows[2].id: rows[2],
    }
    assert ledger.find(["nobody"]) == ledger.find([]) == {}


def test_texts_and_numbers_come_back_as_they_were(ledgers):
    ledger = ledgers.writer()
    odd = replace(
        entry(1),
        id="'; DROP TABLE entries; --\n<b>雪</b> :id %s %(id)s",
        time=-(2**63),
        arrived=2**63 - 1,
        amount=-(2**53) - 1,
        entities=("", '"[],\\\u0000'),
        body=bytes(range(256)),
        features=b"",
    )
    ledger.append([odd])
    assert ledger.read(0, 1) == [odd]
    assert ledgers.reader().find([odd.id]) == {odd.id: odd}
    assert ledger.verify().is_whole


def test_labels_and_transactions_share_one_sequence(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1), entry(3)], [label(2, of=1), label(4, of=3, fraud=False)])
    ledger.append([], [label(5, of=1, source="correction")])
    assert [row.sequence for row in ledger.read(0, 10)] == [1, 2, 3, 4, 5]
    assert ledger.read(1, 3) == [label(2, of=1), entry(3), label(4, of=3, fraud=False)]
    assert ledger.labels_of([entry(1).id]) == [label(2, of=1), label(5, of=1, source="correction")]


def test_an_id_twice_stores_nothing_of_its_group(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1)])
    with pytest.raises(DatabaseConflict):
        ledger.append([entry(2), replace(entry(3), id=entry(1).id)], [label(4, of=1)])
    assert ledger.last.sequence == 1
    ledger.append([entry(2)])
    assert ledger.read(0, 10) == [entry(1), entry(2)]
    assert ledger.verify().is_whole


@pytest.mark.parametrize("sequences", [(3,), (1,), (2, 4), (3, 2)])
def test_a_gap_is_an_error(ledgers, sequences):
    ledger = ledgers.writer()
    ledger.append([entry(1)])
    with pytest.raises(ValueError, match="has sequence"):
        ledger.append([entry(number) for number in sequences])
    assert ledger.read(0, 10) == [entry(1)]


def test_a_ledger_goes_on_where_it_was_closed(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1)], [label(2, of=1)])
    last = ledger.last
    ledger.close()
    again = ledgers.writer()
    assert again.last == last
    again.append([entry(3)])
    assert again.verify().is_whole


def test_readers_see_whole_groups_in_order_while_rows_are_written(ledgers):
    """Followers read by position: none ever misses a row, or sees a part of a group."""
    ledger, group, seen, wrong = ledgers.writer(), 4, [], []
    done = threading.Event()

    def follow():
        reader, position = ledgers.reader(), 0
        while not (done.is_set() and position == ledger.last.sequence):
            last = reader.last.sequence
            if last % group:
                wrong.append(last)
            for row in reader.read(position, 3):
                seen.append(row.sequence)
                position = row.sequence

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        for first in range(1, 400, group):
            numbers = range(first, first + group)
            ledger.append(
                [entry(n) for n in numbers if n % 3], [label(n) for n in numbers if not n % 3]
            )
            ledger.idle()
    finally:
        done.set()
        thread.join()
    assert not wrong
    assert seen == list(range(1, ledger.last.sequence + 1))


def test_a_reader_writes_nothing(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1)])
    reader = ledgers.reader()
    with pytest.raises(Exception, match=r"read-?only"):
        reader.append([entry(2)])
    assert ledger.read(0, 10) == [entry(1)]


def test_a_ledger_of_a_newer_version_is_told(ledgers):
    ledgers.writer().close()
    database = ledgers.database()
    with database.write() as writer:
        writer.execute("INSERT INTO migrations VALUES ('ledger', 99)")
    for writes in (True, False):
        with pytest.raises(ValueError, match="newer version of rarefind"):
            Ledger(database, writes=writes)


def test_checkpoints_of_a_long_ledger_lose_nothing(tmp_path, ledgers, monkeypatch):
    monkeypatch.setattr("rarefind.desk.ledger._ledger._NEEDS_A_CHECKPOINT", 50)
    ledger = ledgers.writer()
    for first in range(1, 301, 10):
        ledger.append([entry(first + n) for n in range(10)])
    ledger.close()
    assert ledgers.reader().last.sequence == 300
    assert ledgers.reader().verify().is_whole


def test_a_full_disk_stores_nothing_and_goes_on_when_there_is_space(sqlite_ledgers):
    database = sqlite_ledgers.database()
    ledger = Ledger(database, writes=True)
    ledger.append([entry(1)])
    ((pages,),) = database.read("PRAGMA page_count")
    database.read(f"PRAGMA max_page_count = {pages}")
    rows = map(entry, count(2))
    with pytest.raises(LedgerUnavailable, match="make space"):
        deque((ledger.append([row]) for row in rows), maxlen=0)
    stored = next(rows).sequence - 2
    assert ledger.last.sequence == stored
    database.read("PRAGMA max_page_count = 1000000")
    ledger.append([entry(stored + 1)])
    assert ledger.last.sequence == stored + 1
    assert ledger.verify().is_whole


def test_a_busy_ledger_moves_its_log_in_small_parts(sqlite_ledgers):
    ledger = sqlite_ledgers.writer(durability="process")
    ledger.append([entry(n) for n in range(1, 11)])
    assert not ledger.needs_rest(0)
    ledger.append([entry(n) for n in range(11, 101)])
    assert ledger.needs_rest(0)
    assert not ledger.needs_rest(waiting=3)  # not at once while somebody waits
    ledger.rest()
    assert not ledger.needs_rest(0)
    assert sqlite_ledgers.reader().read(0, 200) == [entry(n) for n in range(1, 101)]

import json
from dataclasses import replace

import pytest
from desk.entries import entry, label


def fill(ledger):
    ledger.append([entry(n) for n in range(1, 16)], [label(16, of=3), label(17, of=3, fraud=False)])


def test_the_last_transactions_of_an_entity_are_read(ledgers):
    ledger = ledgers.writer()
    fill(ledger)
    assert [row.sequence for row in ledger.read_entity(0, "card 3")] == [10, 3]
    assert [row.sequence for row in ledger.read_entity(1, "terminal 0", limit=2)] == [15, 12]
    assert ledger.read_entity(1, "terminal 0", before=12, limit=1) == [entry(9)]
    assert ledger.read_entity(1, "card 3") == ledger.read_entity(0, "nobody") == []
    assert ledgers.reader().read_entity(0, "card 3") == [entry(10), entry(3)]


def test_all_that_is_known_of_an_entity_is_exported(ledgers):
    ledger = ledgers.writer()
    fill(ledger)
    exported = json.loads(json.dumps(ledger.export(0, "card 3")))
    assert [row["sequence"] for row in exported] == [3, 10]
    first = exported[0]
    assert first["transaction"] == {"id": "transaction 3"}
    assert len(first["features"]) == 2
    assert first["outcome"]["decision"] == "accept"
    assert [one["fraud"] for one in first["labels"]] == [True, False]
    assert exported[1]["labels"] == []
    assert ledger.export(0, "nobody") == []


def test_an_erased_entity_is_gone_and_the_chain_is_whole(ledgers):
    ledger = ledgers.writer()
    fill(ledger)
    last = ledger.last
    assert ledger.erase(0, "card 3", by="anna", now=99) == 2
    assert ledger.erase(0, "card 3", by="anna", now=99) == 0
    found = ledger.verify(last)
    assert found.is_whole
    assert found.erased == 2
    blank = replace(entry(3), entities=(), body=b"", features=b"")
    assert ledger.find([entry(3).id]) == {entry(3).id: blank}
    assert ledger.export(0, "card 3") == []
    assert [row.sequence for row in ledger.read_entity(1, "terminal 0")] == [15, 12, 9, 6]
    assert ledger.read(3, 6) == [entry(n) for n in range(4, 10)]
    rows = ledger._database.read("SELECT arrived, entity, approved_by, transactions FROM erasures")
    assert rows == [(99, 0, "anna", 2)]


def test_what_an_erased_row_still_says_cannot_be_changed(ledgers):
    ledger = ledgers.writer()
    fill(ledger)
    ledger.erase(0, "card 3", by="anna", now=99)
    with ledger._database.write() as writer:
        writer.execute("UPDATE entries SET decision = 'deny' WHERE sequence = 10")
    assert list(ledger.verify().broken) == [10]


def test_erased_rows_are_deleted_when_they_are_old(ledgers):
    ledger = ledgers.writer()
    fill(ledger)
    ledger.erase(0, "card 3", by="anna", now=99)
    assert ledger.delete_before(2**62, now=7) == 15
    assert ledger.verify().is_whole
    assert ledger._database.read("SELECT count(*) FROM members") == [(0,)]


def test_nothing_of_an_erased_card_is_left_in_the_file(sqlite_ledgers, tmp_path):
    ledger = sqlite_ledgers.writer()
    ledger.append([entry(1, card="5500-0000-0000-0004"), entry(2)])
    ledger.erase(0, "5500-0000-0000-0004", by="anna", now=99)
    ledger.append([entry(3)])
    ledger.close()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"transaction 1" in content
    assert b"5500-0000-0000-0004" not in content


def test_two_keys_that_share_a_number_are_told_apart(ledgers, monkeypatch):
    monkeypatch.setattr("rarefind.desk.ledger._tables.member_of", lambda entity, key: entity)
    ledger = ledgers.writer()
    fill(ledger)
    assert [row.sequence for row in ledger.read_entity(0, "card 3")] == [10, 3]
    assert ledger.erase(0, "card 3", by="anna", now=1) == 2
    assert [row.sequence for row in ledger.read_entity(0, "card 4")] == [11, 4]


def test_a_reader_erases_nothing(ledgers):
    ledger = ledgers.writer()
    fill(ledger)
    with pytest.raises(Exception, match=r"read-?only"):
        ledgers.reader().erase(0, "card 3", by="anna", now=1)
    assert len(ledger.export(0, "card 3")) == 2

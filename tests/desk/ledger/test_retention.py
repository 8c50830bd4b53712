from dataclasses import replace

from desk.entries import entry, label

from rarefind.desk.ledger import Day

DAY = 86_400 * 10**9


def test_old_rows_are_deleted_and_an_anchor_keeps_the_chain(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1, day=0), entry(2, day=0, decision="deny")], [label(3, of=1)])
    ledger.append([entry(4, day=1, alert="risk"), entry(5, day=2)], [label(6, of=4, day=2)])
    last = ledger.last
    assert ledger.delete_before(0, now=7) == 0
    assert ledger.delete_before(2 * DAY, now=7) == 3
    assert ledger.delete_before(2 * DAY, now=7) == 0
    assert ledger.read(0, 10) == [entry(5, day=2), label(6, of=4, day=2)]
    assert ledger.find([entry(1).id]) == {}
    assert ledger.read_entity(0, "card 1") == []
    found = ledger.verify(last)
    assert found.is_whole
    assert (found.first, found.transactions, found.labels) == (5, 1, 1)
    # Fraud is what the last label says: of day 0 it was in the ledger too, of day 1 it still is.
    assert ledger.days() == [Day(0, 2, 1, 0, 1, 300.0), Day(1, 1, 0, 1, 1, 400.0)]


def test_a_missing_row_is_named_behind_an_anchor_too(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(n, day=n) for n in range(1, 6)])
    ledger.delete_before(3 * DAY, now=7)
    with ledger._database.write() as writer:
        writer.execute("DELETE FROM entries WHERE sequence = 3")
    assert ledger.verify().broken == {3: "is missing"}


def test_few_rows_are_deleted_at_a_time_and_their_days_add_up(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(n) for n in range(1, 8)], [label(8, of=7), label(9, of=7, fraud=False)])
    assert [ledger.delete_before(DAY, now=7, limit=3) for _ in range(4)] == [3, 3, 1, 0]
    assert ledger.days() == [Day(0, 7, 0, 0, 0, 2800.0)]
    assert ledger.verify().is_whole


def test_a_ledger_goes_on_when_all_of_it_was_deleted(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1), entry(2)])
    last = ledger.last
    ledger.delete_before(DAY, now=7)
    ledger.close()
    again = ledgers.writer()
    assert again.last == last
    again.append([entry(3)])
    assert again.verify(last).is_whole
    assert [row.sequence for row in again.read(0, 10)] == [3]


def test_a_clock_that_was_wrong_for_a_while_neither_keeps_nor_deletes(ledgers):
    """One row arrived in 2200 by a clock that was wrong, one in 1970."""
    ledger = ledgers.writer()
    rows = [entry(n, day=100) for n in range(1, 6)]
    rows[1] = replace(rows[1], arrived=84_000 * DAY)
    rows[4] = replace(entry(5, day=200), arrived=0)
    rows[3] = entry(4, day=200)
    ledger.append(rows)
    assert ledger.delete_before(150 * DAY, now=7) == 3
    assert ledger.read(0, 10) == rows[3:]

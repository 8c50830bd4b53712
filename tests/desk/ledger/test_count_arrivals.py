"""How many transactions have arrived since a time, found by halving."""

from desk.entries import entry, label

DAY = 86_400 * 10**9


def test_transactions_of_today_are_counted_without_labels(ledgers):
    writer = ledgers.writer()
    assert writer.arrived_since(0) == (0, 0)
    yesterday = [entry(number) for number in range(1, 8)]
    writer.append(yesterday, [label(8)])
    writer.append([entry(9, day=1), entry(10, day=1)], [label(11, day=1)])
    writer.append([entry(12, day=1)])
    reader = ledgers.reader()
    # A label is as old as the transaction before it.
    assert reader.arrived_since(DAY) == (3, 8)
    assert reader.arrived_since(0) == (10, 0)
    assert reader.arrived_since(2 * DAY) == (0, 12)
    assert reader.arrived_since(yesterday[3].arrived) == (7, 3)


def test_what_retention_has_deleted_is_not_counted(ledgers):
    writer = ledgers.writer()
    writer.append([entry(number) for number in range(1, 6)] + [entry(6, day=1)])
    writer.delete_before(DAY, now=2 * DAY)
    assert writer.arrived_since(0) == (1, 5)
    assert writer.arrived_since(DAY) == (1, 5)

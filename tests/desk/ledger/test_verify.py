import pytest
from desk.entries import entry, label

from rarefind.desk.ledger import Position


@pytest.fixture
def ledger(ledgers):
    ledger = ledgers.writer()
    ledger.append([entry(1), entry(2), entry(3)], [label(4, of=1)])
    ledger.append([entry(5), entry(6)], [label(7, of=2)])
    ledger.append([entry(8)])
    return ledger


def spoil(ledger, *statements):
    """Change the ledger behind its back."""
    with ledger._database.write() as writer:
        for statement in statements:
            writer.execute(statement)


def test_a_whole_ledger_says_so(ledger):
    found = ledger.verify()
    assert found.is_whole
    assert (found.transactions, found.labels, found.erased, found.first) == (6, 2, 0, 1)
    assert found.last == ledger.last
    assert "6 transactions and 2 labels are as they were written" in str(found)
    assert str(found).endswith(f"The last row is 8:{ledger.last.chain.hex()}.")


@pytest.mark.parametrize(
    "change",
    [
        "time = time + 1",
        "arrived = arrived - 1",
        "amount = 0",
        "id = 'another'",
        "decision = 'deny'",
        "decided_by = 'x'",
        "rules = '[]'",
        "score = 0.2500000000000001",
        "score = NULL",
        "priority = 0",
        "alert = 'risk'",
        "propensity = 0.02",
        "rule_book = ''",
        "model = 'other'",
        """entities = '["card 6", "terminal 2"]'""",
        "body = features",
        "features = body",
        "salt = chain",
    ],
)
def test_a_changed_value_is_named(ledger, change):
    if change == "salt = chain":
        change = "salt = (SELECT salt FROM entries WHERE sequence = 3)"
    spoil(ledger, f"UPDATE entries SET {change} WHERE sequence = 5")
    assert ledger.verify().broken == {5: "does not fit its digest"}
    assert str(ledger.verify()) == "The ledger was changed: row 5 does not fit its digest."


@pytest.mark.parametrize(
    "change", ["fraud = 0", "id = 'transaction 3'", "arrived = 1", "source = 'claim'"]
)
def test_a_changed_label_is_named(ledger, change):
    spoil(ledger, f"UPDATE labels SET {change} WHERE sequence = 7")
    assert list(ledger.verify().broken) == [7]


def test_a_removed_row_is_named(ledger):
    spoil(ledger, "DELETE FROM entries WHERE sequence = 5")
    assert ledger.verify().broken == {5: "is missing"}
    spoil(ledger, "DELETE FROM labels WHERE sequence = 4")
    assert ledger.verify().broken == {4: "is missing, and all up to 5"}
    spoil(ledger, "DELETE FROM entries WHERE sequence = 1")
    assert ledger.verify().broken == {1: "is missing", 4: "is missing, and all up to 5"}


def test_swapped_rows_are_named(ledger):
    spoil(
        ledger,
        "UPDATE entries SET sequence = -1 WHERE sequence = 2",
        "UPDATE entries SET sequence = 2 WHERE sequence = 3",
        "UPDATE entries SET sequence = 3 WHERE sequence = -1",
    )
    assert {2, 3} <= set(ledger.verify().broken)


def test_a_row_that_was_put_in_is_named(ledger):
    spoil(ledger, "UPDATE entries SET sequence = 1000000000000 WHERE sequence = 8")
    assert ledger.verify().broken == {8: "is missing, and all up to 999999999999"}


def test_a_ledger_that_was_cut_off_lacks_what_was_written_down(ledger):
    expected = ledger.last
    assert ledger.verify(expected).is_whole
    spoil(ledger, "DELETE FROM entries WHERE sequence = 8")
    assert ledger.verify().is_whole
    assert ledger.verify(expected).broken == {8: "is missing"}


def test_a_ledger_that_was_written_anew_is_not_the_one_that_was_written_down(ledger):
    at_five = Position(5, bytes(32))
    assert ledger.verify(at_five).broken == {5: "is not the one that was written down"}


def test_an_erasure_that_nobody_approved_is_named(ledger):
    spoil(
        ledger,
        "UPDATE entries SET entities = '[]', salt = NULL, personal = chain, erasure = 1 "
        "WHERE sequence = 5",
    )
    assert ledger.verify().broken == {5: "was erased, and no erasure is recorded"}
    ledger.erase(0, "card 6", by="anna", now=1)  # its record is number 1
    assert ledger.verify().broken == {5: "does not fit its digest"}

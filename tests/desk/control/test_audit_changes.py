"""Every change has its row in the audit log, and no row can be changed or removed unseen."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from desk.control.desks import SCHEMA

from rarefind.desk.control import Control, ControlError
from rarefind.desk.ledger import Position


def fill(desk):
    control = desk.control
    control.lists.save("risky", ["XX"], "ann")
    desk.clock.advance("1h")
    control.rules.save("large", "amount > 100", "bob", note="from the meeting")
    control.blocks.ask("c1", "eve", "the customer has called")


def test_who_did_what_and_when(desk):
    fill(desk)
    first, second, third = desk.control.audit.read()
    assert (first.number, first.person, first.action, first.subject) == (
        *(1, "ann", "save list", "risky"),
    )
    assert second.at - first.at == 3_600 * 10**9
    assert second.detail["text"] == "amount > 100"
    assert (third.action, third.subject) == ("block", "block 1")
    assert "c1" not in str(third)  # what may have to be erased stays out of the log
    assert [row.number for row in desk.control.audit.read(after=2)] == [3]
    assert desk.revision == 3


def test_what_is_refused_leaves_no_trace(desk):
    fill(desk)
    before = desk.control.audit.last
    for refused in (
        lambda: desk.control.rules.save("large", "amont > 100", "bob"),
        lambda: desk.control.blocks.approve(7, "bob"),
        lambda: desk.control.lists.delete("none", "bob"),
    ):
        with pytest.raises(ValueError, match="There is no"):
            refused()
    with pytest.raises(ControlError, match="not a name of a person"):
        desk.control.blocks.ask("c2", "")
    assert (desk.control.audit.last, desk.revision) == (before, 3)


def test_a_whole_log_is_verified(desk):
    assert desk.control.audit.verify().is_whole
    fill(desk)
    found = desk.control.audit.verify(desk.control.audit.last)
    assert found.is_whole
    assert str(found).startswith("3 rows of the audit log are as they were written.")


@pytest.mark.parametrize(
    ("change", "row", "what"),
    [
        ("UPDATE audit SET person = 'mallory' WHERE number = 2", 2, "does not fit its digest"),
        ("UPDATE audit SET detail = '{}' WHERE number = 1", 1, "does not fit its digest"),
        ("DELETE FROM audit WHERE number = 1", 1, "is missing"),
        ("DELETE FROM audit WHERE number = 2", 2, "is missing"),
        ("UPDATE audit SET number = 9 WHERE number = 3", 3, "is missing"),
    ],
)
def test_the_first_row_that_is_wrong_is_named(desk, change, row, what):
    fill(desk)
    with desk.database.write() as writer:
        writer.execute(change)
    found = desk.control.audit.verify()
    assert (found.broken, found.what, found.is_whole) == (row, what, False)
    assert str(found) == f"The audit log was changed: row {row} {what}."


def test_a_last_row_that_was_deleted_is_missed_where_it_was_written_down(desk):
    fill(desk)
    last = desk.control.audit.last
    with desk.database.write() as writer:
        writer.execute("DELETE FROM audit WHERE number = 3")
    assert desk.control.audit.verify().is_whole
    found = desk.control.audit.verify(last)
    assert (found.broken, found.what) == (3, "is missing")
    desk.control.blocks.ask("c2", "eve")
    found = desk.control.audit.verify(last)
    assert (found.broken, found.what) == (3, "is not the one that was written down")
    assert Position.from_text(str(last)) == last


def test_many_change_at_once_and_the_log_stays_whole(desk):
    others = [desk.open() for _ in range(4)]
    controls = [Control(each, SCHEMA, desk.models, desk.clock) for each in others]

    def change(number):
        for i in range(5):
            controls[number].blocks.ask(f"c{number} {i}", f"person {number}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(change, range(4)))
    for other in others:
        other.close()
    assert (desk.revision, desk.control.audit.verify().rows) == (20, 20)
    assert desk.control.audit.verify().is_whole
    assert len(desk.control.in_force().blocked) == 20

"""What shall be done to the ledger is ordered, carried out once, and forgotten."""

import pytest
from desk.control.desks import TWO_PEOPLE

from rarefind.desk.control import ControlConflict, ControlError


def test_an_erasure_is_ordered_and_done(desk):
    orders = desk.control.orders
    order = orders.erase("card", "4711", "ann")
    assert (order.state, order.answered_by) == ("approved", "ann")
    assert orders.to_do() == [order]
    done = orders.done(order.id, 12)
    assert (done.state, done.key, done.result) == ("done", "", {"transactions": 12})
    assert orders.done(order.id, 0) == done  # as after a restart
    assert (orders.to_do(), orders.all()) == ([], [done])
    assert "4711" not in str(desk.control.audit.read())
    assert [row.action for row in desk.control.audit.read()] == ["order erasure", "erase"]


def test_blocks_that_have_ended_do_not_name_who_was_erased(desk):
    blocks, orders = desk.control.blocks, desk.control.orders
    ended = blocks.lift(blocks.ask("4711", "ann", "a call from 0171").id, "ann")
    now = blocks.ask("4711", "ann")
    order = orders.erase("card", "4711", "ann")
    orders.done(order.id, 1)
    found = blocks.get(ended.id)
    assert (found.entity, found.note, found.state) == (f"erased {order.id}", "", "lifted")
    assert blocks.current("4711") == now  # it is still refused


def test_a_second_person_approves_where_the_desk_wants_one(desk):
    orders = desk.of(TWO_PEOPLE).orders
    order = orders.erase("card", "4711", "ann")
    assert orders.to_do() == []
    with pytest.raises(ControlError, match="another person has to approve it"):
        orders.approve(order.id, "ann")
    with pytest.raises(ControlConflict, match="Order 1 is asked, and not approved"):
        orders.done(order.id, 1)
    assert orders.approve(order.id, "bob").answered_by == "bob"
    assert orders.failed(order.id, "The ledger is read-only.").state == "failed"
    other = orders.erase("terminal", "t1", "ann")
    assert (orders.reject(other.id, "bob").state, orders.get(other.id).key) == ("rejected", "")
    with pytest.raises(ControlConflict, match="Order 2 is rejected already"):
        orders.approve(other.id, "eve")


def test_only_entities_of_the_desk_are_erased(sqlite_desk):
    with pytest.raises(ControlError, match="not an entity of this desk; they are card, terminal"):
        sqlite_desk.control.orders.erase("person", "4711", "ann")
    with pytest.raises(ControlError, match="Name the card"):
        sqlite_desk.control.orders.erase("card", "", "ann")

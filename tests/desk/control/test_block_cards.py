"""A card is blocked when a person has approved it, and its history stays."""

import pytest
from desk.control.desks import TWO_PEOPLE

from rarefind.desk.control import ControlConflict, ControlError, NotThere


def test_one_person_blocks_and_lifts(desk):
    blocks = desk.control.blocks
    block = blocks.ask("c1", "ann", "the customer has called")
    assert (block.state, block.answered_by) == ("in force", "ann")
    assert blocks.ask("c1", "bob") == block  # it is blocked already
    assert desk.control.in_force().blocked == {"c1"}
    desk.clock.advance("1h")
    lifted = blocks.lift(block.id, "eve", "it was the customer after all")
    assert (lifted.state, lifted.lifted_by) == ("lifted", "eve")
    assert desk.control.in_force().blocked == frozenset()
    again = blocks.ask("c1", "bob")
    assert [each.id for each in blocks.history("c1")] == [block.id, again.id]
    assert blocks.current("c1") == again
    assert [each.id for each in blocks.in_state("lifted")] == [block.id]


def test_a_second_person_approves_where_the_desk_wants_one(desk):
    blocks = desk.of(TWO_PEOPLE).blocks
    block = blocks.ask("c1", "ann")
    assert block.state == "waiting"
    assert desk.control.in_force().blocked == frozenset()
    with pytest.raises(ControlError, match="ann has asked for block 1: another person"):
        blocks.approve(block.id, "ann")
    assert blocks.approve(block.id, "bob").answered_by == "bob"
    assert blocks.approve(block.id, "eve").answered_by == "bob"  # once more changes nothing
    assert desk.control.in_force().blocked == {"c1"}
    with pytest.raises(ControlConflict, match="Block 1 is in force already"):
        blocks.reject(block.id, "eve")


def test_what_was_rejected_is_not_lifted_and_can_be_asked_again(desk):
    blocks = desk.of(TWO_PEOPLE).blocks
    block = blocks.ask("c1", "ann")
    assert blocks.reject(block.id, "bob").state == "rejected"
    with pytest.raises(ControlConflict, match="Block 1 was rejected by bob"):
        blocks.lift(block.id, "ann")
    assert blocks.ask("c1", "ann").id != block.id
    assert blocks.lift(blocks.current("c1").id, "ann").state == "lifted"  # the wish is taken back
    with pytest.raises(NotThere, match="There is no block 99"):
        blocks.get(99)

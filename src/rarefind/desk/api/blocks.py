"""Blocked cards: asked for when fraud is confirmed, approved by a person, lifted later."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Literal

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import block_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import LARGEST, Before, Number, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.sent import sent
from rarefind.desk.control import Block
from rarefind.desk.messages import BlockPage, BlockSummary, LiftedBlock, NewBlock

router = APIRouter(tags=["blocks"])


@router.get("/blocks", **described("read", gives=BlockPage, example=examples.BLOCKS))
def list_blocks(
    door: Door,
    state: Literal["waiting", "in force", "rejected", "lifted"] = "in force",
    before: Before = None,
    limit: Rows = 100,
) -> Response:
    """List blocks in a state, the newest first."""
    found = [
        _summary(door, block)
        for block in door.control.blocks.in_state(state, before=before or LARGEST, limit=limit)
    ]
    return json_answer(BlockPage(blocks=found, next=next_page(found, limit, attrgetter("id"))))


@router.post(
    "/blocks",
    **described(
        "check",
        gives=BlockSummary,
        example=examples.BLOCK,
        takes=NewBlock,
        sends=examples.NEW_BLOCK,
    ),
)
def ask_for_block(door: Door, person: Person, new: Annotated[NewBlock, sent(NewBlock)]) -> Response:
    """Ask that an entity is blocked, so that its transactions are denied.

    Where the desk wants a second person, it waits for approval; otherwise it is in force at once.
    A block that waits or is in force already is answered as it is.
    """
    return json_answer(_summary(door, door.control.blocks.ask(new.key, person, new.note)))


@router.post(
    "/blocks/{block}/approve",
    **described("confirm", gives=BlockSummary, example=examples.BLOCK, problems=(404, 409)),
)
def approve_block(door: Door, block: Number, person: Person) -> Response:
    """Put a block in force; where a second person is wanted, not by who has asked for it."""
    return json_answer(_summary(door, door.control.blocks.approve(block, person)))


@router.post(
    "/blocks/{block}/reject",
    **described("confirm", gives=BlockSummary, example=examples.BLOCK, problems=(404, 409)),
)
def reject_block(door: Door, block: Number, person: Person) -> Response:
    """Answer that an entity is not to be blocked."""
    return json_answer(_summary(door, door.control.blocks.reject(block, person)))


@router.post(
    "/blocks/{block}/lift",
    **described(
        "confirm",
        gives=BlockSummary,
        example=examples.BLOCK,
        takes=LiftedBlock,
        sends=examples.LIFTED,
        problems=(404, 409),
    ),
)
def lift_block(
    door: Door, block: Number, person: Person, why: Annotated[LiftedBlock, sent(LiftedBlock)]
) -> Response:
    """End a block that is in force, or take back the wish for one."""
    return json_answer(_summary(door, door.control.blocks.lift(block, person, why.note)))


def _summary(door: WebDoor, block: Block) -> BlockSummary:
    return block_summary(block, door.schema.alerts.entity)

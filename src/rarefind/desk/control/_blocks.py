"""Entities whose transactions are refused: asked for by one person, and approved by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._approval import Approval
from rarefind.desk.control._audit import Audit, record_change
from rarefind.desk.control._errors import (
    ControlConflict,
    ControlError,
    NotThere,
    check_name,
    check_note,
)
from rarefind.desk.control._settings import SettingChanges
from rarefind.desk.database import ABOVE_ALL, Database, Writer

__all__ = ["Block", "BlockState", "Blocks", "read_blocked"]

BlockState = Literal["waiting", "in force", "rejected", "lifted"]
_COLUMNS = (
    "id, entity, state, note, asked, asked_by, answered, answered_by, lifted, lifted_by, lift_note"
)
_LONGEST_ENTITY = 10_000


@dataclass(frozen=True, slots=True)
class Block:
    """A block, from the wish for it to its end.

    Attributes
    ----------
    id : int
    entity : str
        Who is blocked: a card.
    state : {"waiting", "in force", "rejected", "lifted"}
    note, lift_note : str
        Why it was asked for, and why it was lifted.
    asked, answered, lifted : int or None
        When; ``answered`` is the time of approval or rejection.
    asked_by, answered_by, lifted_by : str or None
        Who.
    """

    id: int
    entity: str
    state: BlockState
    note: str
    asked: int
    asked_by: str
    answered: int | None
    answered_by: str | None
    lifted: int | None
    lifted_by: str | None
    lift_note: str


class Blocks:
    """The blocked entities of a desk, of the kind that ``alerts.entity`` names.

    With ``alerts.second_person`` a block waits until another person than the one who asked has
    approved it; without, who asks has approved it.

    Parameters
    ----------
    database : Database
        That of the desk.
    settings : SettingChanges
    audit : Audit
    clock : DeskClock
    """

    def __init__(
        self, database: Database, settings: SettingChanges, audit: Audit, clock: DeskClock
    ) -> None:
        self._database, self._audit, self._clock = database, audit, clock
        self._approval = Approval(
            "blocks",
            "block",
            waiting="waiting",
            approved="in force",
            second_person=settings.second_person,
            clock=clock,
        )

    def get(self, block: int) -> Block:
        """Return a block."""
        return _get(self._database, block)

    def current(self, entity: str) -> Block | None:
        """Return the block of an entity that waits or is in force; None where there is none."""
        return _current(self._database, entity)

    def history(self, entity: str) -> list[Block]:
        """Return all blocks that an entity ever had, the first first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM blocks WHERE entity = :entity ORDER BY id", entity=entity
        )
        return [Block(*row) for row in rows]

    def in_state(
        self, state: BlockState, *, before: int = ABOVE_ALL, limit: int = 1_000
    ) -> list[Block]:
        """Return blocks in a state with a number below ``before``, the newest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM blocks WHERE state = :state AND id < :before "
            "ORDER BY id DESC LIMIT :limit",
            state=state,
            before=before,
            limit=limit,
        )
        return [Block(*row) for row in rows]

    def ask(self, entity: str, person: str, note: str = "") -> Block:
        """Ask for a block; one that waits or is in force already is returned as it is."""
        _check_entity(entity)
        check_note(note)
        with self._database.write() as writer:
            asked = self._approval.ask(writer, person)
            known = _current(writer, entity)
            if known is not None:
                return known
            ((number,),) = writer.read(
                "INSERT INTO blocks "
                "(entity, state, note, asked, asked_by, answered, answered_by) VALUES "
                "(:entity, :state, :note, :asked, :asked_by, :answered, :answered_by) RETURNING id",
                entity=entity,
                note=note,
                **asked,
            )
            action = "ask for block" if asked["state"] == "waiting" else "block"
            self._record(writer, person, action, number)
            return _get(writer, number)

    def approve(self, block: int, person: str) -> Block:
        """Put a block in force; where a second person is wanted, who asked may not approve.

        A block that is in force stays as it is.
        """
        with self._database.write() as writer:
            if self._approval.approve(writer, _get(writer, block), person):
                self._record(writer, person, "approve block", block)
            return _get(writer, block)

    def reject(self, block: int, person: str) -> Block:
        """Answer that an entity is not to be blocked; a block that was rejected stays as it is."""
        with self._database.write() as writer:
            if self._approval.reject(writer, _get(writer, block), person):
                self._record(writer, person, "reject block", block)
            return _get(writer, block)

    def lift(self, block: int, person: str, note: str = "") -> Block:
        """End a block that is in force, or take back the wish for one."""
        check_name("person", person)
        check_note(note)
        with self._database.write() as writer:
            known = _get(writer, block)
            if known.state == "lifted":
                return known
            if known.state == "rejected":
                raise ControlConflict(f"Block {block} was rejected by {known.answered_by}.")
            writer.execute(
                "UPDATE blocks SET state = 'lifted', lifted = :now, lifted_by = :person, "
                "lift_note = :note WHERE id = :id",
                id=block,
                now=self._clock.now(),
                person=person,
                note=note,
            )
            self._record(writer, person, "lift block", block)
            return _get(writer, block)

    def _record(self, writer: Writer, person: str, action: str, block: int) -> None:
        # The entity and the notes stay out of the log, which keeps for ever what it has.
        record_change(self._audit, writer, person, action, f"block {block}")


def read_blocked(reader: Database | Writer) -> frozenset[str]:
    """Return the entities that are blocked."""
    rows = reader.read("SELECT entity FROM blocks WHERE state = 'in force'")
    return frozenset(row[0] for row in rows)


def _get(reader: Database | Writer, block: int) -> Block:
    rows = reader.read(f"SELECT {_COLUMNS} FROM blocks WHERE id = :id", id=block)
    if not rows:
        raise NotThere(f"There is no block {block}.")
    return Block(*rows[0])


def _current(reader: Database | Writer, entity: str) -> Block | None:
    rows = reader.read(
        f"SELECT {_COLUMNS} FROM blocks WHERE entity = :entity "
        "AND (state = 'waiting' OR state = 'in force')",
        entity=entity,
    )
    return Block(*rows[0]) if rows else None


def _check_entity(entity: str) -> None:
    if not entity or len(entity) > _LONGEST_ENTITY or "\0" in entity:
        raise ControlError(
            f"{entity[:60]!r} cannot be blocked: name a card, or whatever the desk checks."
        )

"""What one person asks for, and another approves or rejects where the desk wants two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._errors import ControlConflict, check_name
from rarefind.desk.database import Parameter, Writer

__all__ = ["Approval"]


class _Wish(Protocol):
    """A row of what people ask for."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def state(self) -> str:
        """What has become of it."""

    @property
    def asked_by(self) -> str:
        """Who has asked."""


class Approval:
    """How rows of a table are asked for and answered.

    Parameters
    ----------
    table : str
        It has the columns id, state, asked, asked_by, answered and answered_by.
    word : str
        The word for a row, such as ``block``.
    waiting, approved : str
        The states before and after approval; one that is not approved is ``rejected``.
    second_person : callable
        Whether the desk wants, by now, that it waits until another person than the one who asked
        has approved it; else who asks has approved it.
    clock : DeskClock
    """

    def __init__(
        self,
        table: str,
        word: str,
        *,
        waiting: str,
        approved: str,
        second_person: Callable[[Writer], bool],
        clock: DeskClock,
    ) -> None:
        self._table, self._word = table, word
        self._waiting, self._approved = waiting, approved
        self._second_person, self._clock = second_person, clock

    def ask(self, writer: Writer, person: str) -> dict[str, Parameter]:
        """Return the columns of a row that a person asks for now."""
        check_name("person", person)
        now = self._clock.now()
        if self._second_person(writer):
            state, answered, answered_by = self._waiting, None, None
        else:
            state, answered, answered_by = self._approved, now, person
        return {
            "state": state,
            "asked": now,
            "asked_by": person,
            "answered": answered,
            "answered_by": answered_by,
        }

    def approve(self, writer: Writer, known: _Wish, person: str) -> bool:
        """Approve what waits; False where it was approved before."""
        waits = known.state == self._waiting
        if waits and known.asked_by == person and self._second_person(writer):
            raise ControlConflict(
                f"{person} has asked for {self._word} {known.id}: another person has to approve it."
            )
        return self._answer(writer, known, person, self._approved)

    def reject(self, writer: Writer, known: _Wish, person: str) -> bool:
        """Reject what waits; False where it was rejected before."""
        return self._answer(writer, known, person, "rejected")

    def _answer(self, writer: Writer, known: _Wish, person: str, state: str) -> bool:
        check_name("person", person)
        if known.state == state:
            return False
        if known.state != self._waiting:
            raise ControlConflict(f"{self._word.capitalize()} {known.id} is {known.state} already.")
        writer.execute(
            f"UPDATE {self._table} SET state = :state, answered = :now, answered_by = :person "
            "WHERE id = :id",
            id=known.id,
            state=state,
            now=self._clock.now(),
            person=person,
        )
        return True

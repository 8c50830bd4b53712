"""Notes of a case: what people want each other to know before there is a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from rarefind.desk.alerts._case import CaseError, NoSuchCase
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Audit
from rarefind.desk.database import Database

__all__ = ["LONGEST_NOTE", "CaseNotes", "Note", "check_text"]

#: Characters that a note has at most.
LONGEST_NOTE = 10_000


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody has written about a case, and when."""

    person: str
    at: int
    text: str


class CaseNotes:
    """The notes of all cases; they are only ever added.

    Parameters
    ----------
    database : Database
        That of the desk, with the tables of :class:`Cases`.
    clock : DeskClock
    audit : Audit
    """

    def __init__(self, database: Database, clock: DeskClock, audit: Audit) -> None:
        self._database, self._clock, self._audit = database, clock, audit

    def add(self, case: int, person: str, text: str) -> None:
        """Write a note; whoever may work on cases may, whoever holds this one."""
        check_text(text)
        if not text.strip():
            raise CaseError("The note is empty: write what others should know.")
        with self._database.write() as writer:
            if not writer.read("SELECT 1 FROM cases WHERE id = :id", id=case):
                raise NoSuchCase(f"There is no case {case}.")
            writer.execute(
                "INSERT INTO notes (case_id, person, at, note) VALUES (:id, :person, :now, :text)",
                id=case,
                person=person,
                now=self._clock.now(),
                text=text,
            )
            self._audit.add(writer, person, "write note", f"case {case}")

    def of(self, case: int) -> list[Note]:
        """Return the notes of a case, the first first."""
        rows = self._database.read(
            "SELECT person, at, note FROM notes WHERE case_id = :id ORDER BY id", id=case
        )
        return [Note(*row) for row in rows]


def check_text(note: str) -> None:
    """Raise on a note that is too long to be kept."""
    if len(note) > LONGEST_NOTE or "\0" in note:
        raise CaseError(f"A note has at most {LONGEST_NOTE:,} characters, none of them NUL.")

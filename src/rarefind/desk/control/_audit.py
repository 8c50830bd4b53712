"""Who did what and when: a log in which nothing can be changed or removed unseen.

Each row is chained to the one before it as those of the ledger are::

    chain = blake2b(chain of the row before + json(["audit", number, at, person, …]))

What may have to be erased one day, such as the number of a card, does not belong into it: its
subject is then the number of the row that has it, such as ``block 12``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._tables import STEPS
from rarefind.desk.database import Database, Row, Writer, migrate
from rarefind.desk.ledger import Position
from rarefind.desk.ledger.chain import SIZE, START

__all__ = ["Audit", "AuditRow", "AuditVerification", "record_change", "revision"]

_COLUMNS = "number, at, person, action, subject, detail, chain"
_BATCH = 2_000
_LARGEST = 2**63 - 1
_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A row of the log.

    Attributes
    ----------
    number : int
        They are counted from 1, without gaps.
    at : int
        When: nanoseconds since 1970 in UTC.
    person : str
        Who.
    action : str
        What, such as ``save rule`` or ``promote model``.
    subject : str
        What it was done to, such as the name of the rule.
    detail : dict
        Whatever else there is to say.
    """

    number: int
    at: int
    person: str
    action: str
    subject: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """What was found in a log: how many rows, the last one, and the first that is wrong."""

    rows: int
    last: Position
    broken: int | None = None
    what: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was changed, removed or moved."""
        return self.broken is None

    def __str__(self) -> str:
        if self.broken is not None:
            return f"The audit log was changed: row {self.broken} {self.what}."
        return (
            f"{self.rows:,} rows of the audit log are as they were written. The last row is "
            f"{self.last}."
        )


class Audit:
    """The audit log of a desk.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    clock : DeskClock
    """

    def __init__(self, database: Database, clock: DeskClock) -> None:
        migrate(database, "control", STEPS)
        self._database, self._clock = database, clock

    def add(
        self,
        writer: Writer,
        person: str,
        action: str,
        subject: str,
        detail: Mapping[str, Any] | None = None,
    ) -> int:
        """Add a row in the transaction that makes the change, and return its number."""
        before = _last(writer)
        number, at, text = before.sequence + 1, self._clock.now(), _encode(detail or {}).decode()
        chain = _chain(before.chain, (number, at, person, action, subject, text))
        writer.execute(
            f"INSERT INTO audit ({_COLUMNS}) "
            "VALUES (:number, :at, :person, :action, :subject, :detail, :chain)",
            number=number,
            at=at,
            person=person,
            action=action,
            subject=subject,
            detail=text,
            chain=chain,
        )
        return number

    def record(
        self, person: str, action: str, subject: str, detail: Mapping[str, Any] | None = None
    ) -> int:
        """Add a row about something that is stored nowhere else, and return its number."""
        with self._database.write() as writer:
            return self.add(writer, person, action, subject, detail)

    @property
    def last(self) -> Position:
        """The last row; write it down elsewhere, and a log that was cut off does not have it."""
        return _last(self._database)

    def read(self, after: int = 0, limit: int = 1_000) -> list[AuditRow]:
        """Return the rows after a number, the oldest first."""
        return [_as_row(row) for row in self._rows(after, limit)]

    def newest(
        self,
        before: int | None = None,
        person: str = "",
        action: str = "",
        subject: str = "",
        limit: int = 50,
    ) -> list[AuditRow]:
        """Return rows before a number, the newest first; of a person, an action, a subject, or all.

        However long the log is, no more rows are read than are returned, unless more than one of
        these is named: then those of one of them.
        """
        wanted = {"person": person, "action": action, "subject": subject}
        given = {name: value for name, value in wanted.items() if value}
        conditions = ["number < :before", *(f"{name} = :{name}" for name in given)]
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM audit WHERE {' AND '.join(conditions)} "
            "ORDER BY number DESC LIMIT :limit",
            before=_LARGEST if before is None else before,
            limit=limit,
            **given,
        )
        return [_as_row(row) for row in rows]

    def people(self) -> list[str]:
        """Return all who are named in the log."""
        return self._different("person")

    def actions(self) -> list[str]:
        """Return all that was ever done."""
        return self._different("action")

    def _different(self, column: str) -> list[str]:
        """The different values of a column, each found by a step through its index."""
        rows = self._database.read(
            f"WITH RECURSIVE found (value) AS (SELECT min({column}) FROM audit UNION ALL "
            f"SELECT (SELECT min({column}) FROM audit WHERE {column} > value) FROM found "
            "WHERE value IS NOT NULL) SELECT value FROM found WHERE value IS NOT NULL"
        )
        return sorted(str(row[0]) for row in rows)

    def of_actions(
        self,
        actions: Sequence[str],
        *,
        subject: str | None = None,
        limit: int = 100,
        reader: Writer | None = None,
    ) -> list[AuditRow]:
        """Return the last rows of some actions, of one subject or of all, the newest first.

        Within a transaction, give it as the reader.
        """
        rows = (reader or self._database).read(
            f"SELECT {_COLUMNS} FROM audit WHERE action IN :actions "
            f"{'' if subject is None else 'AND subject = :subject'} "
            "ORDER BY number DESC LIMIT :limit",
            actions=list(actions),
            subject=subject,
            limit=limit,
        )
        return [_as_row(row) for row in rows]

    def verify(self, expected: Position | None = None) -> AuditVerification:
        """Look whether every row is as it was written.

        Parameters
        ----------
        expected : Position, optional
            A last row that was written down elsewhere: whether it is still there is looked at, too.
            Without it nobody can know that rows are missing at the end.
        """
        before, count = Position(0, START), 0
        if expected is not None and expected.sequence == 0 and expected != before:
            return AuditVerification(0, before, 0, _OTHER)
        while rows := self._rows(before.sequence, _BATCH):
            for row in rows:
                what = _mistake(before, row, expected)
                if what:
                    number = min(row[0], before.sequence + 1)
                    return AuditVerification(count, before, number, what)
                before, count = Position(row[0], bytes(row[6])), count + 1
        if expected is not None and expected.sequence > before.sequence:
            return AuditVerification(count, before, before.sequence + 1, "is missing")
        return AuditVerification(count, before)

    def _rows(self, after: int, limit: int) -> list[Row]:
        return self._database.read(
            f"SELECT {_COLUMNS} FROM audit WHERE number > :after ORDER BY number LIMIT :limit",
            after=after,
            limit=limit,
        )


def revision(database: Database) -> int:
    """Return the number that every change of what is in force raises."""
    rows = database.read("SELECT number FROM revisions")
    return int(rows[0][0])


def record_change(
    audit: Audit,
    writer: Writer,
    person: str,
    action: str,
    subject: str,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add a row of the log and raise the revision, in the transaction that makes the change."""
    audit.add(writer, person, action, subject, detail)
    writer.execute("UPDATE revisions SET number = number + 1")


_OTHER = "is not the one that was written down"


def _as_row(row: Row) -> AuditRow:
    number, at, person, action, subject, detail, _ = row
    return AuditRow(number, at, person, action, subject, msgspec.json.decode(detail))


def _mistake(before: Position, row: Row, expected: Position | None) -> str:
    """What is wrong with the row after a position; empty if nothing is."""
    if row[0] != before.sequence + 1:
        return "is missing"
    if _chain(before.chain, row[:6]) != bytes(row[6]):
        return "does not fit its digest"
    if expected is not None and expected.sequence == row[0] and expected.chain != bytes(row[6]):
        return _OTHER
    return ""


def _last(reader: Database | Writer) -> Position:
    rows = reader.read("SELECT number, chain FROM audit ORDER BY number DESC LIMIT 1")
    return Position(rows[0][0], bytes(rows[0][1])) if rows else Position(0, START)


def _chain(before: bytes, row: Row) -> bytes:
    return blake2b(before + _encode(("audit", *row)), digest_size=SIZE).digest()

"""Changes that one person asks for and another approves: of rules, models and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import msgspec

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._approval import Approval
from rarefind.desk.control._audit import Audit
from rarefind.desk.control._errors import ControlConflict, NotThere
from rarefind.desk.database import ABOVE_ALL, Database, Row, Writer

__all__ = ["CHANGE_KINDS", "ChangeKind", "ChangeRequest", "ChangeRequests", "RequestState"]

RequestState = Literal["waiting", "approved", "rejected"]
#: What is changed: a rule that denies payments, the model that decides, a setting.
ChangeKind = Literal["rule", "model", "setting"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
_COLUMNS = "id, kind, subject, content, state, asked, asked_by, answered, answered_by"


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A change that somebody has asked for.

    Attributes
    ----------
    id : int
    kind : {"rule", "model", "setting"}
    subject : str
        The name of the rule or the setting, or the digest of the model.
    content : dict
        What it shall be.
    state : {"waiting", "approved", "rejected"}
    asked, answered : int or None
        When.
    asked_by, answered_by : str or None
        Who.
    """

    id: int
    kind: ChangeKind
    subject: str
    content: dict[str, Any]
    state: RequestState
    asked: int
    asked_by: str
    answered: int | None
    answered_by: str | None


#: Makes a change in the transaction that approves it.
Apply = Callable[[Writer, ChangeRequest], object]


class ChangeRequests:
    """What waits for a second person where the desk wants one; see ``alerts.second_person``.

    Parameters
    ----------
    database : Database
        That of the desk.
    second_person : callable
        Whether the desk wants one by now.
    audit : Audit
    clock : DeskClock
    """

    def __init__(
        self,
        database: Database,
        second_person: Callable[[Writer], bool],
        audit: Audit,
        clock: DeskClock,
    ) -> None:
        self._database, self._audit, self._second_person = database, audit, second_person
        self._approval = Approval(
            "change_requests",
            "change",
            waiting="waiting",
            approved="approved",
            second_person=second_person,
            clock=clock,
        )
        self._apply: dict[str, Apply] = {}

    def applied_by(self, kind: ChangeKind, apply: Apply) -> None:
        """Say what makes the changes of a kind."""
        self._apply[kind] = apply

    def get(self, request: int) -> ChangeRequest:
        """Return a request."""
        return _get(self._database, request)

    def waiting(self, kind: ChangeKind, subject: str | None = None) -> list[ChangeRequest]:
        """Return what waits, of a kind and perhaps of one subject, the oldest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM change_requests WHERE state = 'waiting' AND kind = :kind "
            f"{'' if subject is None else 'AND subject = :subject'} ORDER BY id",
            kind=kind,
            subject=subject,
        )
        return [_as_request(row) for row in rows]

    def in_state(
        self, state: RequestState, *, before: int = ABOVE_ALL, limit: int = 1_000
    ) -> list[ChangeRequest]:
        """Return requests in a state with a number below ``before``, the newest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM change_requests WHERE state = :state AND id < :before "
            "ORDER BY id DESC LIMIT :limit",
            state=state,
            before=before,
            limit=limit,
        )
        return [_as_request(row) for row in rows]

    def are_wanted(self, writer: Writer) -> bool:
        """Whether a change has to wait for a second person by now."""
        return self._second_person(writer)

    def ask(
        self,
        writer: Writer,
        kind: ChangeKind,
        subject: str,
        content: Mapping[str, Any],
        person: str,
    ) -> ChangeRequest:
        """Ask for a change; the same again is the one that waits, another one a conflict."""
        rows = writer.read(
            f"SELECT {_COLUMNS} FROM change_requests WHERE state = 'waiting' AND kind = :kind "
            "AND subject = :subject",
            kind=kind,
            subject=subject,
        )
        text = msgspec.json.encode(content, order="sorted").decode()
        if rows:
            known = _as_request(rows[0])
            if rows[0][3] == text:
                return known
            raise ControlConflict(
                f"Change {known.id} of {subject!r} by {known.asked_by} waits for a second person: "
                "approve or reject it first."
            )
        ((number,),) = writer.read(
            "INSERT INTO change_requests "
            "(kind, subject, content, state, asked, asked_by, answered, answered_by) VALUES "
            "(:kind, :subject, :content, :state, :asked, :asked_by, :answered, :answered_by) "
            "RETURNING id",
            kind=kind,
            subject=subject,
            content=text,
            **self._approval.ask(writer, person),
        )
        detail = {"kind": kind, "of": subject, "content": dict(content)}
        self._audit.add(writer, person, "ask for change", f"change {number}", detail)
        return _get(writer, number)

    def approve(self, request: int, person: str, kind: ChangeKind) -> ChangeRequest:
        """Make a change; who asked for it may not, as long as the desk wants a second person.

        Raises
        ------
        NotThere
            If there is no such request of that kind.
        ControlConflict
            If it was rejected, or does not fit what was changed meanwhile.
        """
        with self._database.write() as writer:
            known = _get(writer, request, kind)
            if self._approval.approve(writer, known, person):
                self._record(writer, person, "approve change", known)
                approved = _get(writer, request)
                self._apply[known.kind](writer, approved)
            return _get(writer, request)

    def reject(self, request: int, person: str, kind: ChangeKind) -> ChangeRequest:
        """Answer that a change is not to be made; who asked may take it back so."""
        with self._database.write() as writer:
            known = _get(writer, request, kind)
            if self._approval.reject(writer, known, person):
                self._record(writer, person, "reject change", known)
            return _get(writer, request)

    def _record(self, writer: Writer, person: str, action: str, known: ChangeRequest) -> None:
        detail = {"kind": known.kind, "of": known.subject}
        self._audit.add(writer, person, action, f"change {known.id}", detail)


def _get(reader: Database | Writer, request: int, kind: ChangeKind | None = None) -> ChangeRequest:
    rows = reader.read(f"SELECT {_COLUMNS} FROM change_requests WHERE id = :id", id=request)
    if not rows or (kind is not None and rows[0][1] != kind):
        raise NotThere(
            f"There is no change {request} {'' if kind is None else f'of a {kind} '}to approve."
        )
    return _as_request(rows[0])


def _as_request(row: Row) -> ChangeRequest:
    id, kind, subject, content, *rest = row
    return ChangeRequest(id, kind, subject, msgspec.json.decode(content), *rest)

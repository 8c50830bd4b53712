"""A case: an entity with alerts that one person checks at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rarefind.desk.database import Row

__all__ = [
    "VERDICTS",
    "Alert",
    "Case",
    "CaseError",
    "NoSuchCase",
    "State",
    "StoredVerdict",
    "Verdict",
]

State = Literal["open", "taken", "snoozed", "decided", "expired"]
Verdict = Literal["fraud", "genuine", "unclear"]
#: What a person can find.
VERDICTS: tuple[Verdict, ...] = ("fraud", "genuine", "unclear")


class StoredVerdict(NamedTuple):
    """What a person found of a case, and when."""

    id: int
    verdict: Verdict
    person: str
    at: int
    note: str


class CaseError(ValueError):
    """What was asked of a case cannot be done now; the sentence says why."""


class NoSuchCase(CaseError):  # noqa: N818
    """There is no case of that number."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case as it is now.

    Attributes
    ----------
    id : int
    entity : str
        Who is checked: a card.
    state : {"open", "taken", "snoozed", "decided", "expired"}
    opened : int
        When its first alert arrived.
    priority : float
        That of its best alert.
    kind : {"risk", "random"}
        ``risk`` as soon as one of its alerts is; ``random`` where only the random share chose it.
    propensity : float
        The probability with which the random share could have chosen it.
    holder : str or None
        Who has taken it.
    until : int or None
        When the lease or the snooze ends.
    verdict : str or None
    """

    id: int
    entity: str
    state: State
    opened: int
    priority: float
    kind: str
    propensity: float
    holder: str | None
    until: int | None
    closed: int | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Alert:
    """A transaction of a case that was proposed for checking."""

    sequence: int
    case: int
    transaction: str
    time: int
    arrived: int
    amount: int
    score: float | None
    priority: float
    kind: str
    propensity: float
    rules: tuple[str, ...]
    probability: float | None
    reason: str | None
    #: The parts of the reason, as :mod:`rarefind.desk.explained` writes them.
    because: str | None = None


CASE_COLUMNS = (
    "id, entity, state, opened, priority, kind, propensity, holder, held_until, snoozed_until, "
    "closed, verdict"
)
ALERT_COLUMNS = (
    "sequence, case_id, transaction_id, time, arrived, amount, score, priority, kind, propensity, "
    "rules, probability, reason, because"
)


def as_case(row: Row, now: int) -> Case:
    """Read a row of :data:`CASE_COLUMNS`; a lease or a snooze that is over is over at once."""
    case, entity, state, opened, priority, kind, propensity, *held = row
    holder, held_until, snoozed_until, closed, verdict = held
    until = held_until if state == "taken" else snoozed_until if state == "snoozed" else None
    if until is not None and until <= now:
        state, holder, until = "open", None, None
    return Case(
        id=case,
        entity=entity,
        state=state,
        opened=opened,
        priority=priority,
        kind=kind,
        propensity=propensity,
        holder=holder,
        until=until,
        closed=closed,
        verdict=verdict,
    )


def as_alert(row: Row) -> Alert:
    """Read a row of :data:`ALERT_COLUMNS`."""
    rules = tuple(row[10].split("\n")) if row[10] else ()
    return Alert(*row[:10], rules, *row[11:])  # type: ignore[call-arg]

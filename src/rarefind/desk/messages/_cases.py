"""Cases and the queue of them."""

from __future__ import annotations

from typing import Literal

from rarefind.desk.messages._base import Instant, Note, ReadMessage, SentMessage
from rarefind.desk.messages._transactions import DecidedTransaction, TransactionSummary

__all__ = [
    "AlertSummary",
    "CaseFile",
    "CasePage",
    "CaseSummary",
    "ExpectedHits",
    "GivenVerdict",
    "NewVerdict",
    "NextCase",
    "QueueToday",
    "Snooze",
    "VerdictPage",
    "WrittenNote",
]

CaseState = Literal["open", "taken", "snoozed", "decided", "expired"]
Finding = Literal["fraud", "genuine", "unclear"]


class CaseSummary(ReadMessage, frozen=True, kw_only=True):
    """A case as it is now: who is checked, why, and who has it until when."""

    id: int
    entity: str
    key: str
    state: CaseState
    opened: Instant
    priority: float
    kind: Literal["risk", "random"]
    propensity: float
    holder: str | None
    until: Instant | None
    closed: Instant | None
    verdict: Finding | None


class CasePage(ReadMessage, frozen=True, kw_only=True):
    """Some cases, the newest first; ``next`` is the ``before`` of the next page, or null."""

    cases: list[CaseSummary]
    next: int | None


class ExpectedHits(ReadMessage, frozen=True, kw_only=True):
    """How many of the cases are fraud by the model: the expected number, and a 95 % interval.

    ``known`` cases have a probability; the others are not counted.
    """

    hits: float
    low: int
    high: int
    known: int


class QueueToday(ReadMessage, frozen=True, kw_only=True):
    """What there is to check in this period, such as today.

    ``done`` of the ``budget`` are decided, and ``hits`` of these were fraud. ``cases`` are those to
    check now, the highest priority first; ``amount`` is what is at stake in them, and ``waiting``
    more are beyond the budget.
    """

    begins: Instant
    ends: Instant
    budget: int
    done: int
    hits: int
    expected: ExpectedHits
    amount: float
    waiting: int
    cases: list[CaseSummary]


class NextCase(ReadMessage, frozen=True, kw_only=True):
    """The case that was taken; null where today's queue has none left."""

    case: CaseSummary | None


class AlertSummary(ReadMessage, frozen=True, kw_only=True):
    """A transaction of a case that was proposed for checking.

    ``transaction`` is null where the ledger does not keep it any more; ``probability`` and
    ``reason`` are null until they are computed.
    """

    id: str
    priority: float
    kind: Literal["risk", "random"]
    probability: float | None
    reason: str | None
    transaction: DecidedTransaction | None


class GivenVerdict(ReadMessage, frozen=True, kw_only=True):
    """What somebody has found."""

    id: int
    verdict: Finding
    person: str
    at: Instant
    note: str


class VerdictPage(ReadMessage, frozen=True, kw_only=True):
    """Some of what was found, the first first; ``next`` is the ``after`` of the next page."""

    verdicts: list[GivenVerdict]
    next: int | None


class WrittenNote(ReadMessage, frozen=True, kw_only=True):
    """What somebody has written about a case."""

    person: str
    at: Instant
    note: str


class CaseFile(ReadMessage, frozen=True, kw_only=True):
    """A case with all that helps to decide it.

    ``alerts`` are its last ones, the newest first, and ``alert_count`` how many there are in all;
    ``verdicts`` are the last ones, in their order, and ``verdict_count`` likewise;
    ``transactions`` are the entity's last, alerts or not.
    """

    case: CaseSummary
    alert_count: int
    alerts: list[AlertSummary]
    verdict_count: int
    verdicts: list[GivenVerdict]
    transactions: list[TransactionSummary]


class NewVerdict(SentMessage, frozen=True, kw_only=True):
    """What a person has found."""

    verdict: Finding
    note: Note = ""


class Snooze(SentMessage, frozen=True, kw_only=True):
    """Until when a case is put aside."""

    until: Instant

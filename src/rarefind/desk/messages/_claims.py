"""What customers say."""

from __future__ import annotations

from typing import Literal

from rarefind.desk.messages._base import Instant, Note, ReadMessage, SentMessage, TransactionId

__all__ = ["ClaimPage", "ClaimSummary", "NewClaim"]


class NewClaim(SentMessage, frozen=True, kw_only=True):
    """A customer says that a transaction was not theirs."""

    transaction: TransactionId
    note: Note = ""


class ClaimSummary(ReadMessage, frozen=True, kw_only=True):
    """A claim, and who has answered it."""

    id: int
    transaction: str
    at: Instant
    note: str
    state: Literal["new", "confirmed", "rejected"]
    person: str | None
    answered: Instant | None


class ClaimPage(ReadMessage, frozen=True, kw_only=True):
    """Some claims, the oldest first; ``next`` is the ``after`` of the next page, or null."""

    claims: list[ClaimSummary]
    next: int | None

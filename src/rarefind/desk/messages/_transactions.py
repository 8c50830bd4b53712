"""Transactions as they are shown: what was sent, what was known, and what was decided."""

from __future__ import annotations

from typing import Any, Literal

from rarefind.desk.messages._base import Instant, ReadMessage

__all__ = [
    "DecidedTransaction",
    "GivenLabel",
    "TransactionPage",
    "TransactionSummary",
]


class TransactionSummary(ReadMessage, frozen=True, kw_only=True):
    """A transaction, and what was decided.

    ``transaction`` is what was sent, and ``entities`` are its card, its terminal; both are empty
    where they were erased.
    """

    sequence: int
    id: str
    time: Instant
    arrived: Instant
    amount: float
    entities: dict[str, str]
    transaction: dict[str, Any]
    decision: Literal["accept", "deny"]
    by: str
    rules: list[str]
    score: float | None
    alert: Literal["", "risk", "random"]


class GivenLabel(ReadMessage, frozen=True, kw_only=True):
    """What a transaction was found to be, and from when on decisions knew it.

    ``fraud`` is null where an earlier label was taken back.
    """

    fraud: bool | None
    source: str
    arrived: Instant


class DecidedTransaction(TransactionSummary, frozen=True, kw_only=True):
    """A transaction with all that its decision was made from.

    ``features`` are frozen: what they were when it was decided; a missing one is null.
    """

    priority: float
    propensity: float
    rule_book: str
    model: str
    features: dict[str, float | None]
    labels: list[GivenLabel]


class TransactionPage(ReadMessage, frozen=True, kw_only=True):
    """The last transactions of an entity, the newest first.

    ``next`` is the ``before`` of the next page; null where there are no more.
    """

    entity: str
    key: str
    transactions: list[TransactionSummary]
    next: int | None

"""Models, blocks, orders, webhooks, and the log of all that people have changed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from rarefind.desk.messages._base import Instant, Note, ReadMessage, SentMessage

__all__ = [
    "AuditEntry",
    "AuditPage",
    "BlockPage",
    "BlockSummary",
    "LiftedBlock",
    "MadeWebhook",
    "ModelSummary",
    "NewBlock",
    "NewWebhook",
    "OrderPage",
    "OrderSummary",
    "Promotion",
    "WebhookSummary",
]


class ModelSummary(ReadMessage, frozen=True, kw_only=True):
    """A model of the desk; from ``threshold`` on, its probability is an alert.

    ``waiting`` is the number of a change that waits for a second person.
    """

    digest: str
    name: str
    estimator: str
    columns: list[str]
    own_threshold: float
    threshold: float
    state: Literal["challenger", "champion", "retired"]
    added: Instant
    added_by: str
    changed: Instant
    changed_by: str
    waiting: int | None = None


class Promotion(SentMessage, frozen=True, kw_only=True):
    """From which probability on a transaction is an alert; by default as the model has it."""

    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


class NewBlock(SentMessage, frozen=True, kw_only=True):
    """Which card, or whatever the desk checks, is to be blocked, and why."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000, pattern="^[^\\x00]*$")]
    note: Note = ""


class LiftedBlock(SentMessage, frozen=True, kw_only=True):
    """Why a block is lifted."""

    note: Note = ""


class BlockSummary(ReadMessage, frozen=True, kw_only=True):
    """A block, from the wish for it to its end."""

    id: int
    entity: str
    key: str
    state: Literal["waiting", "in force", "rejected", "lifted"]
    note: str
    asked: Instant
    asked_by: str
    answered: Instant | None
    answered_by: str | None
    lifted: Instant | None
    lifted_by: str | None
    lift_note: str


class BlockPage(ReadMessage, frozen=True, kw_only=True):
    """Some blocks, the newest first; ``next`` is the ``before`` of the next page, or null."""

    blocks: list[BlockSummary]
    next: int | None


class OrderSummary(ReadMessage, frozen=True, kw_only=True):
    """An order to erase; ``key`` is empty once it is done."""

    id: int
    kind: str
    entity: str
    key: str
    state: Literal["asked", "approved", "rejected", "done", "failed"]
    asked: Instant
    asked_by: str
    answered: Instant | None
    answered_by: str | None
    ended: Instant | None
    result: dict[str, Any] | None


class OrderPage(ReadMessage, frozen=True, kw_only=True):
    """Some orders, the newest first; ``next`` is the ``before`` of the next page, or null."""

    orders: list[OrderSummary]
    next: int | None


class AuditEntry(ReadMessage, frozen=True, kw_only=True):
    """Who did what, to what, and when."""

    number: int
    at: Instant
    person: str
    action: str
    subject: str
    detail: dict[str, Any]


class AuditPage(ReadMessage, frozen=True, kw_only=True):
    """Some rows of the log, the oldest first.

    ``next`` is the ``after`` of the next page, or null; ``last`` is the last row there is with its
    chain: write it down elsewhere, and a log that was cut off does not have it.
    """

    rows: list[AuditEntry]
    next: int | None
    last: str


class NewWebhook(SentMessage, frozen=True, kw_only=True):
    """An address to send messages to, and the events to send."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
    events: Annotated[list[str], msgspec.Meta(min_length=1, max_length=20)]


class WebhookSummary(ReadMessage, frozen=True, kw_only=True):
    """An address that messages are sent to.

    ``failures`` counts messages that failed since the last one that came; ``waiting`` are yet to be
    sent, and ``dead`` were given up.
    """

    id: int
    url: str
    events: list[str]
    made_by: str
    made: Instant
    failures: int
    waiting: int
    dead: int


class MadeWebhook(ReadMessage, frozen=True, kw_only=True):
    """A new webhook with the secret that signs its messages: it is shown this once."""

    webhook: WebhookSummary
    secret: str

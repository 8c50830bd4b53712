"""What passes from room to room: a transaction, what was decided, and what is stored of both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

#: A value of a transaction or a feature, as rules and models see it; None is missing.
Value = str | float | bool | datetime | None
#: Why a transaction is proposed for checking: its score or a rule, or the random share.
AlertKind = Literal["", "risk", "random"]
#: Why a request or a transaction was refused: it cannot be read, does not fit the schema, is too
#: large, has the identifier of another transaction, or comes too long after its time or before it.
RefusalKind = Literal["malformed", "invalid", "large", "conflict", "late", "ahead"]


class Transaction(NamedTuple):
    """A transaction that was read and found right.

    Attributes
    ----------
    id : str
        The sender's own; the same one twice is the same transaction.
    time : int
        When it was made, by its sender: nanoseconds since 1970 in UTC.
    amount : int
        In minor units, such as cents.
    entities : tuple of str
        Who pays and is paid, in the order of ``Schema.entities``.
    values : dict
        All columns by name, for rules and models. A time is by the clock of the desk's time zone.
    accepted : bool
        What the terminal's own check said.
    body : bytes
        The transaction as it is stored: JSON with its columns in the order of the schema.
    """

    id: str
    time: int
    amount: int
    entities: tuple[str, ...]
    values: dict[str, Value]
    accepted: bool
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided about a transaction, and by what.

    Attributes
    ----------
    decision : {"accept", "deny"}
    by : str
        ``terminal``, ``blocked`` or the name of the blocking rule; empty if it was accepted.
    rules : tuple of str
        Names of all rules that fired: blocking, scoring and in shadow.
    score : float or None
        The model's calibrated probability of fraud; None without a model.
    priority : float
        What orders the queue: the score, plus the weights of the scoring rules that fired.
    alert : {"", "risk", "random"}
    propensity : float
        The probability with which the transaction could have been drawn at random.
    rule_book, model : str
        Digests of the rules and of the model that decided; empty for none.
    """

    decision: Literal["accept", "deny"]
    by: str
    rules: tuple[str, ...]
    score: float | None
    priority: float
    alert: AlertKind
    propensity: float
    rule_book: str
    model: str


class Answer(msgspec.Struct, frozen=True):
    """What the sender of a transaction is told; see :class:`Outcome`."""

    id: str
    decision: Literal["accept", "deny"]
    by: str
    score: float | None
    alert: AlertKind


class Refusal(msgspec.Struct, frozen=True):
    """Why nothing was decided and nothing stored: one sentence, and the place it speaks of.

    ``where`` is a column, or ``transactions[3].amount`` in a batch; empty for the whole request.
    """

    kind: RefusalKind
    detail: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the ledger: a transaction, what was known of it then, and what was decided.

    ``sequence`` counts arrivals from 1, without gaps; ``arrived`` is the time on this machine's
    clock; ``features`` are float64 in the order of the schema's features, little-endian.
    """

    sequence: int
    id: str
    time: int
    arrived: int
    amount: int
    entities: tuple[str, ...]
    body: bytes
    features: bytes
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """A label in the ledger's own order: which decisions knew it can be told from its sequence.

    ``fraud`` is None where an earlier label was taken back. ``source`` is ``verdict``, ``claim`` or
    ``correction``; a later label of the same transaction replaces an earlier one from its own
    sequence on.
    """

    sequence: int
    id: str
    arrived: int
    fraud: bool | None
    source: str


class Problem(msgspec.Struct, frozen=True):
    """Why a request, or a transaction of a batch, was not accepted; nothing of it was stored.

    ``type`` is for programs, such as ``conflict`` or ``too-large``; ``title`` and ``detail`` are
    for people; ``where`` is the part of the request that is wrong.
    """

    type: str
    title: str
    detail: str
    where: str = ""

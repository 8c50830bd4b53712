"""Rules and the lists that they ask."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from rarefind.desk.messages._base import Instant, Note, ReadMessage, SentMessage
from rarefind.desk.names import LONGEST_NAME

__all__ = [
    "ListNames",
    "ListSummary",
    "ListValues",
    "NewRole",
    "NewRule",
    "RuleHistory",
    "RuleSummary",
    "RuleTrial",
    "TriedCase",
    "TriedRule",
]

RuleRoleName = Literal["off", "shadow", "scoring", "blocking"]
#: Values of names in a rule that are not columns.
Constant = bool | float | str


class RuleSummary(ReadMessage, frozen=True, kw_only=True):
    """A version of a rule: its text, what it does, and who has saved it why.

    ``waiting`` is the number of a change that waits for a second person.
    """

    name: str
    version: int
    text: str
    role: RuleRoleName
    weight: float | None
    constants: dict[str, Constant]
    lists: list[str]
    note: str
    person: str
    at: Instant
    limits: dict[str, float] = msgspec.field(default_factory=dict)
    sunset: str | None = None
    waiting: int | None = None


class RuleHistory(ReadMessage, frozen=True, kw_only=True):
    """Some versions of a rule, the first first; ``next`` is the ``after`` of the next page."""

    versions: list[RuleSummary]
    next: int | None


class NewRule(SentMessage, frozen=True, kw_only=True):
    """A rule to save.

    Without a ``role`` it has the one it had, and a new rule is only watched. ``based_on`` is the
    version that was changed, 0 for a new rule: where there is a newer one, nothing is saved.
    ``limits`` retire it when it is measured, and from the day ``sunset`` on it is off; without them
    both are as before.
    """

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
    role: RuleRoleName | None = None
    weight: float | None = None
    constants: Annotated[dict[str, Constant], msgspec.Meta(max_length=100)] = msgspec.field(
        default_factory=dict
    )
    note: Note = ""
    based_on: Annotated[int, msgspec.Meta(ge=0, le=2**31)] | None = None
    limits: Annotated[dict[str, float], msgspec.Meta(max_length=4)] | None = None
    sunset: Annotated[str, msgspec.Meta(max_length=10)] | None = None


class NewRole(SentMessage, frozen=True, kw_only=True):
    """What a rule shall do from now on: be off, be watched, raise alerts, deny."""

    role: RuleRoleName
    note: Note = ""


class ListNames(ReadMessage, frozen=True, kw_only=True):
    """The names of some lists; ``next`` is the ``after`` of the next page, or null."""

    names: list[str]
    next: str | None


class TriedRule(SentMessage, frozen=True, kw_only=True):
    """A rule to try on the last weeks; nothing is saved.

    ``name`` is that of the rule which it would replace, and which does not count among the others.
    """

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
    name: Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)] = ""
    constants: Annotated[dict[str, Constant], msgspec.Meta(max_length=100)] = msgspec.field(
        default_factory=dict
    )


class TriedCase(ReadMessage, frozen=True, kw_only=True):
    """A case that a rule would raise; ``fraud`` is null where it is not known by now."""

    id: str
    time: Instant
    entity: str
    amount: float
    score: float | None
    fraud: bool | None
    is_new: bool


class RuleTrial(ReadMessage, frozen=True, kw_only=True):
    """What a rule would have done on the last weeks, by ripe labels.

    ``added`` are the hits that no other rule and no model has found; ``not_ripe`` and ``denied``
    are alerts that count neither as hits nor as false alerts: their labels are not ripe, or they
    were denied and nobody has spoken about them. ``missing`` rows of the ledger are not at hand.
    """

    rows: int
    missing: int
    days: int
    alerts: int
    hits: int
    false_alerts: int
    added: int
    not_ripe: int
    denied: int
    amount: float
    amount_added: float
    alerts_a_day: float | None
    precision: float | None
    detection_rate: float | None
    false_alert_rate: float | None
    cases: list[TriedCase]


class ListSummary(ReadMessage, frozen=True, kw_only=True):
    """A named list, who has changed it last, and some of its values in order.

    ``count`` is how many there are in all; ``next`` is the ``after`` of the next page, or null.
    """

    name: str
    person: str
    changed: Instant
    count: int
    values: list[str]
    next: str | None


class ListValues(SentMessage, frozen=True, kw_only=True):
    """Values of a list: all of them, or those to add or to remove."""

    values: Annotated[
        list[Annotated[str, msgspec.Meta(min_length=1, max_length=256)]],
        msgspec.Meta(max_length=100_000),
    ]

"""Who may do what: the one place that decides it."""

from __future__ import annotations

from typing import Final, Literal, get_args

Role = Literal["ingest", "investigator", "expert", "scientist", "admin", "auditor"]
Action = Literal["send", "read", "check", "confirm", "export", "rule", "model", "manage", "audit"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
#: What a role is for, as the command line and the docs say it.
DESCRIPTIONS: Final[dict[Role, str]] = {
    "ingest": "sends transactions, and does nothing else",
    "investigator": "works the queue: takes cases, gives verdicts, records claims",
    "expert": "writes rules and lists, confirms claims, approves blocks; works the queue as well",
    "scientist": "brings models and promotes them; sees everything but changes no case",
    "admin": "does everything: tokens, webhooks, erasure",
    "auditor": "sees everything and changes nothing",
}
_ALLOWED: Final[dict[Action, frozenset[Role]]] = {
    "send": frozenset({"ingest", "admin"}),
    "read": frozenset({"investigator", "expert", "scientist", "admin", "auditor"}),
    "check": frozenset({"investigator", "expert", "admin"}),
    "confirm": frozenset({"expert", "admin"}),
    "export": frozenset({"expert", "admin", "auditor"}),
    "rule": frozenset({"expert", "admin"}),
    "model": frozenset({"scientist", "admin"}),
    "audit": frozenset({"auditor", "admin"}),
    "manage": frozenset({"admin"}),
}


def is_allowed(role: Role, action: Action) -> bool:
    """Whether a role may do something."""
    return role in _ALLOWED[action]


def roles_for(action: Action) -> list[Role]:
    """The roles that may do something."""
    return [role for role in ROLES if role in _ALLOWED[action]]

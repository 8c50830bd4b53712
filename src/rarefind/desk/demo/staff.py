"""Who works at the demo's desk, and the links by which its visitor becomes one of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from rarefind.desk.people import People

__all__ = ["ADMIN", "EXPERT", "INVESTIGATORS", "SCIENTIST", "SignInLink", "invite_staff", "links"]

ADMIN, EXPERT, SCIENTIST, AUDITOR = "ada", "emil", "sara", "otto"
INVESTIGATORS: Final = ("ines", "ivan")
_STAFF: Final = {
    ADMIN: "admin",
    INVESTIGATORS[0]: "investigator",
    INVESTIGATORS[1]: "investigator",
    EXPERT: "expert",
    SCIENTIST: "scientist",
    AUDITOR: "auditor",
}


class SignInLink(NamedTuple):
    """A link that works once: whose it is, and its token."""

    role: str
    name: str
    token: str


def invite_staff(people: People) -> None:
    """Add all who work at the desk; nobody has a password."""
    for name, role in _STAFF.items():
        people.invite(name, role, ADMIN)


def links(people: People) -> list[SignInLink]:
    """Make a link for one person of each role, the admin first."""
    first = {role: name for name, role in reversed(_STAFF.items())}
    return [
        SignInLink(role, name, people.reset(name, ADMIN))
        for name, role in _STAFF.items()
        if first[role] == name
    ]

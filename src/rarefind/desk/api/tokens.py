"""Tokens: shown once, stored as digests, each with a role."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.roles import ROLES, Action, Role, is_allowed, roles_for
from rarefind.desk.control import Audit
from rarefind.desk.database import ABOVE_ALL, Database, DatabaseConflict, migrate
from rarefind.desk.names import LONGEST_NAME, is_name

_STEPS = (
    """
    CREATE TABLE tokens (
        digest TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL,
        made INTEGER NOT NULL,
        revoked INTEGER
    )
    """,
)
# A token of a desk is seen as one where it should not be, such as in a repository.
_MARK = "rarefind_"
#: Who makes a token on the machine of the desk itself.
COMMAND_LINE = "command line"


class Token(NamedTuple):
    """Who sends a request, by the name that the token was given, and as what."""

    name: str
    role: Role


class TokenRow(NamedTuple):
    """A token as it is listed; ``made`` and ``revoked`` are nanoseconds since 1970."""

    name: str
    role: Role
    made: int
    revoked: int | None


class Tokens:
    """The tokens of a desk.

    Parameters
    ----------
    database : Database
        The desk's own, not the ledger.
    audit : Audit, optional
        Where it is written who has made and revoked tokens.
    """

    def __init__(self, database: Database, audit: Audit | None = None) -> None:
        migrate(database, "tokens", _STEPS)
        self._database, self._audit = database, audit
        self._known: dict[bytes, Token] = {}
        self.reload()

    def reload(self) -> None:
        """Read the tokens again: others make and revoke them."""
        rows = self._database.read("SELECT digest, name, role FROM tokens WHERE revoked IS NULL")
        self._known = {bytes.fromhex(digest): Token(name, role) for digest, name, role in rows}

    def make(self, name: str, role: Role, now: int, by: str = COMMAND_LINE) -> str:
        """Make a token; it is returned once, and cannot be read again."""
        if not is_name(name):
            raise ValueError(
                f"{name!r} is not a name for a token: give 1 to {LONGEST_NAME} characters that can "
                "be seen, without spaces around them."
            )
        if role not in ROLES:
            raise ValueError(f"{role!r} is not a role; the roles are {', '.join(ROLES)}.")
        token = f"{_MARK}{role}_{secrets.token_urlsafe(32)}"
        try:
            with self._database.write() as transaction:
                transaction.execute(
                    "INSERT INTO tokens VALUES (:digest, :name, :role, :made, NULL)",
                    digest=_digest(token.encode()).hex(),
                    name=name,
                    role=role,
                    made=now,
                )
                if self._audit is not None:
                    self._audit.add(transaction, by, "make token", name, {"role": role})
        except DatabaseConflict:
            raise ValueError(
                f"There is a token {name!r} already, or was one: choose another name."
            ) from None
        self.reload()
        return token

    def revoke(self, name: str, now: int, by: str = COMMAND_LINE) -> None:
        """End a token: within a second no process of the desk takes it."""
        with self._database.write() as transaction:
            changed = transaction.execute(
                "UPDATE tokens SET revoked = :now WHERE name = :name AND revoked IS NULL",
                name=name,
                now=now,
            )
            if changed and self._audit is not None:
                self._audit.add(transaction, by, "revoke token", name)
        if not changed:
            raise ValueError(f"There is no token {name!r} to revoke.")
        self.reload()

    def rows(self, *, after: str = "", limit: int = ABOVE_ALL) -> list[TokenRow]:
        """All tokens, or those after a name, by their names, also those that were revoked."""
        found = self._database.read(
            "SELECT name, role, made, revoked FROM tokens WHERE name > :after "
            "ORDER BY name LIMIT :limit",
            after=after,
            limit=limit,
        )
        return [TokenRow(*row) for row in found]

    def find(self, name: str) -> TokenRow | None:
        """The token of a name, also one that was revoked; None where there was never one."""
        found = self._database.read(
            "SELECT name, role, made, revoked FROM tokens WHERE name = :name", name=name
        )
        return TokenRow(*found[0]) if found else None

    def check(self, authorization: bytes | None, action: Action) -> Token:
        """Who sends a request with this header; a problem if it may not do what it asks."""
        if authorization is None:
            raise ProblemError(
                "unknown-token",
                "Send a token as 'Authorization: Bearer …'; `rarefind desk token` makes one.",
                "authorization",
            )
        kind, _, token = authorization.partition(b" ")
        found = self._known.get(_digest(token.strip())) if kind.lower() == b"bearer" else None
        if found is None:
            raise ProblemError(
                "unknown-token",
                "This token is not known, or was revoked; `rarefind desk token` makes one.",
                "authorization",
            )
        if not is_allowed(found.role, action):
            raise ProblemError(
                "not-allowed",
                f"A token of role {found.role} may not do this; it takes "
                f"{' or '.join(roles_for(action))}.",
                "authorization",
            )
        return found


def _digest(token: bytes) -> bytes:
    # A token is 256 random bits: nothing that a slow hash would protect.
    return hashlib.sha256(token).digest()

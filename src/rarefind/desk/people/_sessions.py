"""Sessions: a browser in which somebody has signed in, known by the digest of a token."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from rarefind.data.clock import nanoseconds
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Audit
from rarefind.desk.database import Database, Writer
from rarefind.desk.people._users import User, user_of

__all__ = ["Session", "Sessions", "digest_of_token"]

#: A session ends so long after its last use, and so long after it was begun.
IDLE: Final = nanoseconds("idle", "12h")
LONGEST: Final = nanoseconds("longest", "7D")
#: Its last use is written down at most so often.
_NOTED: Final = nanoseconds("noted", "1min")
_BROWSER = 200
_IN_FORCE = "seen > :idle AND sessions.made > :longest"


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which somebody has signed in; times are nanoseconds since 1970."""

    id: str
    made: int
    seen: int
    address: str
    browser: str


class Sessions:
    """The sessions of all users.

    Parameters
    ----------
    database : Database
    audit : Audit
    clock : DeskClock
    """

    def __init__(self, database: Database, audit: Audit, clock: DeskClock) -> None:
        self._database, self._audit, self._clock = database, audit, clock

    def begin(self, writer: Writer, user: User, address: str, browser: str) -> str:
        """Begin a session, and return its token, which is not stored."""
        now, token = self._clock.now(), secrets.token_urlsafe(32)
        writer.execute(
            "DELETE FROM sessions WHERE seen <= :idle OR made <= :longest", **self._oldest()
        )
        writer.execute(
            "INSERT INTO sessions (digest, id, user_id, made, seen, address, browser) "
            "VALUES (:digest, :id, :user, :now, :now, :address, :browser)",
            digest=digest_of_token(token),
            id=secrets.token_hex(8),
            user=user.id,
            now=now,
            address=address,
            browser=browser[:_BROWSER],
        )
        self._audit.add(writer, user.name, "sign in", user.name)
        return token

    def find(self, token: str) -> tuple[User, Session] | None:
        """Return whose session a token is; None if there is none, or not any more."""
        digest, now = digest_of_token(token), self._clock.now()
        rows = self._database.read(
            "SELECT users.id, name, role, password, language, theme, users.made, made_by, "
            "disabled, sessions.id, sessions.made, seen, address, browser "
            "FROM sessions JOIN users ON users.id = user_id "
            f"WHERE digest = :digest AND disabled IS NULL AND {_IN_FORCE}",
            digest=digest,
            **self._oldest(),
        )
        if not rows:
            return None
        (row,) = rows
        session = Session(*row[9:])
        if now - session.seen > _NOTED:
            with self._database.write() as writer:
                writer.execute(
                    "UPDATE sessions SET seen = :now WHERE digest = :digest", now=now, digest=digest
                )
        return user_of(row[:9]), session

    def of(self, user: User) -> list[Session]:
        """Return the sessions of a user, the one used last first."""
        rows = self._database.read(
            "SELECT id, made, seen, address, browser FROM sessions "
            f"WHERE user_id = :user AND {_IN_FORCE} ORDER BY seen DESC, id",
            user=user.id,
            **self._oldest(),
        )
        return [Session(*row) for row in rows]

    def end(self, user: User, session: str) -> None:
        """Sign out in one browser."""
        with self._database.write() as writer:
            if writer.execute(
                "DELETE FROM sessions WHERE user_id = :user AND id = :id", user=user.id, id=session
            ):
                self._audit.add(writer, user.name, "sign out", user.name)

    def end_all(self, user: User) -> None:
        """Sign out everywhere."""
        with self._database.write() as writer:
            writer.execute("DELETE FROM sessions WHERE user_id = :user", user=user.id)
            self._audit.add(writer, user.name, "sign out everywhere", user.name)

    def _oldest(self) -> dict[str, int]:
        now = self._clock.now()
        return {"idle": now - IDLE, "longest": now - LONGEST}


def digest_of_token(token: str) -> str:
    """What is stored of a token: it is 256 random bits, which a slow hash would not protect."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

"""One-time links: by which somebody sets the first password, or another one."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from rarefind.data.clock import nanoseconds
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, Writer
from rarefind.desk.people._errors import PeopleError
from rarefind.desk.people._sessions import digest_of_token
from rarefind.desk.people._users import User, user_by_id

__all__ = ["Link", "Links"]

#: For so long a link can be followed.
LIFE: Final = nanoseconds("life", "3D")


@dataclass(frozen=True, slots=True)
class Link:
    """What a link is for: a user's password, or (None) the first administrator of a desk."""

    user: User | None
    expires: int


class Links:
    """The links that can be followed; a new one for the same user ends the others.

    Parameters
    ----------
    database : Database
    clock : DeskClock
    """

    def __init__(self, database: Database, clock: DeskClock) -> None:
        self._database, self._clock = database, clock

    def make(self, writer: Writer, user: User | None, by: str) -> str:
        """Make a link, and return its token, which is not stored."""
        now, token = self._clock.now(), secrets.token_urlsafe(32)
        forget_links(writer, user)
        writer.execute(
            "INSERT INTO links (digest, user_id, made, made_by, expires) "
            "VALUES (:digest, :user, :now, :by, :expires)",
            digest=digest_of_token(token),
            user=None if user is None else user.id,
            now=now,
            by=by,
            expires=now + LIFE,
        )
        return token

    def find(self, token: str) -> Link:
        """Return what a link is for."""
        return self._find(self._database, token)

    def use(self, writer: Writer, token: str) -> Link:
        """Return what a link is for, and end it and all others for the same."""
        found = self._find(writer, token)
        forget_links(writer, found.user)
        return found

    def _find(self, reader: Database | Writer, token: str) -> Link:
        rows = reader.read(
            "SELECT user_id, expires FROM links WHERE digest = :digest AND expires > :now",
            digest=digest_of_token(token),
            now=self._clock.now(),
        )
        if not rows:
            raise PeopleError("link")
        ((id, expires),) = rows
        return Link(None if id is None else user_by_id(reader, id), expires)


def forget_links(writer: Writer, user: User | None) -> None:
    """End all links for a user, or for the first administrator."""
    if user is None:
        writer.execute("DELETE FROM links WHERE user_id IS NULL")
    else:
        writer.execute("DELETE FROM links WHERE user_id = :id", id=user.id)

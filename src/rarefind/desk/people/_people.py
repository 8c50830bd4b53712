"""All that concerns the people of a desk, from one place."""

from __future__ import annotations

from typing import Self

from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Audit
from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.folder import DeskFolder
from rarefind.desk.people._attempts import Attempts
from rarefind.desk.people._errors import PeopleError
from rarefind.desk.people._links import Links, forget_links
from rarefind.desk.people._passwords import Passwords, check_password
from rarefind.desk.people._sessions import Session, Sessions
from rarefind.desk.people._tables import STEPS
from rarefind.desk.people._users import User, Users

__all__ = ["COMMAND_LINE", "People"]

#: Who acts on the machine of the desk itself.
COMMAND_LINE = "command line"
#: Who fails to sign in by a name that no user has.
NOBODY = "nobody known"


class People:
    """Who works at a desk: every change is stored with a row of the audit log, or not at all.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    audit : Audit
    clock : DeskClock, optional
    passwords : Passwords, optional

    Attributes
    ----------
    users : Users
    sessions : Sessions
    links : Links
    """

    def __init__(
        self,
        database: Database,
        audit: Audit,
        clock: DeskClock | None = None,
        passwords: Passwords | None = None,
    ) -> None:
        migrate(database, "people", STEPS)
        clock = clock or DeskClock()
        self._database, self._audit = database, audit
        self.passwords = passwords or Passwords()
        self.users = Users(database, audit, clock)
        self.sessions = Sessions(database, audit, clock)
        self.links = Links(database, clock)
        self._attempts = Attempts(database, clock)

    @classmethod
    def of(cls, folder: DeskFolder) -> Self:
        """Open the people of a desk."""
        database, clock = folder.open_desk(), DeskClock()
        return cls(database, Audit(database, clock), clock)

    def first_link(self) -> str | None:
        """Return a link's token for the first administrator; None where somebody can sign in."""
        with self._database.write() as writer:
            if not self.users.is_empty:
                return None
            return self.links.make(writer, None, COMMAND_LINE)

    def invite(self, name: str, role: str, by: str) -> str:
        """Add a user, and return the token of the link by which they set a password."""
        with self._database.write() as writer:
            user = self.users.insert(writer, name, role, by)
            return self.links.make(writer, user, by)

    def reset(self, name: str, by: str) -> str:
        """Return a link's token by which a user sets another password.

        Until it is followed the old password stays in force; somebody who must not come in any
        more is disabled.
        """
        with self._database.write() as writer:
            user = self.users.get(name)
            if user.disabled is not None:
                raise PeopleError("removed", "name", name=user.name)
            self._audit.add(writer, by, "reset password", user.name)
            return self.links.make(writer, user, by)

    def follow(self, token: str, name: str, password: str, address: str, browser: str) -> str:
        """Set a password by a link, end the user's sessions, and begin one: its token.

        The link for the first administrator takes the name as well.
        """
        found = self.links.find(token)
        if found.user is not None:
            name = found.user.name
        check_password(password, name)
        stored = self.passwords.hash(password)
        with self._database.write() as writer:
            user = self.links.use(writer, token).user
            if user is None:
                if not self.users.is_empty:
                    raise PeopleError("link")
                user = self.users.insert(writer, name, "admin", name)
            self._set_password(writer, user, stored, "set password")
            return self.sessions.begin(writer, user, address, browser)

    def sign_in(self, name: str, password: str, address: str, browser: str) -> str:
        """Begin a session, and return its token."""
        self._attempts.begin(name, address)
        user = self.users.find(name)
        stored = None if user is None or user.disabled else self.users.password_of(user)
        if not self.passwords.is_right(stored, password):
            # A name that nobody has may be a password in the wrong field: it is not written down.
            known = NOBODY if user is None else user.name
            self._audit.record(known, "fail to sign in", known)
            raise PeopleError("sign_in")
        assert user is not None
        self._attempts.forget(name, address)
        with self._database.write() as writer:
            return self.sessions.begin(writer, user, address, browser)

    def change_password(self, user: User, session: Session, present: str, password: str) -> None:
        """Set another password, and sign out everywhere but here."""
        self._attempts.begin(user.name, session.address)
        if not self.passwords.is_right(self.users.password_of(user), present):
            self._audit.record(user.name, "fail to change password", user.name)
            raise PeopleError("password_wrong", "present_password")
        self._attempts.forget(user.name, session.address)
        check_password(password, user.name)
        stored = self.passwords.hash(password)
        with self._database.write() as writer:
            self._set_password(writer, user, stored, "change password", keep=session.id)

    def _set_password(
        self, writer: Writer, user: User, stored: str, action: str, keep: str = ""
    ) -> None:
        writer.execute(
            "UPDATE users SET password = :stored WHERE id = :id", stored=stored, id=user.id
        )
        writer.execute(
            "DELETE FROM sessions WHERE user_id = :user AND id <> :keep", user=user.id, keep=keep
        )
        forget_links(writer, user)
        self._audit.add(writer, user.name, action, user.name)

"""Users: who works at a desk, and as what."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from rarefind.desk.api.roles import ROLES, Role
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Audit
from rarefind.desk.database import Database, Row, Writer
from rarefind.desk.names import LONGEST_NAME, is_name
from rarefind.desk.people._errors import PeopleError

__all__ = ["LANGUAGES", "THEMES", "USER_ROLES", "User", "Users"]

#: Programs send transactions, people do not.
USER_ROLES: Final[tuple[Role, ...]] = tuple(role for role in ROLES if role != "ingest")
#: What the pages can be read in; empty for what the browser asks for.
LANGUAGES: Final = ("", "en", "fr")
#: How the pages look; empty for what the browser asks for.
THEMES: Final = ("", "light", "dark")
_COLUMNS = "id, name, role, password, language, theme, made, made_by, disabled"


@dataclass(frozen=True, slots=True)
class User:
    """Who works at a desk.

    ``made`` and ``disabled`` are nanoseconds since 1970; who was disabled may not sign in.
    ``has_password`` is False until the link of an invitation was followed.
    """

    id: int
    name: str
    role: Role
    has_password: bool
    language: str
    theme: str
    made: int
    made_by: str
    disabled: int | None


class Users:
    """The users of a desk; none is ever deleted, since the audit log names them.

    Parameters
    ----------
    database : Database
    audit : Audit
    clock : DeskClock
    """

    def __init__(self, database: Database, audit: Audit, clock: DeskClock) -> None:
        self._database, self._audit, self._clock = database, audit, clock

    def all(self) -> list[User]:
        """Return all users by name."""
        rows = self._database.read(f"SELECT {_COLUMNS} FROM users ORDER BY folded")
        return [user_of(row) for row in rows]

    @property
    def is_empty(self) -> bool:
        """Whether nobody can sign in, so that the first administrator is to be made."""
        return not self._database.read(
            "SELECT 1 FROM users WHERE password IS NOT NULL AND disabled IS NULL LIMIT 1"
        )

    def find(self, name: str) -> User | None:
        """Return the user of a name, however it is capitalized."""
        return find_user(self._database, name)

    def get(self, name: str) -> User:
        """Return the user of a name."""
        user = self.find(name)
        if user is None:
            raise PeopleError("no_user", "name", name=name)
        return user

    def password_of(self, user: User) -> str | None:
        """Return what is stored of a user's password."""
        rows = self._database.read("SELECT password FROM users WHERE id = :id", id=user.id)
        return cast("str | None", rows[0][0])

    def insert(self, writer: Writer, name: str, role: str, by: str) -> User:
        """Add a user in a transaction; a name that was disabled is let in again."""
        checked = check_role(role)
        found = find_user(writer, check_name(name))
        if found is not None and found.disabled is None:
            raise PeopleError("name_taken", "name", name=name)
        if found is None:
            writer.execute(
                "INSERT INTO users (name, folded, role, password, language, theme, made, made_by) "
                "VALUES (:name, :folded, :role, NULL, '', '', :now, :by)",
                name=name,
                folded=fold(name),
                role=checked,
                now=self._clock.now(),
                by=by,
            )
        else:
            writer.execute(
                "UPDATE users SET role = :role, disabled = NULL WHERE id = :id",
                role=checked,
                id=found.id,
            )
        self._audit.add(writer, by, "add user", name, {"role": checked})
        user = find_user(writer, name)
        assert user is not None
        return user

    def set_role(self, name: str, role: str, by: str) -> User:
        """Let a user do other things, from the next request on."""
        checked = check_role(role)
        with self._database.write() as writer:
            user = _present(writer, name)
            if user.role != checked:
                _check_not_last_admin(writer, user)
                self._change(writer, user, by, "set role", {"role": checked}, role=checked)
        return self.get(name)

    def disable(self, name: str, by: str) -> User:
        """End all that a user can do here; the name stays theirs, since the log has it."""
        with self._database.write() as writer:
            user = _present(writer, name)
            _check_not_last_admin(writer, user)
            now = self._clock.now()
            self._change(writer, user, by, "disable user", disabled=now, password=None)
            for table in ("sessions", "links"):
                writer.execute(f"DELETE FROM {table} WHERE user_id = :id", id=user.id)
        return self.get(name)

    def set_preferences(self, user: User, language: str, theme: str) -> None:
        """Set the language and the look of the pages for one user; empty for the browser's."""
        if language not in LANGUAGES:
            raise PeopleError("language", "language", language=language)
        if theme not in THEMES:
            raise PeopleError("theme", "theme", theme=theme)
        with self._database.write() as writer:
            writer.execute(
                "UPDATE users SET language = :language, theme = :theme WHERE id = :id",
                id=user.id,
                language=language,
                theme=theme,
            )

    def _change(
        self,
        writer: Writer,
        user: User,
        by: str,
        action: str,
        detail: Mapping[str, Any] | None = None,
        **columns: str | int | None,
    ) -> None:
        changes = ", ".join(f"{column} = :{column}" for column in columns)
        writer.execute(f"UPDATE users SET {changes} WHERE id = :id", id=user.id, **columns)
        self._audit.add(writer, by, action, user.name, detail)


def user_of(row: Row) -> User:
    """A user from the columns of its row."""
    return User(row[0], row[1], row[2], row[3] is not None, *row[4:])


def find_user(reader: Database | Writer, name: str) -> User | None:
    """The user of a name, however it is capitalized."""
    rows = reader.read(f"SELECT {_COLUMNS} FROM users WHERE folded = :folded", folded=fold(name))
    return user_of(rows[0]) if rows else None


def user_by_id(reader: Database | Writer, id: int) -> User:
    """The user of a row."""
    return user_of(reader.read(f"SELECT {_COLUMNS} FROM users WHERE id = :id", id=id)[0])


def fold(name: str) -> str:
    """What two names have in common that people would take for the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def check_name(name: str) -> str:
    """Raise on a name that cannot be seen, or is too long to be one."""
    if not is_name(name) or not fold(name).strip():
        raise PeopleError("name", "name", most=LONGEST_NAME)
    return name


def check_role(role: str) -> Role:
    """Raise on a role that people cannot have."""
    if role not in USER_ROLES:
        raise PeopleError("role", "role", role=role, roles=", ".join(USER_ROLES))
    return role


def _present(reader: Writer, name: str) -> User:
    user = find_user(reader, name)
    if user is None:
        raise PeopleError("no_user", "name", name=name)
    if user.disabled is not None:
        raise PeopleError("removed", "name", name=user.name)
    return user


def _check_not_last_admin(reader: Writer, user: User) -> None:
    """Raise if nobody would be left who can let others in."""
    others = reader.read(
        "SELECT 1 FROM users WHERE role = 'admin' AND disabled IS NULL "
        "AND password IS NOT NULL AND id <> :id LIMIT 1",
        id=user.id,
    )
    if user.role == "admin" and user.has_password and not others:
        raise PeopleError("last_admin", "role", name=user.name)

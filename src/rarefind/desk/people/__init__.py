"""The people of a desk: users with their roles, passwords, sessions, and one-time links.

A password is kept as an Argon2 hash, a session and a link as the digest of a token that is shown
once. There is no password from the start: the first administrator comes by a link.
"""

from rarefind.desk.people._errors import PeopleError
from rarefind.desk.people._links import Link
from rarefind.desk.people._passwords import Passwords
from rarefind.desk.people._people import COMMAND_LINE, People
from rarefind.desk.people._sessions import Session
from rarefind.desk.people._users import LANGUAGES, THEMES, USER_ROLES, User

__all__ = [
    "COMMAND_LINE",
    "LANGUAGES",
    "THEMES",
    "USER_ROLES",
    "Link",
    "Passwords",
    "People",
    "PeopleError",
    "Session",
    "User",
]

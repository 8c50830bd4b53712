"""Passwords: which ones are taken, and what is kept of them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from rarefind.desk.people._errors import PeopleError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

__all__ = ["Passwords", "check_password"]

LEAST: Final = 12
MOST: Final = 200
_DIFFERENT: Final = 5


def check_password(password: str, name: str) -> None:
    """Raise on a password that is guessed easily."""
    where = "password"
    if len(password) < LEAST:
        raise PeopleError("password_short", where, least=LEAST)
    if len(password) > MOST:
        raise PeopleError("password_long", where, most=MOST)
    if len(name) > 2 and name.casefold() in password.casefold():
        raise PeopleError("password_name", where)
    if len(set(password)) < _DIFFERENT:
        raise PeopleError("password_simple", where)


class Passwords:
    """Keeps passwords as Argon2id hashes.

    Parameters
    ----------
    memory : int
        KiB that a hash takes; with the rounds, what OWASP advises for one lane.
    rounds : int
    """

    def __init__(self, memory: int = 19_456, rounds: int = 2) -> None:
        self._settings = (memory, rounds)
        # One at a time: strangers at the door do not get all the memory.
        self._lock = threading.Lock()
        self._made: PasswordHasher | None = None
        self._nobody = ""

    def hash(self, password: str) -> str:
        """Return what is stored of a password."""
        with self._lock:
            return self._hasher.hash(password)

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether a password is the stored one; as slow where there is none."""
        from argon2.exceptions import VerificationError

        with self._lock:
            if not self._nobody:
                self._nobody = self._hasher.hash("nobody")
            if len(password) > MOST:
                return False
            try:
                self._hasher.verify(stored or self._nobody, password)
            except VerificationError:
                return False
            return stored is not None

    @property
    def _hasher(self) -> PasswordHasher:
        if self._made is None:
            from argon2 import PasswordHasher

            memory, rounds = self._settings
            self._made = PasswordHasher(time_cost=rounds, memory_cost=memory, parallelism=1)
        return self._made

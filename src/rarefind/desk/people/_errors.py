"""What cannot be done with people, in a sentence, and the field that it speaks of."""

from __future__ import annotations

from typing import Final

__all__ = ["PeopleError"]

_SENTENCES: Final = {
    "name": "Give a name of 1 to {most} characters that can be seen, without spaces around it.",
    "name_taken": "There is a user {name!r} already: choose another name.",
    "role": "{role!r} is not a role of people; they are {roles}.",
    "no_user": "There is no user {name!r}.",
    "removed": "{name!r} may not sign in: let them in again first.",
    "last_admin": "{name!r} is the only admin: give the role to somebody else first.",
    "password_short": "The password has fewer than {least} characters: take a longer one.",
    "password_long": "The password has more than {most} characters: take a shorter one.",
    "password_name": "The password has the name in it: take another one.",
    "password_simple": "The password repeats itself: take one with more different characters.",
    "password_wrong": "This is not the present password.",
    "repeated": "The two passwords differ: type it twice the same.",
    "sign_in": "The name or the password is wrong.",
    "too_many": "There were too many attempts: try again in {minutes} min.",
    "link": "This link was used, is too old, or was replaced by another one: ask for a new one.",
    "language": "{language!r} is not a language of the pages.",
    "theme": "{theme!r} is not a look of the pages.",
}


class PeopleError(ValueError):
    """What was asked cannot be done.

    Parameters
    ----------
    kind : str
        Which of the sentences; pages have the same in other languages.
    where : str
        The field that is wrong; empty for none in particular.
    **values
        What the sentence has in its places.
    """

    def __init__(self, kind: str, where: str = "", **values: str | int) -> None:
        super().__init__(_SENTENCES[kind].format(**values))
        self.kind, self.where, self.values = kind, where, values

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """All kinds of errors."""
        return tuple(_SENTENCES)

"""What is refused, in a sentence; and what every name, note and person must be."""

from __future__ import annotations

from rarefind.desk.names import LONGEST_NAME, is_name

__all__ = ["ControlConflict", "ControlError", "NotThere", "check_name", "check_note"]

_LONGEST_NOTE = 10_000


class ControlError(ValueError):
    """What was asked cannot be done; the sentence says why.

    ``where`` is the field that is wrong, such as ``name``; empty for none in particular.
    """

    def __init__(self, sentence: str, where: str = "") -> None:
        super().__init__(sentence)
        self.where = where


class NotThere(ControlError):  # noqa: N818
    """There is no rule, list, block, model or order of that name."""


class ControlConflict(ControlError):  # noqa: N818
    """Somebody else was quicker, or it is in another state than the one that is needed."""


def check_name(what: str, name: str) -> str:
    """Raise on a name that is empty, too long, or has characters that cannot be seen."""
    if not is_name(name):
        raise ControlError(
            f"{name[:LONGEST_NAME]!r} is not a name of a {what}: give 1 to {LONGEST_NAME} "
            "characters that can be seen, without spaces around them.",
            "name",
        )
    return name


def check_note(note: str) -> str:
    """Raise on a note that cannot be kept."""
    if len(note) > _LONGEST_NOTE or "\0" in note:
        raise ControlError(
            f"A note has at most {_LONGEST_NOTE:,} characters, none of them NUL.", "note"
        )
    return note

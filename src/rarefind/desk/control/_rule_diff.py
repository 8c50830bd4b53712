"""What has changed between two versions of a rule."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from rarefind.desk.control._rule_rows import DeskRule

__all__ = ["DiffPart", "RuleChange", "changes_of", "text_diff"]

_FIELDS = ("role", "weight", "constants", "limits", "sunset")
#: A word, a number, a text in quotes, a run of spaces, or one sign.
_WORDS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|[\w.]+|\s+|[<>=!]+|.", re.DOTALL)


class DiffPart(NamedTuple):
    """A part of two texts: in both, only in the old one, or only in the new one."""

    kind: Literal["same", "old", "new"]
    text: str


class RuleChange(NamedTuple):
    """A field of a rule that has changed, other than its text."""

    field: str
    before: Any
    after: Any


def changes_of(before: DeskRule | None, after: DeskRule) -> list[RuleChange]:
    """Return what differs from the version before, but for the text."""
    if before is None:
        return []
    return [
        RuleChange(name, getattr(before, name), getattr(after, name))
        for name in _FIELDS
        if getattr(before, name) != getattr(after, name)
    ]


def text_diff(before: str, after: str) -> list[DiffPart]:
    """Return two texts as parts, by whole words.

    Examples
    --------
    >>> [tuple(part) for part in text_diff("amount > 100", "amount > 250")]
    [('same', 'amount > '), ('old', '100'), ('new', '250')]
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    found: list[DiffPart] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found.append(DiffPart("same", "".join(old[i:j])))
            continue
        if j > i:
            found.append(DiffPart("old", "".join(old[i:j])))
        if m > k:
            found.append(DiffPart("new", "".join(new[k:m])))
    return found

"""Names of people, tokens, rules, lists and models: which ones can be given."""

from __future__ import annotations

from typing import Final

__all__ = ["LONGEST_NAME", "is_name"]

#: Characters that a name has at most.
LONGEST_NAME: Final = 200


def is_name(name: str) -> bool:
    """Whether a name has characters, all of them to be seen, not too many, and no spaces around it.

    Examples
    --------
    >>> is_name("night shops"), is_name(" night shops"), is_name(""), is_name("a" * 201)
    (True, False, False, False)
    """
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()

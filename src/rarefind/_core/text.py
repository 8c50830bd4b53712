"""Text from a user's file: made safe to print, or seen to be a number."""

from __future__ import annotations

import re

# Control characters (escape sequences begin with one), marks that turn the direction of writing,
# what ends a line elsewhere than it seems, and halves of characters that cannot be encoded.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: object, keep: str = "") -> str:
    r"""Text with every character that a terminal would act on written out, as ``\x1b``.

    Parameters
    ----------
    text : object
        Its ``str`` is taken. Values and column names of files go through here before they are
        printed.
    keep : str, default=""
        Characters that stay, such as the new lines of our own texts.

    Examples
    --------
    >>> print(visible("paid\x1b[2J"))
    paid\x1b[2J
    """

    def shown(found: re.Match[str]) -> str:
        mark = found.group()
        if mark in keep:
            return mark
        return _SHORT.get(mark) or (
            f"\\x{ord(mark):02x}" if mark < "\xa0" else f"\\u{ord(mark):04x}"
        )

    return _HIDDEN.sub(shown, str(text))


def without_middle(text: str, most: int = 500) -> str:
    """Text that is not much longer than that, with dots for the middle of a longer one.

    Examples
    --------
    >>> without_middle("The rule 'aaaaaaaaaaaaaaaaaaaaaaaaa' is too long.", 30)
    "The rule 'aaaaa…' is too long."
    """
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[half + 1 - most :]}"


def is_number(text: str) -> bool:
    """Whether Python reads it as a number.

    Examples
    --------
    >>> is_number(" -1e3"), is_number("1,5")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True

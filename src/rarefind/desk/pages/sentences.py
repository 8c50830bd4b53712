"""Sentences of the domain, in the language of a reader.

What the desk refuses, and why a case is there, is said in English where it happens. The English
catalogue has these sentences under ``[sentence]`` with places such as ``{name}``: so a sentence is
known again, and said in another language with the same values in its places.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from string import Formatter
from typing import Final, NamedTuple

from babel.dates import get_day_names, get_month_names
from babel.numbers import format_decimal

from rarefind.desk.pages.texts import Texts, texts_in

__all__ = ["find_sentence", "in_language"]

#: Which words may stand in a place of a sentence, by the beginnings of their keys.
_WITHIN: Final = {
    "hint": "hint_",
    "kind": "kind_",
    "wanted": "kind_",
    "one": "kind_",
    "other": "kind_",
    "what": "what_",
    "state": "state_",
    "label": "drift_",
    "now": "drift_",
    "before": "drift_",
}
#: They are words, and no sentences of their own.
_PARTS: Final = ("hint_", "kind_", "state_", "what_")
#: Numbers of which English shows that they are numbers: 10,000 or 0.25.
_NUMBER: Final = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?|-?\d+\.\d+")


class _Sentence(NamedTuple):
    name: str
    pattern: re.Pattern[str]


def in_language(t: Texts, said: str) -> str:
    """Say a sentence of the domain in another language; one that is not known stays as it is.

    Examples
    --------
    >>> in_language(texts_in("fr"), "There is no column 'amuont': did you mean 'amount'?")
    "Il n’y a pas de colonne 'amuont' : vouliez-vous dire 'amount' ?"
    """
    return said if t.language == "en" else find_sentence(t, said) or said


def find_sentence(t: Texts, said: str, within: str = "") -> str | None:
    """Say a sentence that the catalogue has, or a word of one; None where it has not."""
    for name, pattern in _sentences():
        if name.startswith(within or "") and (within or not name.startswith(_PARTS)):
            match = pattern.fullmatch(said)
            if match:
                values = {
                    place: _value(t, place, text) for place, text in match.groupdict().items()
                }
                return t(f"sentence.{name}", **values)
    return None


def _value(t: Texts, place: str, text: str) -> str:
    if place in _WITHIN:
        return find_sentence(t, text, _WITHIN[place]) or text
    if place == "month" and text in calendar.month_name:
        return str(get_month_names(locale=t.locale)[list(calendar.month_name).index(text)])
    if place == "weekday" and text in calendar.day_name:
        return str(get_day_names(locale=t.locale)[list(calendar.day_name).index(text)])
    if _NUMBER.fullmatch(text):
        return format_decimal(Decimal(text.replace(",", "")), locale=t.locale)
    return text


@cache
def _sentences() -> list[_Sentence]:
    """All sentences, those with the most words of their own first."""
    return [each for _, each in sorted(_read(), key=lambda pair: (-pair[0], pair[1].name))]


def _read() -> Iterator[tuple[int, _Sentence]]:
    for name, text in texts_in("en").below("sentence"):
        written, pattern = 0, ""
        for literal, place, _, _ in Formatter().parse(text):
            written += len(literal)
            pattern += re.escape(literal) + (f"(?P<{place}>.+?)" if place else "")
        yield written, _Sentence(name, re.compile(pattern, re.DOTALL))

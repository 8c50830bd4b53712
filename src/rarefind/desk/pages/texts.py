"""All texts of the pages, in one catalogue a language: ``texts/en.toml``, ``texts/fr.toml``.

A text has a key such as ``queue.empty``, and places such as ``{name}``. One that depends on a
number has a form for each kind of number of its language::

    [queue]
    empty = "Nothing to check."
    waiting = { one = "{count} case waits.", other = "{count} cases wait." }

``t("queue.waiting", count=3)`` says which; numbers are written as the language writes them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from babel import Locale
from babel.numbers import format_decimal

__all__ = ["LOCALES", "Texts", "choose_language", "texts_in"]

#: The languages of the catalogue, and where each is spoken as it is written here.
LOCALES: Final[Mapping[str, str]] = {"en": "en_GB", "fr": "fr_FR"}
_FIRST: Final = "en"
_FORMS: Final = {"zero", "one", "two", "few", "many", "other"}


class Texts:
    """The texts of one language.

    Parameters
    ----------
    language : str
        One of ``LOCALES``.
    texts : mapping
        A text for each key, or its forms.
    """

    def __init__(self, language: str, texts: Mapping[str, str | Mapping[str, str]]) -> None:
        self.language, self._texts = language, texts
        self.locale = Locale.parse(LOCALES[language])

    def __call__(self, key: str, **values: str | int) -> str:
        """Return a text with its places filled; an unknown key or a missing value is an error."""
        text = self._texts[key]
        if not isinstance(text, str):
            form = self.locale.plural_form(int(values["count"]))
            text = text.get(form) or text["other"]
        return text.format(**{name: self._written(value) for name, value in values.items()})

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def keys(self) -> set[str]:
        """Return all keys."""
        return set(self._texts)

    def below(self, heading: str) -> Iterator[tuple[str, str]]:
        """Return the texts of a heading, by what follows it in their keys."""
        for key, text in self._texts.items():
            if key.startswith(f"{heading}.") and isinstance(text, str):
                yield key.removeprefix(f"{heading}."), text

    def _written(self, value: str | int) -> str:
        return value if isinstance(value, str) else format_decimal(value, locale=self.locale)


@cache
def texts_in(language: str) -> Texts:
    """The texts of a language of ``LOCALES``."""
    path = files("rarefind.desk.pages").joinpath("texts", f"{language}.toml")
    return Texts(language, dict(_flat(tomllib.loads(path.read_text(encoding="utf-8")))))


def choose_language(wanted: str, accepted: str = "") -> str:
    """The language of an account, else the first known one of an ``Accept-Language`` header.

    Examples
    --------
    >>> choose_language("", "de, fr-CA;q=0.8, en;q=0.5")
    'fr'
    """
    if wanted in LOCALES:
        return wanted
    found: list[tuple[float, int, str]] = []
    for part in accepted[:1_000].split(","):
        name, _, quality = part.partition(";q=")
        language = name.strip().lower().partition("-")[0]
        try:
            weight = float(quality or 1)
        except ValueError:
            weight = 0.0
        if language in LOCALES and weight > 0:
            found.append((-weight, len(found), language))
    return min(found)[2] if found else _FIRST


def _flat(
    tree: Mapping[str, Any], above: str = ""
) -> Iterator[tuple[str, str | Mapping[str, str]]]:
    for name, value in tree.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping) and not ("other" in value and set(value) <= _FORMS):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value

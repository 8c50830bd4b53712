"""Numbers as offices write them: 1 234,56 and 10,94 € and $328.20 and (1,234) and 12,5 %.

Their type is a word as ``number:eu:€``: how thousands and decimals are marked (``eu`` has a decimal
comma, ``en`` a decimal point), and the one unit that stands beside the numbers, if any.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

PREFIX = "number:"
# The mark of decimals, and those of thousands, beside spaces and apostrophes.
_MARKS = {"en": (".", ","), "eu": (",", ".")}
_SPACES = "\u0020\u00a0\u2009\u202f'’"
_CURRENCIES = (
    *("€", "$", "£", "¥", "₹", "₽", "₺", "₩", "₪", "R$", "US$", "C$", "A$"),
    *("kr", "Kr", "zł", "Kč", "Ft", "lei", "EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD"),
    *("SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "BRL", "INR", "CNY"),
)
_UNITS = ("%", "‰", *_CURRENCIES)
# Units without which a number would be another one.
_NEEDED = ("%", "‰")
_GLANCE = 100
# All that may stand in a number beside its unit.
_NUMERIC = rf"[\d{_SPACES}.,()+\-−]"
# Either a decimal mark before three digits, or one of thousands.
_UNDECIDED = r"^[+-]?[1-9]\d{0,2}(?:[.,]\d{3})*$"

Text = Any


def office_type(text: Text, decimal: str | None = None) -> str | None:
    """The type of cleaned text that holds such numbers only; None of other text.

    ``1,234`` could be 1234 or 1.234, and is not guessed at: ``decimal``, the mark of decimals in
    the rest of the file, decides, or that it is money.
    """
    unit = _unit(text.slice(0, _GLANCE))
    if unit is None or _unit(text) is None:
        return None
    unit = _unit(text)
    found = {style: plain_numbers(text, style, unit or "") for style in _MARKS}
    fitting = [style for style, plain in found.items() if plain.null_count == text.null_count]
    if not fitting or (not unit and _looks_like_codes(text)):
        return None
    style = fitting[0]
    if len(fitting) == 2 and not found["en"].equals(found["eu"]):
        if decimal is not None:
            style = "eu" if decimal == "," else "en"
        elif unit or _any(pc.match_substring_regex(text, r"^\(")):
            # Money has no three digits behind the decimal mark.
            style = "eu" if _any(pc.match_substring(text, ".")) else "en"
        else:
            return None
    elif len(fitting) == 2 and decimal is not None:
        style = "eu" if decimal == "," else "en"
    return f"{PREFIX}{style}" + (f":{unit}" if unit else "")


def is_undecided(text: Text) -> bool:
    """Whether all values could be thousands or decimals, and at least one has a mark."""
    glance = text.slice(0, _GLANCE)
    return bool(
        _all(pc.match_substring_regex(glance, _UNDECIDED))
        and _all(pc.match_substring_regex(text, _UNDECIDED))
        and _any(pc.match_substring_regex(text, "[.,]"))
    )


def plain_numbers_of(text: Text, kind: str) -> Text:
    """Numbers of a type as ``-1234.56``; null where a value is not one."""
    style, _, unit = kind.removeprefix(PREFIX).partition(":")
    if style not in _MARKS or unit not in ("", *_UNITS):
        raise ValueError(f"There are no numbers of type {kind!r}.")
    return plain_numbers(text, style, unit)


def plain_numbers(text: Text, style: str, unit: str) -> Text:
    """Numbers of a style, with or without a unit, as ``-1234.56``; null where it is not one."""
    decimal, thousands = _MARKS[style]
    known = text
    if unit:
        mark = re.escape(unit)
        # One behind, or one before.
        text = _without(text, rf"[{_SPACES}]*{mark}(\)?-?)$", r"\1")
        before = _without(text, rf"^([-+−(]?)[{_SPACES}]*{mark}[{_SPACES}]*", r"\1")
        text = pc.if_else(pc.equal(text, known), before, text)
        if unit in _NEEDED:
            text = pc.if_else(pc.equal(text, known), pa.scalar(None, text.type), text)
    text = pc.replace_substring(text, "−", "-")
    text = _without(text, r"^\(([^-+()].*)\)$", r"-\1")
    text = _without(text, r"^([^-+()].*)-$", r"-\1")
    text = _without(text, rf"^([-+])[{_SPACES}]+", r"\1")
    groups = "|".join(rf"(?:{re.escape(mark)}\d{{3}})+" for mark in (*_SPACES, thousands))
    number = rf"^[+-]?(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:{groups}))(?:{re.escape(decimal)}\d+)?$"
    fits = pc.match_substring_regex(text, number)
    plain = _without(text, rf"[{_SPACES}{re.escape(thousands)}]|^\+", "")
    plain = pc.replace_substring(plain, decimal, ".")
    return pc.if_else(fits, plain, pa.scalar(None, plain.type))


def _unit(text: Text) -> str | None:
    """The one unit beside the numbers, "" for none; None where there is other text."""
    beside = pc.unique(_without(text, _NUMERIC, "")).drop_null().to_pylist()
    units = [unit for unit in beside if unit]
    if len(units) > 1 or any(unit not in _UNITS for unit in units):
        return None
    if units and units[0] in _NEEDED and "" in beside:
        return None
    return units[0] if units else ""


def _looks_like_codes(text: Text) -> bool:
    """Whether all are as long as each other: numbers of companies are written in groups as well."""
    lengths = pc.unique(pc.utf8_length(text)).drop_null()
    only_groups = pc.match_substring_regex(text, rf"^\d{{3}}(?:[{_SPACES}.]\d{{3}})+$")
    return len(lengths) == 1 and _all(only_groups)


def _without(text: Text, pattern: str, replacement: str) -> Text:
    return pc.replace_substring_regex(text, pattern, replacement)


def _all(mask: Text) -> bool:
    return pc.all(mask, min_count=0).as_py() is not False


def _any(mask: Text) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())

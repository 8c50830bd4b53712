"""The form of a rule: what was typed, what it means, and where it is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rarefind.desk.control import LIMITS, DeskRule
from rarefind.desk.pages.forms import Form

__all__ = ["FormError", "Marked", "RuleForm", "mark"]

#: Limits that people give in per cent.
SHARES = frozenset(LIMITS) - {"max_false_alerts_a_day"}
_PLACE = re.compile(r"[Cc]haracter (\d[\d,]*)")
_NAME = re.compile(r"'([^']+)'")


class FormError(ValueError):
    """A field that cannot be read: its name, and the key of what is wrong with it."""

    def __init__(self, field: str, key: str) -> None:
        super().__init__(key)
        self.field, self.key = field, key


class Marked(NamedTuple):
    """A text in three parts, of which the middle one is wrong."""

    before: str
    wrong: str
    after: str


@dataclass(frozen=True)
class RuleForm:
    """A rule as the fields of the form have it; all are texts."""

    name: str = ""
    text: str = ""
    weight: str = ""
    constants: str = ""
    note: str = ""
    sunset: str = ""
    based_on: str = "0"
    limits: Mapping[str, str] | None = None

    @classmethod
    def of(cls, rule: DeskRule, based_on: int) -> RuleForm:
        """Return the form of a version of a rule."""
        return cls(
            rule.name,
            rule.text,
            "" if rule.weight is None else f"{rule.weight:g}",
            "\n".join(f"{name} = {json.dumps(value)}" for name, value in rule.constants.items()),
            "",
            rule.sunset or "",
            str(based_on),
            {
                name: f"{100 * bound if name in SHARES else bound:.12g}"
                for name, bound in rule.limits.items()
            },
        )

    @classmethod
    def sent(cls, form: Form) -> RuleForm:
        """Return what was sent."""
        return cls(
            form["name"].strip(),
            form["text"],
            form["weight"].strip(),
            form["constants"],
            form["note"],
            form["sunset"].strip(),
            form["based_on"],
            {name: form[name].strip() for name in LIMITS},
        )

    def limit(self, name: str) -> str:
        """Return what was typed as a limit."""
        return (self.limits or {}).get(name, "")

    def read(self) -> dict[str, Any]:
        """Return what :meth:`Rules.save` takes beside name, text and person."""
        limits = {}
        for name in LIMITS:
            bound = _number(name, self.limit(name))
            if bound is not None:
                limits[name] = bound / 100 if name in SHARES else bound
        return {
            "weight": _number("weight", self.weight),
            "constants": _constants(self.constants),
            "note": self.note,
            "based_on": int(self.based_on) if self.based_on.isdecimal() else 0,
            "limits": limits,
            "sunset": self.sunset,
        }


def mark(text: str, sentence: str) -> Marked | None:
    """Return a rule with the place that an error speaks of; None where it names none.

    Examples
    --------
    >>> mark("amount >> 5", "The rule cannot be read at character 9, '> 5'.")
    Marked(before='amount >', wrong='>', after=' 5')
    >>> mark("amuont > 5", "There is no column 'amuont': did you mean 'amount'?").wrong
    'amuont'
    """
    place = _PLACE.search(sentence)
    if place is not None:
        at = int(place[1].replace(",", "")) - 1
        if 0 <= at < len(text):
            return Marked(text[:at], text[at], text[at + 1 :])
    if sentence.startswith("The rule ends"):
        return Marked(text.rstrip(), " ", "")
    for name in _NAME.findall(sentence):
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        if found:
            return Marked(text[: found.start()], name, text[found.end() :])
    return None


def _number(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise FormError(name, "rules.wrong.number") from None


def _constants(text: str) -> dict[str, Any]:
    found = {}
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = line.partition("=")
        if not sign or not name.strip().isidentifier():
            raise FormError("constants", "rules.wrong.constants")
        try:
            read = json.loads(value)
        except ValueError:
            read = value.strip().strip("'")
        if not isinstance(read, bool | int | float | str):
            raise FormError("constants", "rules.wrong.constants")
        found[name.strip()] = float(read) if type(read) is int else read
    return found

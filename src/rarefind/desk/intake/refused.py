"""What is wrong with a request, in one sentence, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

import msgspec

from rarefind._core.text import visible
from rarefind.desk.records import Refusal, RefusalKind
from rarefind.desk.schema import Kind

_NEEDED: dict[Kind, str] = {
    "text": "a text in quotes",
    "number": "a number",
    "boolean": "true or false",
    "time": "a time as 2026-01-31T12:30:00Z",
}
_SENT = {
    "str": "a text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
# What msgspec says, and the place that it names.
_PLACE = re.compile(r" - at `\$(?:\[(\d+)\])?(?:\.(.*))?`$", re.DOTALL)
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_GOT = re.compile(r"Expected .*, got `(\w+)`")


class IntakeError(ValueError):
    """A request that is refused as a whole: nothing of it is decided or stored."""

    def __init__(self, kind: RefusalKind, detail: str, where: str = "") -> None:
        super().__init__(f"{where}: {detail}" if where else detail)
        self.refusal = Refusal(kind, detail, where)


def not_json(error: Exception) -> IntakeError:
    """What is wrong with a body that cannot be read at all."""
    if isinstance(error, UnicodeDecodeError):
        return IntakeError("malformed", "The body is not UTF-8: encode its texts as UTF-8.")
    what = str(error).removeprefix("JSON is malformed: ").rstrip(".")
    return IntakeError("malformed", f"The body is not JSON: {what[:1].lower()}{what[1:]}.")


def misfit(error: msgspec.ValidationError, columns: Mapping[str, Kind]) -> IntakeError:
    """What is wrong with JSON that is not a transaction of the schema."""
    message = str(error)
    place = _PLACE.search(message)
    before = f"transactions[{place[1]}]" if place and place[1] is not None else ""
    column = place[2] if place else None
    if place:
        message = message[: place.start()]
    field = _FIELD.fullmatch(message)
    if field:
        name = _shown(field[2])
        where = f"{before}.{name}" if before else name
        if field[1] == "missing required":
            return IntakeError("invalid", f"The column {name!r} is missing: send it.", where)
        near = get_close_matches(field[2], columns, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "leave it out, or declare it in desk.toml."
        return IntakeError("invalid", f"There is no column {name!r}: {hint}", where)
    got = _GOT.match(message)
    sent = _SENT.get(got[1], got[1]) if got else ""
    if column is None:
        return IntakeError("invalid", f"A transaction is an object, and {sent} was sent.", before)
    where = f"{before}.{column}" if before else column
    return IntakeError("invalid", f"{_of_value(column, columns[column], sent, message)}", where)


def _of_value(column: str, kind: Kind, sent: str, message: str) -> str:
    needed = f"The column {column!r} needs {_NEEDED[kind]}"
    if sent:
        return f"{needed}, and {sent} was sent."
    if message == "Number out of range":
        return f"The number in {column!r} is too large."
    return f"{needed}."


def _shown(name: str) -> str:
    """A name that a stranger sent, short and without characters that a terminal acts on."""
    return visible(name if len(name) <= 60 else f"{name[:60]}…")

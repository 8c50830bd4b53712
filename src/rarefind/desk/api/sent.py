"""What a request's body says, read as a message; what is wrong with it is told in a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from fastapi import Depends
from starlette.requests import Request

from rarefind._core.text import visible
from rarefind.desk.api.problems import ProblemError

Message = TypeVar("Message")

# What msgspec says, and the place that it names.
_PLACE = re.compile(r" - at `(?:key in )?\$(.*)`$", re.DOTALL)
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_WORDS = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false"}
_WORDS |= {"array": "a list", "object": "an object", "null": "null"}
_TYPE = re.compile(r"`(\w+)`")
_LONGEST = 60


def sent(kind: type[Message]) -> Any:
    """What gives a route the body of its request as a message of a type."""
    return Depends(_reader(kind))


def _reader(kind: type[Message]) -> Callable[[Request], Coroutine[Any, Any, Message]]:
    decoder = msgspec.json.Decoder(kind)

    async def read(request: Request) -> Message:
        found = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
        if found != "application/json":
            raise ProblemError("not-json", "Send 'Content-Type: application/json'.", "content-type")
        body = await request.body()
        try:
            message = decoder.decode(body)
        except msgspec.ValidationError as error:
            raise _misfit(error, kind) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            what = str(error).removeprefix("JSON is malformed: ").rstrip(".")
            raise ProblemError(
                "malformed", f"The body is not JSON: {what[:1].lower()}{what[1:]}."
            ) from None
        json.loads(body, object_pairs_hook=_check_once)
        return message

    return read


def _check_once(pairs: list[tuple[str, Any]]) -> None:
    """Raise on an object that has a field twice: readers differ in which of the two they take."""
    names = [name for name, _ in pairs]
    for name in set(names):
        if names.count(name) > 1:
            shown = _shown(name)
            raise ProblemError(
                "invalid", f"The field {shown!r} was sent twice: send it once.", shown
            )


def _misfit(error: msgspec.ValidationError, kind: Any) -> ProblemError:
    """What is wrong with JSON that is not the message."""
    message = str(error)
    place = _PLACE.search(message)
    where = visible(place[1].removeprefix(".")) if place else ""
    if place:
        message = message[: place.start()]
    field = _FIELD.fullmatch(message)
    if field:
        name = _shown(field[2])
        inside = f"{where}.{name}" if where else name
        if field[1] == "missing required":
            return ProblemError("invalid", f"The field {name!r} is missing: send it.", inside)
        return ProblemError("invalid", f"There is no field {name!r}: leave it out.", inside)
    subject = f"The field {_shown(where)!r}" if where else "The body"
    if message.startswith("Invalid enum value"):
        choices = ", ".join(_choices(kind, where))
        return ProblemError("invalid", f"{subject} is one of {choices}.", where)
    what = _TYPE.sub(lambda found: _WORDS.get(found[1], found[1]), message)
    return ProblemError(
        "invalid", f"{subject} is not right: {what[:1].lower()}{visible(what[1:])}.", where
    )


def _choices(kind: Any, where: str) -> list[str]:
    """The values that a field may have, wherever in the message it is."""
    name = where.rsplit(".", 1)[-1]
    _, components = msgspec.json.schema_components([kind])
    found = [each.get("properties", {}).get(name, {}) for each in components.values()]
    return [str(choice) for each in found for choice in each.get("enum", ())]


def _shown(name: str) -> str:
    """A name that a stranger sent, short and without characters that a terminal acts on."""
    return visible(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…")

"""What a form has sent: texts by the names of its fields, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from rarefind.desk.api.problems import ProblemError

__all__ = ["Form", "read_form"]

_MEDIA: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 500


class Form:
    """The fields of a form.

    Parameters
    ----------
    fields : sequence of (str, str)
        Names may repeat, as those of boxes to tick do.
    """

    def __init__(self, fields: Sequence[tuple[str, str]] = ()) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        """The text of a field; empty if it was not sent."""
        return next((text for each, text in self._fields if each == name), "")

    def __contains__(self, name: str) -> bool:
        return any(each == name for each, _ in self._fields)

    def all(self, name: str) -> list[str]:
        """All texts that were sent for a field."""
        return [text for each, text in self._fields if each == name]

    @property
    def values(self) -> Mapping[str, str]:
        """The fields to show again beside what is wrong with them, but for passwords."""
        return {name: text for name, text in self._fields if "password" not in name}


async def read_form(request: Request) -> Form:
    """Read what was sent, whose size was checked before."""
    body = await request.body()
    if not body:
        return Form()
    kind = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if kind != _MEDIA:
        raise ProblemError("not-json", f"Send 'Content-Type: {_MEDIA}'.", "content-type")
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise ProblemError("malformed", "The form cannot be read: send it again.") from None
    if any("\0" in part for field in fields for part in field):
        raise ProblemError("invalid", "A text has no character NUL: leave it out.")
    # Browsers end lines as Windows does.
    return Form([(name, text.replace("\r\n", "\n")) for name, text in fields])

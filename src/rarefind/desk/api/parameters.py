"""What stands in the address of a request, with its bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

from fastapi import Path, Query
from pydantic import AfterValidator
from starlette.types import ASGIApp, Receive, Scope, Send

from rarefind.desk.api.problems import ProblemError, problem_response
from rarefind.desk.names import LONGEST_NAME

Found = TypeVar("Found")
Place = TypeVar("Place", int, str)

LARGEST: Final = 2**63 - 1
#: So many rows of a list are answered at once.
MOST_ROWS: Final = 1_000
# A slash within a name; no name has the character NUL, since neither the intake nor a database
# takes it.
_SLASH = "\0"


def _with_slashes(text: str) -> str:
    return text.replace(_SLASH, "/")


_Slashes = AfterValidator(_with_slashes)
# Texts of strangers in a path; slashes in them come as ``%2F``.
TransactionName: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=1_000, description="The sender's own."), _Slashes
]
EntityName: TypeAlias = Annotated[
    str,
    Path(min_length=1, max_length=100, description="Such as `card`, as in desk.toml."),
    _Slashes,
]
Key: TypeAlias = Annotated[
    str, Path(min_length=1, max_length=1_000, description="Such as a card's number."), _Slashes
]
Name: TypeAlias = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME), _Slashes]
Number: TypeAlias = Annotated[int, Path(ge=1, le=LARGEST)]
Rows: TypeAlias = Annotated[int, Query(ge=1, le=MOST_ROWS, description="At most so many.")]
Before: TypeAlias = Annotated[
    int | None, Query(ge=1, le=LARGEST, description="The `next` of the page before.")
]
After: TypeAlias = Annotated[int, Query(ge=0, le=LARGEST, description="The `next` of a page.")]
AfterName: TypeAlias = Annotated[
    str, Query(max_length=256, pattern="^[^\\x00]*$", description="The `next` of a page.")
]
CaseStateFilter: TypeAlias = Literal["open", "taken", "snoozed", "decided", "expired"] | None
ClaimStateFilter: TypeAlias = Literal["new", "confirmed", "rejected"] | None


def next_page(found: Sequence[Found], limit: int, place: Callable[[Found], Place]) -> Place | None:
    """Where the page after the rows that were found begins; None where there is none."""
    return place(found[-1]) if len(found) == limit else None


class KeptSlashes:
    """Lets a name in a path have slashes: ``/transactions/2026%2F17`` is about ``2026/17``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            raw = scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1")
            if "%00" in raw or _SLASH in raw:
                error = ProblemError(
                    "invalid", "An address has no character NUL: leave out %00.", "path"
                )
                return await problem_response(error)(scope, receive, send)
            if "%2f" in raw.lower():
                raw = raw.replace("%2F", "%00").replace("%2f", "%00")
                scope["path"] = unquote(raw)
        return await self.app(scope, receive, send)

"""What is answered when something is wrong: one shape for every route of both apps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rarefind.desk.records import Problem

MEDIA: Final = "application/problem+json"

#: What each kind of problem is called, and the status that it is answered with.
KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "malformed": (400, "The request cannot be read"),
    "unknown-token": (401, "The token is missing or unknown"),
    "not-allowed": (403, "The token's role may not do this"),
    "not-found": (404, "There is nothing at this address"),
    "wrong-method": (405, "The address does not take this method"),
    "too-slow": (408, "The request took too long to arrive"),
    "conflict": (409, "It contradicts what is stored"),
    "too-large": (413, "The request is too large"),
    "not-json": (415, "The request is not of the right type"),
    "invalid": (422, "The request is understood and wrong"),
    "too-many": (429, "Too many requests"),
    "internal": (500, "The desk has made a mistake"),
    "unavailable": (503, "The desk cannot answer now"),
}
_BY_STATUS: Final = {status: kind for kind, (status, _) in KINDS.items()}


class ProblemError(Exception):
    """A request that cannot be answered as asked.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    detail : str
        A sentence: what is wrong, and what to do.
    where : str
        The part of the request that is wrong, such as ``[3].amount``.
    retry_after : int or None
        Seconds after which the same request may succeed.
    """

    def __init__(
        self, kind: str, detail: str, where: str = "", retry_after: int | None = None
    ) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.where, self.retry_after = kind, detail, where, retry_after

    @property
    def status(self) -> int:
        """The status of the answer."""
        return KINDS[self.kind][0]

    @property
    def body(self) -> Problem:
        """The answer's content."""
        return Problem(self.kind, KINDS[self.kind][1], self.detail, self.where)

    @property
    def headers(self) -> dict[str, str]:
        """The answer's headers beside its type."""
        found = {}
        if self.retry_after is not None:
            found["retry-after"] = str(self.retry_after)
        if self.kind == "unknown-token":
            found["www-authenticate"] = "Bearer"
        return found


def problem_response(error: ProblemError) -> Response:
    """The answer to a request that has a problem."""
    return Response(
        msgspec.json.encode(error.body), error.status, media_type=MEDIA, headers=error.headers
    )


def problem_of(status: int, detail: str) -> ProblemError:
    """The problem of a status that another library has chosen."""
    return ProblemError(_BY_STATUS.get(status, "malformed"), detail)


async def answer_problem(_: Request, error: Exception) -> Response:
    """Answer a problem that a route has raised."""
    assert isinstance(error, ProblemError)
    return problem_response(error)

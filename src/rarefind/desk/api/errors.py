"""What both apps answer where nobody has thought of an answer: in the same shape as all others."""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.api.problems import ProblemError, problem_of, problem_response


async def answer_http_error(_: Request, error: Exception) -> Response:
    """Answer what Starlette refuses by itself: an unknown address, a wrong method."""
    assert isinstance(error, HTTPException)
    response = problem_response(problem_of(error.status_code, f"{error.detail}."))
    response.headers.update(error.headers or {})
    return response


def answerer_of_errors(log: Log) -> Callable[[Request, Exception], Response]:
    """Answer a mistake of rarefind's, whose place goes to the log."""

    def answer(request: Request, error: Exception) -> Response:
        log.error("failed", route=route_of(request), error=type(error).__name__, at=place_of(error))
        return problem_response(
            ProblemError("internal", "This is a mistake in rarefind; its log says more.")
        )

    return answer


def route_of(request: Request) -> str:
    """The address without what a stranger has written in it, such as the number of a card."""
    scope = request.scope
    return str(
        getattr(scope.get("route"), "path", "") or getattr(scope.get("endpoint"), "__name__", "")
    )

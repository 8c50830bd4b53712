"""What is wrong, as a page: people are told the same problems as programs, in their language."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rarefind.desk.api.problems import MEDIA
from rarefind.desk.pages import cookies
from rarefind.desk.pages.forms import Form
from rarefind.desk.pages.sentences import find_sentence
from rarefind.desk.pages.visit import HOME, Guest, visit_of
from rarefind.desk.records import Problem

__all__ = ["ProblemPages", "is_page", "problem_page"]

#: Whose sentence says more than the text of the page does.
_TELLING: Final = frozenset({"conflict", "invalid", "not-found", "too-large"})
#: What is said of an address that no route knows, and the page says as well.
_NOTHING_THERE: Final = f"{HTTPStatus.NOT_FOUND.phrase}."
#: By which htmx shows the problem as the page, and not in the part of it that was asked for.
_IN_THE_PAGE: Final = {"hx-retarget": "#main", "hx-reselect": "#main", "hx-reswap": "outerHTML"}


class ProblemPages:
    """Makes pages of the problems that are answered where people have asked."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not is_page(scope["path"]):
            return await self.app(scope, receive, send)
        start: Message | None = None
        body = b""

        async def hold_problems(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                if Headers(scope=message).get("content-type") == MEDIA:
                    start = message
                    return
            elif start is not None:
                body += message.get("body", b"")
                return
            await send(message)

        await self.app(scope, receive, hold_problems)
        if start is not None:
            problem = msgspec.json.decode(body, type=Problem)
            headers = Headers(scope=start)
            response = await problem_page(Request(scope, receive), problem, start["status"])
            for name in ("retry-after", "allow"):
                if name in headers:
                    response.headers[name] = headers[name]
            await response(scope, receive, send)
        return None


def is_page(path: str) -> bool:
    """Whether people, and not programs, ask for what is at an address."""
    return path == HOME or path.startswith(f"{HOME}/")


async def problem_page(request: Request, problem: Problem, status: int) -> Response:
    """The page that tells a problem."""
    visit: Guest | None = None
    if status < 500:
        visit = await visit_of(request)
    if visit is None:
        visit = Guest(request, Form(), cookies.visitor_of(request))
    response = visit.page(
        "problem.html",
        status,
        kind=problem.type.replace("-", "_"),
        detail=_detail(visit, problem),
        said="",
    )
    if visit.is_partial:
        response.headers.update(_IN_THE_PAGE)
    return response


def _detail(visit: Guest, problem: Problem) -> str:
    """What is wrong in particular, in the language of the visitor; empty if nobody has said so."""
    if problem.type not in _TELLING or problem.detail == _NOTHING_THERE:
        return ""
    return (
        problem.detail if visit.t.language == "en" else find_sentence(visit.t, problem.detail) or ""
    )

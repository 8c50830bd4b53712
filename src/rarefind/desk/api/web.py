"""The app of the web process: what people and their programs do at a desk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from rarefind._core.text import visible
from rarefind.desk.alerts import CaseError, NoSuchCase
from rarefind.desk.api import (
    audit,
    blocks,
    cases,
    changes,
    claims,
    entities,
    health,
    lists,
    models,
    orders,
    page,
    rules,
    settings,
    token_routes,
    transactions,
    webhooks,
)
from rarefind.desk.api.door import WebDoor
from rarefind.desk.api.errors import answer_http_error, answerer_of_errors, route_of
from rarefind.desk.api.limits import BodyLimit
from rarefind.desk.api.parameters import KeptSlashes
from rarefind.desk.api.problems import ProblemError, answer_problem, problem_response
from rarefind.desk.api.secure import SafeHeaders
from rarefind.desk.api.web_metrics import Counted
from rarefind.desk.control import ControlConflict, ControlError, NotThere
from rarefind.desk.database import CommitUnknown, DatabaseUnavailable
from rarefind.desk.labels import ClaimError, NoSuchClaim
from rarefind.desk.pages.errors import ProblemPages, is_page, problem_page
from rarefind.desk.pages.site import ROUTERS
from rarefind.desk.pages.visit import SignInNeeded, sign_in_first
from rarefind.desk.settings import SettingError
from rarefind.desk.webhooks import AddressError, NoSuchWebhook, WebhookError
from rarefind.rules import RuleError

_RESOURCES = (
    cases,
    claims,
    transactions,
    entities,
    rules,
    lists,
    blocks,
    models,
    changes,
    orders,
    settings,
    webhooks,
    token_routes,
    audit,
    health,
    page,
)
#: Where files are sent to, which are not read into memory.
_UPLOADS = frozenset({"/models"})
#: What each error of the domain is to who has asked, and which part of the request it speaks of.
_KINDS: dict[type[Exception], tuple[str, str]] = {
    NoSuchCase: ("not-found", "case"),
    CaseError: ("conflict", ""),
    NoSuchClaim: ("not-found", "claim"),
    ClaimError: ("conflict", ""),
    NotThere: ("not-found", ""),
    ControlConflict: ("conflict", ""),
    ControlError: ("invalid", ""),
    RuleError: ("invalid", "text"),
    NoSuchWebhook: ("not-found", "webhook"),
    WebhookError: ("invalid", "events"),
    AddressError: ("invalid", "url"),
    SettingError: ("invalid", "value"),
}


def web_app(
    door: WebDoor, run: Callable[[], AbstractAsyncContextManager[None]] | None = None
) -> FastAPI:
    """The app; ``run`` surrounds its life, to open and close what the door needs."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if run is None:
            yield
        else:
            async with run():
                yield

    async def answer_unavailable(request: Request, error: Exception) -> Response:
        door.log.seldom("unavailable", route=route_of(request), detail=str(error))
        if isinstance(error, CommitUnknown):
            # No time after which to send it again: not all that people do may be done twice.
            detail = (
                "A database was lost while it stored this: it may be stored, or not. Look before "
                "you send it again."
            )
            return problem_response(ProblemError("unavailable", detail))
        detail = (
            "A database of the desk cannot be used now, and nothing was stored. Send it again in "
            "1 s."
        )
        return problem_response(ProblemError("unavailable", detail, retry_after=1))

    tell_mistake = answerer_of_errors(door.log)

    async def answer_mistake(request: Request, error: Exception) -> Response:
        answer = tell_mistake(request, error)
        if is_page(request.url.path):
            problem = ProblemError("internal", "")
            return await problem_page(request, problem.body, problem.status)
        return answer

    app = FastAPI(
        openapi_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
        middleware=[
            Middleware(Counted, metrics=door.metrics),
            Middleware(SafeHeaders),
            Middleware(ProblemPages),
            Middleware(KeptSlashes),
            Middleware(BodyLimit, limit=door.schema.limits.body, but=_UPLOADS),
        ],
        exception_handlers={
            ProblemError: answer_problem,
            RequestValidationError: _answer_parameter,
            HTTPException: answer_http_error,
            DatabaseUnavailable: answer_unavailable,
            SignInNeeded: sign_in_first,
            Exception: answer_mistake,
        }
        | {kind: _answerer(*problem) for kind, problem in _KINDS.items()},
    )
    app.state.door = door
    for resource in _RESOURCES:
        app.include_router(resource.router)
    for router in ROUTERS:
        app.include_router(router)
    return app


def _answerer(kind: str, where: str) -> Any:
    async def answer(_: Request, error: Exception) -> Response:
        return problem_response(ProblemError(kind, str(error), where))

    return answer


async def _answer_parameter(_: Request, error: Exception) -> Response:
    """Answer a path or a query that is not right: the first thing that is wrong with it."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = visible(str(first["loc"][-1]))
    what = str(first["msg"])
    detail = f"The parameter {where!r} is not right: {what[:1].lower()}{visible(what[1:])}."
    return problem_response(ProblemError("invalid", detail, where))

"""Routes of the web process: who may use each, what it takes and gives, and an example."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

from rarefind import __version__
from rarefind.desk import messages
from rarefind.desk.api.openapi import PROBLEM, problem_answers
from rarefind.desk.api.people import may
from rarefind.desk.api.roles import Action, roles_for

_REFERENCE: Final = "#/components/schemas/{name}"
# Examples pass through FastAPI as texts: it would leave out what is null.
_GIVES, _SENDS = "x-gives", "x-sends"
#: What any route that takes a token may answer.
_ALWAYS: Final = (401, 403, 408, 413, 422, 429, 500, 503)
_WITH_BODY: Final = (400, 415)


def described(
    action: Action,
    *,
    gives: Any,
    example: Any,
    takes: Any = None,
    sends: Any = None,
    upload: Any = None,
    problems: tuple[int, ...] = (),
) -> dict[str, Any]:
    """What a decorator of FastAPI is told of a route; no route of a resource goes without.

    Parameters
    ----------
    action : Action
        What one must be allowed to do.
    gives, takes : type
        The message that is answered, and the one that is sent.
    example, sends : object
        An example of each.
    upload : dict
        The schema of a file that is sent instead of a message.
    problems : tuple of int
        Statuses of this route alone.
    """
    statuses = sorted({*_ALWAYS, *problems, *(() if takes is None else _WITH_BODY)})
    extra: dict[str, Any] = {"security": [{"token": []}], "x-roles": list(roles_for(action))}
    if takes is not None:
        extra["requestBody"] = {"required": True, "content": _content(takes)}
        extra[_SENDS] = _text(sends)
    if upload is not None:
        content = {"application/octet-stream": {"schema": upload}}
        extra["requestBody"] = {"required": True, "content": content}
    return {
        "dependencies": [Depends(may(action))],
        "response_class": Response,
        "response_model": None,
        "openapi_extra": extra | {_GIVES: _text(example)},
        "responses": {200: {"description": "Done.", "content": _content(gives)}}
        | problem_answers(*statuses),
    }


def open_to_all(gives: Any, example: Any, *problems: int) -> dict[str, Any]:
    """What is told of a route that needs no token, since it has no personal data."""
    return {
        "response_class": Response,
        "response_model": None,
        "openapi_extra": {_GIVES: _text(example)},
        "responses": {200: {"description": "Yes.", "content": _content(gives)}}
        | problem_answers(408, 413, 422, 500, *problems),
    }


def json_answer(message: Any) -> Response:
    """A message as an answer."""
    return Response(msgspec.json.encode(message), media_type="application/json")


def describe_web(app: FastAPI, name: str) -> dict[str, Any]:
    """The OpenAPI description of the web process of a desk."""
    found: dict[str, Any] = get_openapi(
        title=f"rarefind desk {name}: cases, rules, models",
        version=__version__,
        openapi_version="3.1.0",
        description="What people do at a desk. Who acts is the name of the token.",
        routes=app.routes,
    )
    kinds = [getattr(messages, each) for each in messages.__all__]
    _, schemas = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    for methods in found["paths"].values():
        for route in methods.values():
            _put_examples(route)
    found["components"] = {
        "schemas": schemas | {"Problem": PROBLEM},
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    }
    return found


def _content(kind: Any) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_REFERENCE)
    return {"application/json": {"schema": schema}}


def _text(example: Any) -> str:
    return msgspec.json.encode(example).decode()


def _put_examples(route: dict[str, Any]) -> None:
    """Put a route's examples where they belong."""
    if _GIVES in route:
        content = route["responses"]["200"]["content"]["application/json"]
        content["example"] = msgspec.json.decode(route.pop(_GIVES))
    if _SENDS in route:
        content = route["requestBody"]["content"]["application/json"]
        content["example"] = msgspec.json.decode(route.pop(_SENDS))

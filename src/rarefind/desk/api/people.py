"""Who sends a request to the web process: known by a token, allowed by its role."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from rarefind._core.text import visible
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.roles import Action

if TYPE_CHECKING:
    from rarefind.desk.api.door import WebDoor


def may(action: Action) -> Callable[[Request], Coroutine[Any, Any, None]]:
    """What lets a request through whose token may do something, at the rate that it may."""

    # Not in a thread: what is counted here is counted by one.
    async def check(request: Request) -> None:
        door: WebDoor = request.app.state.door
        authorization = request.headers.get("authorization")
        sent = None if authorization is None else authorization.encode("latin-1", "replace")
        token = door.tokens.check(sent, action)
        door.limit.spend(token.name)
        _check_query(request)
        request.state.person = token.name

    return check


def _check_query(request: Request) -> None:
    """Raise on a parameter that the route does not have: left out silently, it would mislead."""
    dependant = request.scope["route"].dependant
    known = [field.alias for field in dependant.query_params]
    for name in request.query_params:
        if name not in known:
            shown = visible(name[:60])
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ProblemError(
                "invalid", f"This address has no parameter {shown!r}: {takes}.", shown
            )


def _person(request: Request) -> str:
    name: str = request.state.person
    return name


#: The name of the token with which a request was sent.
Person: TypeAlias = Annotated[str, Depends(_person)]

"""Tokens: made, listed and revoked by an administrator."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import examples
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import Name
from rarefind.desk.api.people import Person
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.sent import sent
from rarefind.desk.api.tokens import TokenRow
from rarefind.desk.api.views import instant, instant_or_none
from rarefind.desk.messages import MadeToken, NewToken, TokenSummary

router = APIRouter(tags=["tokens"])


@router.get("/tokens", **described("manage", gives=list[TokenSummary], example=[examples.TOKEN]))
def list_tokens(door: Door) -> Response:
    """List all tokens by their names, also those that were revoked; none can be read again."""
    return json_answer([_summary(row) for row in door.tokens.rows()])


@router.post(
    "/tokens",
    **described(
        "manage",
        gives=MadeToken,
        example=examples.MADE_TOKEN,
        takes=NewToken,
        sends=examples.NEW_TOKEN,
        problems=(409,),
    ),
)
def make_token(door: Door, person: Person, new: Annotated[NewToken, sent(NewToken)]) -> Response:
    """Make a token; it is shown this once."""
    if any(row.name == new.name for row in door.tokens.rows()):
        raise ProblemError(
            "conflict", f"There is a token {new.name!r}, or was one: choose another name.", "name"
        )
    try:
        token = door.tokens.make(new.name, new.role, door.clock.now(), person)
    except ValueError as error:
        raise ProblemError("invalid", str(error), "name") from None
    return json_answer(MadeToken(name=new.name, role=new.role, token=token))


@router.post(
    "/tokens/{name}/revoke",
    **described("manage", gives=TokenSummary, example=examples.TOKEN, problems=(404,)),
)
def revoke_token(door: Door, name: Name, person: Person) -> Response:
    """End a token: within a second no process of the desk takes it."""
    if _find(door, name).revoked is None:
        door.tokens.revoke(name, door.clock.now(), person)
    return json_answer(_summary(_find(door, name)))


def _find(door: WebDoor, name: str) -> TokenRow:
    for row in door.tokens.rows():
        if row.name == name:
            return row
    raise ProblemError("not-found", f"There is no token {name!r}.")


def _summary(row: TokenRow) -> TokenSummary:
    return TokenSummary(
        name=row.name,
        role=row.role,
        made=instant(row.made),
        revoked=instant_or_none(row.revoked),
    )

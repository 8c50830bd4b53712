"""Tokens: made, listed and revoked by an administrator."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import examples
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import AfterName, Name, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.sent import sent
from rarefind.desk.api.tokens import TokenRow
from rarefind.desk.api.views import instant, instant_or_none
from rarefind.desk.messages import MadeToken, NewToken, TokenPage, TokenSummary

router = APIRouter(tags=["tokens"])


@router.get("/tokens", **described("manage", gives=TokenPage, example=examples.TOKENS))
def list_tokens(door: Door, after: AfterName = "", limit: Rows = 100) -> Response:
    """List tokens by their names, also those that were revoked; none can be read again."""
    found = [_summary(row) for row in door.tokens.rows(after=after, limit=limit)]
    return json_answer(TokenPage(tokens=found, next=next_page(found, limit, attrgetter("name"))))


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
    if door.tokens.find(new.name) is not None:
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
    row = door.tokens.find(name)
    if row is None:
        raise ProblemError("not-found", f"There is no token {name!r}.")
    return row


def _summary(row: TokenRow) -> TokenSummary:
    return TokenSummary(
        name=row.name,
        role=row.role,
        made=instant(row.made),
        revoked=instant_or_none(row.revoked),
    )

"""Claims: recorded when a customer calls, answered by an expert."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import examples
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import (
    MOST_ROWS,
    After,
    ClaimStateFilter,
    Number,
    Rows,
    next_page,
)
from rarefind.desk.api.people import Person
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.sent import sent
from rarefind.desk.messages import ClaimPage, ClaimSummary, NewClaim

router = APIRouter(tags=["claims"])

_OneOrMany = NewClaim | Annotated[list[NewClaim], msgspec.Meta(min_length=1, max_length=MOST_ROWS)]


@router.get("/claims", **described("read", gives=ClaimPage, example=examples.CLAIMS))
def list_claims(
    door: Door, state: ClaimStateFilter = None, after: After = 0, limit: Rows = 100
) -> Response:
    """List claims, the oldest first; new ones wait for an answer."""
    found = door.claims.page(state, after=after, limit=limit)
    following = next_page(found, limit, attrgetter("id"))
    return json_answer(
        ClaimPage(claims=[door.views.claim(claim) for claim in found], next=following)
    )


@router.post(
    "/claims",
    **described(
        "check",
        gives=ClaimSummary | list[ClaimSummary],
        example=examples.CLAIM,
        takes=_OneOrMany,
        sends=examples.NEW_CLAIM,
    ),
)
def make_claims(
    door: Door, person: Person, claims: Annotated[NewClaim | list[NewClaim], sent(_OneOrMany)]
) -> Response:
    """Record that a customer denies a transaction, or a list of such claims.

    The same claim again is the same claim. If a transaction of a list is not known, none of its
    claims is recorded.
    """
    if isinstance(claims, NewClaim):
        _check_known(door, [claims], "transaction")
        found = door.claims.make(claims.transaction, claims.note, person)
        return json_answer(door.views.claim(found))
    _check_known(door, claims, "[{}].transaction")
    made = [door.claims.make(each.transaction, each.note, person) for each in claims]
    return json_answer([door.views.claim(claim) for claim in made])


@router.post(
    "/claims/{claim}/confirm",
    **described(
        "confirm", gives=ClaimSummary, example=examples.ANSWERED_CLAIM, problems=(404, 409)
    ),
)
def confirm_claim(door: Door, claim: Number, person: Person) -> Response:
    """Answer that a claim is right: its transaction is labelled fraud."""
    return json_answer(door.views.claim(door.claims.confirm(claim, person)))


@router.post(
    "/claims/{claim}/reject",
    **described(
        "confirm", gives=ClaimSummary, example=examples.ANSWERED_CLAIM, problems=(404, 409)
    ),
)
def reject_claim(door: Door, claim: Number, person: Person) -> Response:
    """Answer that a claim is not right: its transaction gets no label by it."""
    return json_answer(door.views.claim(door.claims.reject(claim, person)))


def _check_known(door: WebDoor, claims: list[NewClaim], where: str) -> None:
    known = door.ledger.find([each.transaction for each in claims])
    for number, each in enumerate(claims):
        if each.transaction not in known:
            raise ProblemError(
                "invalid",
                f"The desk has no transaction {each.transaction!r}: correct the identifier.",
                where.format(number),
            )

"""A transaction: what was decided, and why."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import examples
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import TransactionName
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.messages import DecidedTransaction

router = APIRouter(tags=["transactions"])


@router.get(
    "/transactions/{transaction}",
    **described("read", gives=DecidedTransaction, example=examples.DECIDED, problems=(404,)),
)
def show_transaction(door: Door, transaction: TransactionName) -> Response:
    """Show a transaction, its features as they were, and what was decided by what."""
    entries = list(door.ledger.find([transaction]).values())
    if not entries:
        raise ProblemError("not-found", f"The desk has no transaction {transaction!r}.")
    return json_answer(door.views.decided(door.ledger, entries)[0])

"""A card, a terminal: its transactions, and all that is kept of it."""

from __future__ import annotations

from operator import attrgetter

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples, examples
from rarefind.desk.api.control_views import order_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import Before, EntityName, Key, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.messages import EntityExport, ExportedCase, OrderSummary, TransactionPage

router = APIRouter(tags=["entities"])


@router.get(
    "/entities/{entity}/{key}",
    **described("read", gives=TransactionPage, example=examples.TRANSACTIONS, problems=(404,)),
)
def list_entity_transactions(
    door: Door, entity: EntityName, key: Key, before: Before = None, limit: Rows = 100
) -> Response:
    """List the last transactions of an entity, the newest first."""
    place = _place(door, entity)
    found = door.ledger.read_entity(place, key, before=before, limit=limit)
    following = next_page(found, limit, attrgetter("sequence"))
    transactions = [door.views.transaction(entry) for entry in found]
    return json_answer(
        TransactionPage(entity=entity, key=key, transactions=transactions, next=following)
    )


@router.get(
    "/entities/{entity}/{key}/export",
    **described("export", gives=EntityExport, example=examples.EXPORT, problems=(404,)),
)
def export_entity(
    door: Door,
    entity: EntityName,
    key: Key,
    person: Person,
    before: Before = None,
    limit: Rows = 1_000,
) -> Response:
    """Give all that is kept of an entity, such as to the person who asks for it.

    It is written in the log who has asked, and of which rows of the ledger.
    """
    return json_answer(read_export(door, entity, key, person, before, limit))


def read_export(
    door: WebDoor, entity: str, key: str, person: str, before: int | None, limit: int
) -> EntityExport:
    """Read all that is kept of an entity, and write down who has asked for it."""
    place, views = _place(door, entity), door.views
    found = door.ledger.read_entity(place, key, before=before, limit=limit)
    _record_export(door, entity, person, [entry.sequence for entry in found])
    is_checked = entity == door.schema.alerts.entity
    cases = door.lists.of_entity(key) if is_checked and before is None else []
    return EntityExport(
        entity=entity,
        key=key,
        transactions=views.decided(door.ledger, found),
        claims=[views.claim(each) for each in door.claims.about([e.id for e in found])],
        cases=[
            ExportedCase(
                case=views.case(case),
                verdicts=views.verdicts(door.lists.verdicts(case.id)),
                notes=views.notes(door.cases.notes.of(case.id)),
            )
            for case in cases
        ],
        next=next_page(found, limit, attrgetter("sequence")),
    )


@router.post(
    "/entities/{entity}/{key}/erase",
    **described("manage", gives=OrderSummary, example=control_examples.ORDER, problems=(404,)),
)
def erase_entity(door: Door, entity: EntityName, key: Key, person: Person) -> Response:
    """Ask to erase who made the transactions of an entity, what was sent, and its features.

    The decision process does it, after approval where the desk wants a second person; look at the
    order to see when it is done. Times, amounts, identifiers and outcomes stay.
    """
    _place(door, entity)
    return json_answer(order_summary(door.control.orders.erase(entity, key, person)))


def _record_export(door: WebDoor, entity: str, person: str, rows: list[int]) -> None:
    # The log keeps for ever what it has: it names rows of the ledger, from which the key can be
    # erased, and not the key.
    detail = {"rows": len(rows), "first": rows[-1], "last": rows[0]} if rows else {"rows": 0}
    with door.database.write() as writer:
        door.control.audit.add(writer, person, "export", entity, detail)


def _place(door: WebDoor, entity: str) -> int:
    names = list(door.schema.entities)
    if entity not in names:
        raise ProblemError(
            "not-found", f"The entities of this desk are {', '.join(names)}.", "entity"
        )
    return names.index(entity)

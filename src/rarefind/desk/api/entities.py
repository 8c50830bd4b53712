"""A card, a terminal: its transactions, and all that is kept of it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import examples
from rarefind.desk.api.described import described, told
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import Before, EntityName, Key, Rows
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.messages import EntityExport, ExportedCase, TransactionPage

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
    following = found[-1].sequence if len(found) == limit else None
    transactions = [door.views.transaction(entry) for entry in found]
    return told(TransactionPage(entity=entity, key=key, transactions=transactions, next=following))


@router.get(
    "/entities/{entity}/{key}/export",
    **described("export", gives=EntityExport, example=examples.EXPORT, problems=(404,)),
)
def export_entity(
    door: Door, entity: EntityName, key: Key, before: Before = None, limit: Rows = 1_000
) -> Response:
    """Give all that is kept of an entity, such as to the person who asks for it."""
    place, views = _place(door, entity), door.views
    found = door.ledger.read_entity(place, key, before=before, limit=limit)
    is_checked = entity == door.schema.alerts.entity
    cases = door.lists.of_entity(key) if is_checked and before is None else []
    return told(
        EntityExport(
            entity=entity,
            key=key,
            transactions=views.decided(door.ledger, found),
            claims=[views.claim(each) for each in door.claims.about([e.id for e in found])],
            cases=[
                ExportedCase(
                    case=views.case(case), verdicts=views.verdicts(door.cases.verdicts(case.id))
                )
                for case in cases
            ],
            next=found[-1].sequence if len(found) == limit else None,
        )
    )


def _place(door: WebDoor, entity: str) -> int:
    names = list(door.schema.entities)
    if entity not in names:
        raise ProblemError(
            "not-found", f"The entities of this desk are {', '.join(names)}.", "entity"
        )
    return names.index(entity)

"""Search: a card, a transaction or a case, by what somebody has written down of it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/search"
in_menu(20, "search.title", PATH, "read")


@router.get(PATH)
def search(visit: Annotated[Visit, needs("read")]) -> Response:
    """Look for a text; nobody who was erased is found."""
    text = visit.request.query_params.get("q", "")[:1_000]
    place = list(visit.door.schema.entities).index(visit.door.schema.alerts.entity)
    return visit.page(
        "search.html",
        text=text.replace("\0", ""),
        found=visit.door.figures.search.find(text) if text.strip() else None,
        entity=visit.door.schema.alerts.entity,
        place=place,
    )

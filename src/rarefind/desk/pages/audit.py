"""The audit log: who did what and when, the newest first."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api.parameters import Before
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/audit"
_ROWS: Final = 50
in_menu(60, "audit.title", PATH, "audit", "desk")


@router.get(PATH)
def show_audit(
    visit: Annotated[Visit, needs("audit")],
    before: Before = None,
    person: str = "",
    action: str = "",
) -> Response:
    """Show the audit log, of all or of one person, of everything or of one kind of change."""
    audit = visit.door.control.audit
    # One more than is shown says whether there is an older one.
    rows = audit.newest(before, person, action, _ROWS + 1)
    older = ""
    if len(rows) > _ROWS:
        rows.pop()
        older = _address(before=rows[-1].number, person=person, action=action)
    return visit.page(
        "audit.html",
        rows=[(row, _lines(row.detail)) for row in rows],
        people=audit.people(),
        actions=audit.actions(),
        person=person,
        action=action,
        newer=_address(person=person, action=action) if before is not None else "",
        older=older,
        last=str(audit.last),
    )


def _address(**query: str | int) -> str:
    wanted = {name: value for name, value in query.items() if value}
    return f"{PATH}?{urlencode(wanted)}" if wanted else PATH


def _lines(detail: dict[str, Any]) -> list[tuple[str, str]]:
    """What else there is to say of a change: names and values as text."""
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in detail.items()
        if value not in (None, "", {}, [])
    ]

"""The audit log: who did what and when, the newest first."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api.parameters import Before
from rarefind.desk.control import AuditVerification
from rarefind.desk.ledger import Position
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
    about: str = "",
) -> Response:
    """Show the audit log, of all or of one person, of everything or of one kind of change."""
    return _page(visit, before=before, person=person, action=action, about=about)


@router.post(f"{PATH}/verify")
def verify_audit(visit: Annotated[Visit, needs("audit")]) -> Response:
    """Look whether every row of the audit log is as it was written."""
    noted = visit.form["noted"].strip()
    try:
        expected = Position.from_text(noted) if noted else None
    except ValueError:
        return _page(visit, 422, errors={"noted": visit.t("audit.bad_noted")})
    return _page(visit, verified=visit.door.control.audit.verify(expected))


def _page(
    visit: Visit,
    status: int = 200,
    *,
    before: int | None = None,
    person: str = "",
    action: str = "",
    about: str = "",
    errors: dict[str, str] | None = None,
    verified: AuditVerification | None = None,
) -> Response:
    about = about.replace("\0", "")
    wanted = {"person": person, "action": action, "about": about}
    audit = visit.door.control.audit
    # One more than is shown says whether there is an older one.
    rows = audit.newest(before, person, action, about, _ROWS + 1)
    older = ""
    if len(rows) > _ROWS:
        rows.pop()
        older = _address(before=rows[-1].number, **wanted)
    return visit.page(
        "audit.html",
        status,
        rows=[(row, _lines(row.detail)) for row in rows],
        people=audit.people(),
        actions=audit.actions(),
        person=person,
        action=action,
        about=about,
        newer=_address(**wanted) if before is not None else "",
        older=older,
        errors=errors or {},
        verified=verified,
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

"""The log of all that people have changed."""

from __future__ import annotations

from operator import attrgetter

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import audit_entry
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import After, Rows, next_page
from rarefind.desk.messages import AuditPage

router = APIRouter(tags=["audit"])


@router.get("/audit", **described("audit", gives=AuditPage, example=examples.AUDIT))
def read_audit(door: Door, after: After = 0, limit: Rows = 100) -> Response:
    """Read who did what and when, the oldest first."""
    audit = door.control.audit
    found = audit.read(after, limit)
    return json_answer(
        AuditPage(
            rows=[audit_entry(row) for row in found],
            next=next_page(found, limit, attrgetter("number")),
            last=str(audit.last),
        )
    )

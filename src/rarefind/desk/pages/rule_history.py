"""The versions of a rule with what each has changed, and rules that the desk proposes."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.control import changes_of, text_diff
from rarefind.desk.pages.rule_form import SHARES
from rarefind.desk.pages.visit import Visit, needs

router = APIRouter(include_in_schema=False)

_PROPOSALS: Final = "/desk/rules/proposals"


@router.get("/desk/rules/history")
def show_history(visit: Annotated[Visit, needs("read")], name: str = "") -> Response:
    """Show all versions of a rule: who has changed what, when and why."""
    versions = visit.door.control.rules.history(name)
    rows = [
        (
            after,
            text_diff(before.text if before is not None else "", after.text),
            changes_of(before, after),
        )
        for before, after in pairwise([None, *versions])
        if after is not None
    ]
    return visit.page(
        "rule_history.html", name=name, rows=rows[::-1], last=versions[-1].version, shares=SHARES
    )


@router.get(_PROPOSALS)
def show_proposals(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show rules learnt from confirmed frauds, with what they are worth on later weeks."""
    proposals = visit.door.proposals
    state, made, note = proposals.state
    return visit.page(
        "rule_proposals.html", found=proposals.all(), state=state, made=made, note=note
    )


@router.post(_PROPOSALS)
def ask_for_proposals(visit: Annotated[Visit, needs("rule")]) -> Response:
    """Ask for new proposals; the worker makes them within minutes."""
    visit.door.proposals.ask(visit.door.clock.now())
    visit.door.control.audit.record(visit.person, "ask for proposals", "rules")
    return visit.go(_PROPOSALS, said="proposals_asked")

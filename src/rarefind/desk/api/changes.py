"""Changes of rules, models and settings that wait for a second person."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, Literal

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import change_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import LARGEST, Before, Number, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.roles import Action
from rarefind.desk.control import ChangeKind
from rarefind.desk.messages import ChangePage, ChangeSummary

router = APIRouter(tags=["changes"])

#: Who may approve a change is who may ask for it.
APPROVED_BY: Final[dict[ChangeKind, Action]] = {
    "rule": "rule",
    "model": "model",
    "setting": "manage",
}


@router.get("/changes", **described("read", gives=ChangePage, example=examples.CHANGES))
def list_changes(
    door: Door,
    state: Literal["waiting", "approved", "rejected"] = "waiting",
    before: Before = None,
    limit: Rows = 100,
) -> Response:
    """List changes that were asked for and wait, or were approved or rejected."""
    rows = door.control.requests.in_state(state, before=before or LARGEST, limit=limit)
    found = [change_summary(row) for row in rows]
    return json_answer(ChangePage(changes=found, next=next_page(found, limit, attrgetter("id"))))


def _routes(kind: ChangeKind) -> None:
    def approve(door: Door, change: Number, person: Person) -> Response:
        found = door.control.requests.approve(change, person, kind)
        door.follow_settings()
        return json_answer(change_summary(found))

    def reject(door: Door, change: Number, person: Person) -> Response:
        return json_answer(change_summary(door.control.requests.reject(change, person, kind)))

    approve.__doc__ = f"Make the change of a {kind} that another person has asked for."
    reject.__doc__ = f"Answer that a change of a {kind} is not to be made, or take it back."
    _add(kind, "approve", approve)
    _add(kind, "reject", reject)


def _add(kind: ChangeKind, answer: str, function: Callable[..., Any]) -> None:
    router.post(
        f"/changes/{kind}s/{{change}}/{answer}",
        name=f"{answer}_{kind}_change",
        **described(
            APPROVED_BY[kind], gives=ChangeSummary, example=examples.CHANGE, problems=(404, 409)
        ),
    )(function)


for _kind in APPROVED_BY:
    _routes(_kind)

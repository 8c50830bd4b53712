"""Named lists that rules ask: countries, merchants, cards."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import list_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import MOST_ROWS, AfterName, Name, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.sent import sent
from rarefind.desk.messages import ListNames, ListSummary, ListValues

router = APIRouter(tags=["lists"])

_CHANGED = described(
    "rule",
    gives=ListSummary,
    example=examples.LIST,
    takes=ListValues,
    sends=examples.VALUES,
    problems=(404, 409),
)


@router.get("/lists", **described("read", gives=ListNames, example=examples.LISTS))
def list_lists(door: Door, after: AfterName = "", limit: Rows = 100) -> Response:
    """List the names of the lists."""
    return json_answer(_names(door, after, limit))


@router.get(
    "/lists/{name}",
    **described("read", gives=ListSummary, example=examples.LIST, problems=(404,)),
)
def show_list(door: Door, name: Name, after: AfterName = "", limit: Rows = MOST_ROWS) -> Response:
    """Show a list with its values, or with those after one."""
    return json_answer(_shown(door, name, after, limit))


@router.put("/lists/{name}", **_CHANGED)
def save_list(
    door: Door, name: Name, person: Person, new: Annotated[ListValues, sent(ListValues)]
) -> Response:
    """Make a list, or give it other values."""
    door.control.lists.save(name, new.values, person)
    return json_answer(_shown(door, name))


@router.post("/lists/{name}/add", **_CHANGED)
def add_to_list(
    door: Door, name: Name, person: Person, new: Annotated[ListValues, sent(ListValues)]
) -> Response:
    """Add values to a list; those that are on it stay as they are."""
    door.control.lists.add(name, new.values, person)
    return json_answer(_shown(door, name))


@router.post("/lists/{name}/remove", **_CHANGED)
def remove_from_list(
    door: Door, name: Name, person: Person, old: Annotated[ListValues, sent(ListValues)]
) -> Response:
    """Take values off a list; those that are not on it change nothing."""
    door.control.lists.remove(name, old.values, person)
    return json_answer(_shown(door, name))


@router.delete(
    "/lists/{name}",
    **described("rule", gives=ListNames, example=examples.LISTS, problems=(404, 409)),
)
def delete_list(door: Door, name: Name, person: Person) -> Response:
    """Delete a list that no rule asks; answers the names that are left."""
    door.control.lists.delete(name, person)
    return json_answer(_names(door))


def _names(door: WebDoor, after: str = "", limit: int = MOST_ROWS) -> ListNames:
    found = door.control.lists.names(after=after, limit=limit)
    return ListNames(names=found, next=next_page(found, limit, str))


def _shown(door: WebDoor, name: str, after: str = "", limit: int = MOST_ROWS) -> ListSummary:
    return list_summary(door.control.lists.page(name, after=after, limit=limit), limit)

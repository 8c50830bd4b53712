"""Named lists that rules ask: countries, merchants, cards."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import list_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import Name
from rarefind.desk.api.people import Person
from rarefind.desk.api.sent import sent
from rarefind.desk.messages import ListSummary, ListValues

router = APIRouter(tags=["lists"])

_CHANGED = described(
    "rule",
    gives=ListSummary,
    example=examples.LIST,
    takes=ListValues,
    sends=examples.VALUES,
    problems=(404, 409),
)


@router.get("/lists", **described("read", gives=list[str], example=["countries"]))
def list_lists(door: Door) -> Response:
    """List the names of all lists."""
    return json_answer(door.control.lists.names())


@router.get(
    "/lists/{name}",
    **described("read", gives=ListSummary, example=examples.LIST, problems=(404,)),
)
def show_list(door: Door, name: Name) -> Response:
    """Show a list with its values."""
    return json_answer(list_summary(door.control.lists.get(name)))


@router.put("/lists/{name}", **_CHANGED)
def save_list(
    door: Door, name: Name, person: Person, new: Annotated[ListValues, sent(ListValues)]
) -> Response:
    """Make a list, or give it other values."""
    return json_answer(list_summary(door.control.lists.save(name, new.values, person)))


@router.post("/lists/{name}/add", **_CHANGED)
def add_to_list(
    door: Door, name: Name, person: Person, new: Annotated[ListValues, sent(ListValues)]
) -> Response:
    """Add values to a list; those that are on it stay as they are."""
    return json_answer(list_summary(door.control.lists.add(name, new.values, person)))


@router.post("/lists/{name}/remove", **_CHANGED)
def remove_from_list(
    door: Door, name: Name, person: Person, old: Annotated[ListValues, sent(ListValues)]
) -> Response:
    """Take values off a list; those that are not on it change nothing."""
    return json_answer(list_summary(door.control.lists.remove(name, old.values, person)))


@router.delete(
    "/lists/{name}",
    **described("rule", gives=list[str], example=["countries"], problems=(404, 409)),
)
def delete_list(door: Door, name: Name, person: Person) -> Response:
    """Delete a list that no rule asks; answers the names that are left."""
    door.control.lists.delete(name, person)
    return json_answer(door.control.lists.names())

"""Settings of desk.toml that are changed while the desk runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import setting_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import Name
from rarefind.desk.api.people import Person
from rarefind.desk.api.sent import sent
from rarefind.desk.messages import NewSetting, SettingSummary

router = APIRouter(tags=["settings"])


@router.get(
    "/settings", **described("manage", gives=list[SettingSummary], example=[examples.SETTING])
)
def list_settings(door: Door) -> Response:
    """List the settings that can be changed: what counts, and what desk.toml says."""
    return json_answer([setting_summary(row) for row in door.control.settings.all()])


@router.put(
    "/settings/{name}",
    **described(
        "manage",
        gives=SettingSummary,
        example=examples.SETTING,
        takes=NewSetting,
        sends=examples.NEW_SETTING,
        problems=(409,),
    ),
)
def change_setting(
    door: Door, name: Name, person: Person, new: Annotated[NewSetting, sent(NewSetting)]
) -> Response:
    """Let a setting have another value from now on; within a second all processes go by it.

    Where the desk wants a second person, one has to approve to end that, and to keep transactions
    for another time.
    """
    found = door.control.settings.change(name, new.value, person)
    door.follow_settings()
    return json_answer(setting_summary(found))


@router.delete(
    "/settings/{name}",
    **described("manage", gives=SettingSummary, example=examples.SETTING, problems=(409,)),
)
def reset_setting(door: Door, name: Name, person: Person) -> Response:
    """Let a setting be again what desk.toml says."""
    found = door.control.settings.reset(name, person)
    door.follow_settings()
    return json_answer(setting_summary(found))

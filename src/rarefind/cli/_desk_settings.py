"""``rarefind desk settings``, ``set`` and ``reset``: what is changed without a restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath
from rarefind.cli._desk_control import Person, open_control, person_or_user, time_of
from rarefind.cli._options import AsJson

if TYPE_CHECKING:
    from rarefind.desk.control import SettingRow

SettingName = Annotated[
    str, typer.Argument(metavar="NAME", help="The setting, such as alerts.budget.")
]


def list_settings(path: DeskPath, database: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the settings that can be changed: what counts, and what desk.toml says."""
    with open_control(path, database) as control:
        rows = control.settings.all()
    if as_json:
        found = [{"name": row.name, "value": row.value, "declared": row.declared} for row in rows]
        typer.echo(json.dumps(found, indent=2))
        return
    for row in rows:
        typer.echo(visible(_line(row)))


def change_setting(
    path: DeskPath,
    name: SettingName,
    value: Annotated[str, typer.Argument(help="What it shall be, as in desk.toml: 40, 5%, 30min.")],
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Change a setting; a desk that runs goes by it within a second.

    Where the desk wants a second person, to end that and to keep transactions for another time
    waits until another one has typed it, too.
    """
    from rarefind.desk.settings import read_setting

    who = person_or_user(person)
    with open_control(path, database) as control:
        wanted, known = read_setting(name, value), control.settings.get(name)
        waiting = known.waiting
        if waiting is not None and waiting.asked_by != who and waiting.content["is"] == wanted:
            control.requests.approve(waiting.id, who, "setting")
            row = control.settings.get(name)
        else:
            row = control.settings.change(name, wanted, who)
    _say(row)


def reset_setting(
    path: DeskPath, name: SettingName, person: Person = None, database: DatabaseUrl = None
) -> None:
    """Let a setting be again what desk.toml says."""
    with open_control(path, database) as control:
        row = control.settings.reset(name, person_or_user(person))
    _say(row)


def _say(row: SettingRow) -> None:
    if row.waiting is not None:
        who = row.waiting.asked_by
        text = f"Change {row.waiting.id} of {row.name} waits for another person than {who}."
    else:
        text = f"{row.name} is {row.value!r}."
    typer.echo(visible(text))


def _line(row: SettingRow) -> str:
    text = f"{row.name} = {json.dumps(row.value)}"
    if row.change is not None:
        text += f", by {row.change.person}, {time_of(row.change.at)}"
    if row.value != row.declared:
        text += f"; desk.toml says {json.dumps(row.declared)}"
    return text

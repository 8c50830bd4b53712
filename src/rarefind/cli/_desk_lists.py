"""``rarefind desk list``: the named lists that rules ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath
from rarefind.cli._desk_control import Person, open_control, person_or_user, time_of
from rarefind.cli._inputs import check_readable
from rarefind.cli._options import AsJson

app = typer.Typer(
    help="Show, save and delete the named lists that the rules of a desk ask.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
ListName = Annotated[str, typer.Argument(help="The name of the list.")]


@app.command(epilog="Example: rarefind desk list show my-desk risky-countries")
def show(
    path: DeskPath,
    name: Annotated[
        str | None, typer.Argument(help="The list to show; by default the names of all.")
    ] = None,
    database: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show the names of the lists, or the values of one, one a line."""
    with open_control(path, database) as control:
        lists = control.lists
        found = lists.names() if name is None else list(lists.get(name).values)
        changed = {each: lists.get(each) for each in found} if name is None else {}
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for value in found:
        about = changed.get(value)
        known = (
            f" ({len(about.values):,} values, {about.person}, {time_of(about.changed)})"
            if about
            else ""
        )
        typer.echo(visible(f"{value}{known}"))
    if not found and name is None:
        typer.echo("There are no lists: save one with rarefind desk list save.")


@app.command(epilog="Example: rarefind desk list save my-desk risky-countries countries.txt")
def save(
    path: DeskPath,
    name: ListName,
    values: Annotated[
        Path, typer.Argument(metavar="FILE", help="Text in UTF-8 with one value a line.")
    ],
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Make a list from a text file, or give it other values."""
    wanted = _read_values(values)
    with open_control(path, database) as control:
        saved = control.lists.save(name, wanted, person_or_user(person))
    typer.echo(visible(f"The list {saved.name!r} has {len(saved.values):,} values."))


@app.command(epilog="Example: rarefind desk list delete my-desk risky-countries")
def delete(
    path: DeskPath, name: ListName, person: Person = None, database: DatabaseUrl = None
) -> None:
    """Delete a list that no rule asks."""
    with open_control(path, database) as control:
        control.lists.delete(name, person_or_user(person))
    typer.echo(visible(f"The list {name!r} is deleted."))


def _read_values(path: Path) -> list[str]:
    """The lines of a text without those that are empty."""
    check_readable(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8: save it as UTF-8.") from None
    return [line.strip() for line in text.splitlines() if line.strip()]

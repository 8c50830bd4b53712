"""``rarefind desk block`` and ``unblock``: entities whose transactions are refused."""

from __future__ import annotations

from typing import Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath
from rarefind.cli._desk_control import Note, Person, open_control, person_or_user

Blocked = Annotated[
    str, typer.Argument(metavar="ENTITY", help="Which card, or whatever else the desk checks.")
]


def block(
    path: DeskPath,
    entity: Blocked,
    note: Note = "",
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Refuse the transactions of a card from now on.

    Where the desk wants a second person, the block waits until another one has typed it, too.
    """
    who = person_or_user(person)
    with open_control(path, database) as control:
        found = control.blocks.current(entity)
        if found is not None and found.state == "waiting" and found.asked_by != who:
            found = control.blocks.approve(found.id, who)
        elif found is None:
            found = control.blocks.ask(entity, who, note)
    if found.state == "waiting":
        typer.echo(visible(f"Block {found.id} waits for another person than {found.asked_by}."))
    else:
        typer.echo(visible(f"{entity!r} is blocked (block {found.id})."))


def unblock(
    path: DeskPath,
    entity: Blocked,
    note: Note = "",
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Accept the transactions of a blocked card again."""
    with open_control(path, database) as control:
        found = control.blocks.current(entity)
        if found is None:
            raise ValueError(f"{entity!r} is not blocked.")
        control.blocks.lift(found.id, person_or_user(person), note)
    typer.echo(visible(f"{entity!r} is not blocked any more."))

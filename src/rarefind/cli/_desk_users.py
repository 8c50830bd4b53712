"""``rarefind desk user``: who may sign in at a desk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors
from rarefind.cli._desk_control import Person, person_or_user

if TYPE_CHECKING:
    from rarefind.desk.people import People

app = typer.Typer(
    help="Let people sign in at a desk.", no_args_is_help=True, pretty_exceptions_enable=False
)
UserName = Annotated[str, typer.Argument(metavar="NAME", help="By which they sign in.")]
Address = Annotated[
    str, typer.Option("--url", metavar="URL", help="Where people open the desk, for the link.")
]
_HERE = "http://127.0.0.1:8322"


@app.command(epilog="Example: rarefind desk user add my-desk ana investigator")
def add(
    path: DeskPath,
    name: UserName,
    role: Annotated[str, typer.Argument(help="investigator, expert, scientist, admin or auditor.")],
    url: Address = _HERE,
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Add a user, and print the link by which they choose a password."""
    with _people(path, database) as people:
        link = people.invite(name, role, person_or_user(person))
    typer.echo(welcome_address(url, link))


@app.command(epilog="Example: rarefind desk user reset my-desk ana")
def reset(
    path: DeskPath,
    name: UserName,
    url: Address = _HERE,
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Print a link by which a user chooses another password."""
    with _people(path, database) as people:
        link = people.reset(name, person_or_user(person))
    typer.echo(welcome_address(url, link))


@app.command(epilog="Example: rarefind desk user remove my-desk ana")
def remove(
    path: DeskPath, name: UserName, person: Person = None, database: DatabaseUrl = None
) -> None:
    """Sign a user out everywhere and for good; the audit log keeps the name."""
    with _people(path, database) as people:
        user = people.users.disable(name, person_or_user(person))
    typer.echo(visible(f"{user.name!r} cannot sign in any more."))


def welcome_address(url: str, link: str) -> str:
    """The whole address of a one-time link."""
    return f"{url.rstrip('/')}/desk/welcome/{link}"


@contextmanager
def _people(path: Path, database: str | None) -> Iterator[People]:
    with desk_errors():
        from rarefind.desk.folder import DeskFolder
        from rarefind.desk.people import People

        with DeskFolder(path, database) as folder:
            yield People.of(folder)

"""``rarefind desk``: make a desk, give tokens for it, and look whether its ledger is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rarefind._core.extras import extra
from rarefind.cli._inputs import check_readable
from rarefind.cli._options import DataFile

app = typer.Typer(
    help="Make a desk, give tokens for it, and look whether its ledger is whole.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
DeskPath = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the desk.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="postgresql://… instead of SQLite files in the folder."),
]


@contextmanager
def desk_errors() -> Iterator[None]:
    """Say in a sentence that the extra is not installed, or a database cannot be opened."""
    with extra("desk", "A desk"):
        from rarefind.desk.database import DatabaseUnavailable

        try:
            yield
        except DatabaseUnavailable as error:
            raise ValueError(str(error)) from error


@app.command(epilog="Example: rarefind desk init payments.csv my-desk --budget 20")
def init(
    data: DataFile,
    path: DeskPath,
    database: DatabaseUrl = None,
    id: Annotated[str | None, typer.Option(help="Column with the identifier.")] = None,
    time: Annotated[str | None, typer.Option(help="Column with the time.")] = None,
    amount: Annotated[str | None, typer.Option(help="Column with the amount.")] = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(help="Column of who pays, then of who is paid; the first is checked."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column with labels, which no transaction has.")
    ] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Checks a day.")] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="Of times without one, such as Europe/Paris.")
    ] = None,
) -> None:
    """Make a desk for transactions like those of a file; columns are found by name and values."""
    check_readable(data)
    with desk_errors():
        from rarefind.data import read_table
        from rarefind.desk.folder import DeskFolder
        from rarefind.desk.intake import guess_schema

        guess = guess_schema(
            read_table(data),
            path.resolve().name,
            id=id,
            time=time,
            amount=amount,
            entities=entity or None,
            target=target,
            budget=budget,
            time_zone=time_zone,
        )
        DeskFolder.create(path, guess.schema, database).close()
    for note in guess.notes:
        typer.echo(note)
    typer.echo(
        f"The desk is in {path}: read {path / 'desk.toml'}, and correct it before the first "
        "transaction; later only columns can be added."
    )


@app.command(epilog="Example: rarefind desk token my-desk ingest --name till")
def token(
    path: DeskPath,
    role: Annotated[
        str, typer.Argument(help="ingest, investigator, expert, scientist, admin or auditor.")
    ],
    name: Annotated[str | None, typer.Option(help="Whose it is; by default the role.")] = None,
    database: DatabaseUrl = None,
) -> None:
    """Make a token and print it; it cannot be shown again."""
    with desk_errors():
        from rarefind.desk.api.roles import ROLES
        from rarefind.desk.api.tokens import Tokens
        from rarefind.desk.clock import DeskClock
        from rarefind.desk.control import Audit
        from rarefind.desk.folder import DeskFolder

        known = next((each for each in ROLES if each == role), None)
        if known is None:
            raise ValueError(f"{role!r} is not a role; the roles are {', '.join(ROLES)}.")
        with DeskFolder(path, database) as folder:
            desk, clock = folder.open_desk(), DeskClock()
            made = Tokens(desk, Audit(desk, clock)).make(name or role, known, clock.now())
    typer.echo(made)


@app.command(epilog="Example: rarefind desk verify my-desk")
def verify(
    path: DeskPath,
    ledger_at: Annotated[
        str | None,
        typer.Option(help="A last row of the ledger as it was printed before: is it there still?"),
    ] = None,
    audit_at: Annotated[
        str | None, typer.Option(help="A last row of the audit log as it was printed before.")
    ] = None,
    database: DatabaseUrl = None,
) -> None:
    """Look whether every row of the ledger and of the audit log is as it was written."""
    with desk_errors():
        from rarefind.desk.control import Control
        from rarefind.desk.folder import DeskFolder
        from rarefind.desk.ledger import Position

        expected = [None if at is None else Position.from_text(at) for at in (ledger_at, audit_at)]
        with DeskFolder(path, database) as folder:
            ledger = folder.read_ledger().verify(expected[0])
            audit = Control.of(folder).audit.verify(expected[1])
    typer.echo(f"{ledger}\n{audit}")
    if not (ledger.is_whole and audit.is_whole):
        raise typer.Exit(1)

"""``rarefind desk model``: the models of a desk, and which of them decides."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors
from rarefind.cli._desk_control import (
    Person,
    approved_by_two,
    open_control,
    person_or_user,
    time_of,
)
from rarefind.cli._inputs import check_readable
from rarefind.cli._options import AsJson, ModelFile

app = typer.Typer(
    help="Bring models to a desk, and say which of them decides.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
Digest = Annotated[
    str, typer.Argument(help="The model: its digest, or six characters or more of its beginning.")
]
_SHOWN = 12


@app.command(epilog="Example: rarefind desk model add my-desk model.rarefind")
def add(
    path: DeskPath,
    model: ModelFile,
    name: Annotated[
        str | None, typer.Option(help="What to call it; by default the name of the file.")
    ] = None,
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Bring a model: it is checked against the desk and copied, and does not decide yet."""
    check_readable(model)
    with desk_errors():
        from rarefind.desk.control import Control, recent_entries
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder:
            recent = recent_entries(folder.read_ledger())
            added = Control.of(folder).models.add(model, person_or_user(person), name, recent)
    typer.echo(
        visible(
            f"{added.name} is a {added.state} with the digest {added.digest[:_SHOWN]}. To let it "
            f"decide: rarefind desk model promote {path} {added.digest[:_SHOWN]}"
        )
    )


@app.command("list", epilog="Example: rarefind desk model list my-desk")
def list_models(path: DeskPath, database: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the models of a desk, the newest first."""
    with open_control(path, database) as control:
        found, notes = control.models.all(), control.in_force().notes
    if as_json:
        typer.echo(json.dumps([asdict(model) for model in found], indent=2))
        return
    for model in found:
        typer.echo(
            visible(
                f"{model.digest[:_SHOWN]}  {model.state:<10}  alerts from {model.threshold:.4f}  "
                f"{model.name}, {model.estimator}, {model.changed_by}, {time_of(model.changed)}"
            )
        )
    for note in notes:
        typer.echo(visible(note))


@app.command(epilog="Example: rarefind desk model promote my-desk 3f9a61c0 --threshold 0.2")
def promote(
    path: DeskPath,
    digest: Digest,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The probability from which a transaction is an alert; by default as before, at "
            "first one that fills the budget.",
        ),
    ] = None,
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Let a model decide what is an alert; the one before stays beside it, and can come back.

    Where the desk wants a second person, it waits until another one has typed it, too.
    """
    who = person_or_user(person)
    with open_control(path, database) as control:
        found = control.models.promote(digest, who, threshold)
        waits = approved_by_two(control, "model", found.digest, who)
        found = control.models.get(found.digest)
    if waits:
        typer.echo(visible(waits))
        return
    typer.echo(
        visible(
            f"{found.name} decides: an alert is a probability of {found.threshold:.4f} or more."
        )
    )


@app.command(epilog="Example: rarefind desk model retire my-desk 3f9a61c0")
def retire(
    path: DeskPath, digest: Digest, person: Person = None, database: DatabaseUrl = None
) -> None:
    """Let a model rest; where none decides, rules alone do."""
    with open_control(path, database) as control:
        found = control.models.retire(digest, person_or_user(person))
        notes = control.in_force().notes
    typer.echo(visible(f"{found.name} is retired."))
    for note in notes:
        typer.echo(visible(note))

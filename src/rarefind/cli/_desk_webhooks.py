"""``rarefind desk webhook``: the addresses that are told of alerts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors
from rarefind.cli._desk_control import Person, person_or_user, time_of
from rarefind.cli._options import AsJson

if TYPE_CHECKING:
    from rarefind.desk.webhooks import Webhooks

app = typer.Typer(
    help="Add, list and remove the addresses that a desk tells of alerts.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command(epilog="Example: rarefind desk webhook add my-desk https://example.com/alerts")
def add(
    path: DeskPath,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where messages are sent to.")],
    event: Annotated[
        list[str] | None,
        typer.Option(help="What it is told of: alert.raised or case.opened; by default both."),
    ] = None,
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Send messages to an address; the secret that signs them is shown this once."""
    with _open(path, database) as webhooks:
        from rarefind.desk.webhooks import EVENTS

        made, secret = webhooks.make(url, event or EVENTS, person_or_user(person))
    typer.echo(f"Webhook {made.id} is told of {', '.join(made.events)}.", err=True)
    typer.echo("Keep its secret: it is not shown again.", err=True)
    typer.echo(secret)


@app.command("list", epilog="Example: rarefind desk webhook list my-desk")
def list_webhooks(path: DeskPath, database: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List the addresses, and how many messages wait or were given up."""
    with _open(path, database) as webhooks:
        found = webhooks.all()
    if as_json:
        rows = [
            {
                "id": each.id,
                "url": each.url,
                "events": list(each.events),
                "made_by": each.made_by,
                "failures": each.failures,
                "waiting": each.waiting,
                "dead": each.dead,
            }
            for each in found
        ]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for each in found:
        typer.echo(
            visible(
                f"{each.id}  {each.url}  {' '.join(each.events)}  {each.waiting:,} wait, "
                f"{each.dead:,} given up  ({each.made_by}, {time_of(each.made)})"
            )
        )
    if not found:
        typer.echo("There are no webhooks: add one with rarefind desk webhook add.")


@app.command(epilog="Example: rarefind desk webhook remove my-desk 2")
def remove(
    path: DeskPath,
    webhook: Annotated[int, typer.Argument(metavar="NUMBER", help="As `list` shows it.")],
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Send no more messages to an address; those that wait are given up."""
    with _open(path, database) as webhooks:
        webhooks.remove(webhook, person_or_user(person))
    typer.echo(f"Webhook {webhook} is removed.")


@contextmanager
def _open(path: Path, database: str | None) -> Iterator[Webhooks]:
    """Open the webhooks of a desk."""
    with desk_errors():
        from rarefind.desk.folder import DeskFolder
        from rarefind.desk.webhooks import Webhooks

        with DeskFolder(path, database) as folder:
            yield Webhooks.of(folder)

"""The ``rarefind`` command, one file a command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rarefind import __version__
from rarefind.cli._demo import demo
from rarefind.cli._monitor import monitor
from rarefind.cli._rules import app as rules

app = typer.Typer(
    name="rarefind",
    help="Find the few that matter: rank rare positives to the top of a short list.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(monitor)
app.add_typer(rules, name="rules")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rarefind {__version__}")
        raise typer.Exit


@app.callback()
def _rarefind(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the few that matter: rank rare positives to the top of a short list."""


def main() -> None:
    """Run the command line; bad input ends with one line and exit code 2."""
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"rarefind: {error}", file=sys.stderr)
        raise SystemExit(2) from None

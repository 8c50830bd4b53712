"""The commands together, with their examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rarefind import __version__
from rarefind.cli._compare import compare
from rarefind.cli._compile import compile_kernels
from rarefind.cli._config import settings
from rarefind.cli._demo import demo
from rarefind.cli._desk import app as desk
from rarefind.cli._desk_audit import audit
from rarefind.cli._desk_backup import backup
from rarefind.cli._desk_blocks import block, unblock
from rarefind.cli._desk_features import features
from rarefind.cli._desk_lists import app as desk_lists
from rarefind.cli._desk_models import app as desk_models
from rarefind.cli._desk_parity import parity
from rarefind.cli._desk_personal import erase, export
from rarefind.cli._desk_rules import app as desk_rules
from rarefind.cli._desk_settings import change_setting, list_settings, reset_setting
from rarefind.cli._desk_snapshot import snapshot
from rarefind.cli._desk_users import app as desk_users
from rarefind.cli._desk_webhooks import app as desk_webhooks
from rarefind.cli._explain import explain
from rarefind.cli._fit import fit
from rarefind.cli._monitor import monitor
from rarefind.cli._rank import rank
from rarefind.cli._replay import replay
from rarefind.cli._report import report
from rarefind.cli._rules import app as rules
from rarefind.cli._serve import serve
from rarefind.cli._simulate import simulate
from rarefind.cli._torture import torture

app = typer.Typer(
    name="rarefind",
    help="Find the few that matter: rank rare positives to the top of a short list.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command(
    epilog="Example: rarefind fit payments.csv --target fraud --time time --budget 200 "
    "-o model.rarefind"
)(fit)
app.command(epilog="Example: rarefind rank model.rarefind today.csv --budget 200 -o list.csv")(rank)
app.command(epilog="Example: rarefind explain model.rarefind today.csv --id 4711")(explain)
app.command(epilog="Example: rarefind compare payments.csv --target fraud --budget 200")(compare)
app.command(epilog="Example: rarefind report model.rarefind today.csv -o report.html")(report)
app.command(epilog="Example: rarefind monitor model.rarefind week.csv --verdicts found")(monitor)
app.command(epilog="Example: rarefind simulate --days 90 --features -o payments.parquet")(simulate)
app.command(epilog="Example: rarefind demo --budget 20")(demo)
app.command("compile", epilog="Example: rarefind compile sgbap gamma-knn")(compile_kernels)
app.command(epilog="Example: rarefind serve my-desk --durability disk")(serve)
app.command(epilog="Example: rarefind replay payments.csv --speed 60x")(replay)
desk.command(epilog="Example: rarefind desk parity my-desk --day 2026-01-31")(parity)
desk.command(epilog="Example: rarefind desk torture my-desk --minutes 5")(torture)
desk.add_typer(desk_rules, name="rule")
desk.add_typer(desk_lists, name="list")
desk.add_typer(desk_models, name="model")
desk.add_typer(desk_users, name="user")
desk.add_typer(desk_webhooks, name="webhook")
desk.command(epilog="Example: rarefind desk block my-desk 4711 --note 'the customer has called'")(
    block
)
desk.command(epilog="Example: rarefind desk unblock my-desk 4711")(unblock)
desk.command(
    epilog="Example: rarefind desk features my-desk payments.csv --label fraud -o known.parquet"
)(features)
desk.command("settings", epilog="Example: rarefind desk settings my-desk")(list_settings)
desk.command("set", epilog="Example: rarefind desk set my-desk alerts.budget 40")(change_setting)
desk.command("reset", epilog="Example: rarefind desk reset my-desk alerts.budget")(reset_setting)
desk.command(epilog="Example: rarefind desk audit my-desk --after 120")(audit)
desk.command(epilog="Example: rarefind desk snapshot my-desk")(snapshot)
desk.command(epilog="Example: rarefind desk export my-desk card 4711 -o 4711.json --by anna")(
    export
)
desk.command(epilog="Example: rarefind desk erase my-desk card 4711 --by anna")(erase)
app.add_typer(rules, name="rules")
desk.command(epilog="Example: rarefind desk backup my-desk my-desk-monday")(backup)
app.add_typer(desk, name="desk")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rarefind {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Examples: rarefind demo; rarefind fit payments.csv --target fraud --budget 200 "
    "-o model.rarefind; rarefind rank model.rarefind today.csv --budget 200 -o list.csv"
)
def _rarefind(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(help="File with options; by default rarefind.toml of this folder, if any."),
    ] = None,
) -> None:
    """Find the few that matter: rank rare positives to the top of a short list."""
    context.default_map = settings(config, context.command)

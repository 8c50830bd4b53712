"""``rarefind desk torture``: which promises of a desk hold on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind.cli import _options as options

if TYPE_CHECKING:
    from rarefind.desk.torture.findings import Finding
    from rarefind.desk.torture.run import Torture


def torture(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="A desk whose columns, rules and model are used; it is only read. By default "
            "plain ones.",
        ),
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.1, max=600, help="About how long it may take in all.")
    ] = 5.0,
    rate: Annotated[
        float, typer.Option(min=1, max=100_000, help="Transactions a second of the load.")
    ] = 800.0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Kill a desk, fill its disk, set its clock and load it, here; say which promises hold.

    All is done in a temporary folder. The exit code is 1 if something does not hold.
    """
    from rarefind.cli._desk import desk_errors
    from rarefind.cli._steps import steps

    with desk_errors(), steps(quiet=quiet or as_json, verbose=verbose) as say:
        from rarefind.desk.torture.run import torture as try_all

        shown = (lambda finding: None) if as_json else _print
        found = try_all(path, minutes=minutes, rate=rate, say=say, on_finding=shown)
    if as_json:
        typer.echo(json.dumps(_as_json(found), indent=2, ensure_ascii=False))
    else:
        typer.echo(f"  The disk keeps 4 KiB in: {found.fsync}.")
    if not found.holds:
        raise typer.Exit(1)


def _print(finding: Finding) -> None:
    typer.echo(str(finding))


def _as_json(found: Torture) -> dict[str, object]:
    return {
        "holds": found.holds,
        "findings": [each._asdict() for each in found.findings],
        "fsync_milliseconds": found.fsync._asdict(),
    }

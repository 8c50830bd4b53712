"""The command, apart from what it computes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from rarefind.cli._rule_files import refuse_output, write_text


def report(
    model: Annotated[Path, typer.Argument(help="A model that `rarefind fit` wrote.")],
    data: Annotated[Path, typer.Argument(help="The table: CSV, Parquet, Arrow or KEEL.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "report.html"
    ),
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            "-k",
            help="Checks you can afford: 200, or 0.5% of the rows. By default what the model was "
            "fitted for, else 200.",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, max=500, help="Cases to show with their reasons.")
    ] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures of the page as JSON for machines.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results.")] = False,
) -> None:
    """Write a page on a model and a file: what a budget buys, why, and how far to trust it.

    The page needs no network to open. Where the file has the target, what the list finds in it is
    measured as well.
    """
    _refuse(model, data, output)
    from rarefind.cli._report._make import make_report
    from rarefind.cli._steps import steps

    with steps(quiet=quiet or as_json or not sys.stderr.isatty()) as say:
        page, figures = make_report(model, data, budget, top, say)
        write_text(page, output)
    if as_json:
        typer.echo(json.dumps(figures, indent=2, allow_nan=False))
    elif not quiet:
        typer.echo(f"The report is in {output}.")


def _refuse(model: Path, data: Path, output: Path) -> None:
    """Refuse what can be told to be wrong before anything is imported."""
    for path in (model, data):
        if path.is_dir():
            raise ValueError(f"{path} is a folder: name one file inside it.")
        if not path.exists():
            raise ValueError(f"There is no file {path}: check the name and the folder.")
        if output.resolve() == path.resolve():
            raise ValueError(f"{output} is read by the report: write the page to another file.")
    refuse_output(output)

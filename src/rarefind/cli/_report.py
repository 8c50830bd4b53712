"""The command, apart from what it computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rarefind._core.budget import check_budget
from rarefind.cli import _options as options
from rarefind.cli._inputs import check_not_overwriting, check_readable
from rarefind.cli._rule_files import check_output, write_text


def report(
    model: options.ModelFile,
    data: options.DataFile,
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
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a page on a model and a file: what a budget buys, why, and how far to trust it.

    The page needs no network to open. Where the file has the target, what the list finds in it is
    measured as well.
    """
    check_output(output)
    check_readable(model, data)
    check_not_overwriting(output, model, data)
    if budget is not None:
        check_budget(budget)
    from rarefind.cli._steps import steps
    from rarefind.report._make import make_report

    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        page, figures = make_report(model, data, budget, top, say)
        write_text(page, output)
    if as_json:
        typer.echo(json.dumps(figures, indent=2, allow_nan=False))
    elif not quiet:
        typer.echo(f"The report is in {output}.")

"""``rarefind report``: write a page on a model and a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rarefind._core.budget import check_budget
from rarefind.cli import _options as options
from rarefind.cli._inputs import check_not_overwriting, check_readable
from rarefind.cli._outputs import check_output

_PAGES = (".html", ".htm")


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
            help="Number of checks: 200, or 0.5% of the rows. By default the budget of the fit, "
            "with its --per and --one-per, or 200.",
        ),
    ] = None,
    per: options.Per = None,
    one_per: options.OnePer = None,
    sheet: options.Sheet = None,
    top: Annotated[
        int, typer.Option(min=1, max=500, help="Cases to show with their reasons.")
    ] = 20,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a page on a model and a file: what a budget finds, why, and how far to trust it.

    The page needs no network to open. If the file has the target, what the list finds in it is
    measured as well.
    """
    check_output(output)
    if output.suffix.lower() not in _PAGES:
        raise ValueError(
            f"{output} should end in .html: a report is a page, which a browser can print to PDF."
        )
    check_readable(model, data)
    check_not_overwriting(output, model, data)
    if budget is not None:
        check_budget(budget)
    from rarefind.cli._steps import steps
    from rarefind.data.table_file import TableFile
    from rarefind.report import write_report

    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        found = write_report(
            model,
            TableFile(data, sheet),
            output,
            budget=budget,
            per=per,
            one_per=one_per,
            top=top,
            on_step=say,
        )
    if as_json:
        typer.echo(json.dumps(found.figures, indent=2, allow_nan=False))
    elif not quiet:
        typer.echo(f"The report is in {output}.")

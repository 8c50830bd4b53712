"""``rarefind rank``: the rows of a file to check first, each with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind._core.budget import check_budget
from rarefind._core.text import visible
from rarefind.cli import _options as options
from rarefind.cli._inputs import check_not_overwriting, check_readable
from rarefind.cli._outputs import check_output

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.tables import TableModel

_SHOWN_REASONS = 3


def rank(
    model: options.ModelFile,
    data: options.DataFile,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            "-k",
            help="Number of checks: 200, or 0.5% of the rows. By default the budget of the fit, "
            "with its --per and --one-per.",
        ),
    ] = None,
    per: options.Per = None,
    one_per: options.OnePer = None,
    sheet: options.Sheet = None,
    reasons: Annotated[
        bool, typer.Option("--reasons/--no-reasons", help="Say why each row is on the list.")
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write: .csv, .xlsx, .parquet or .json; else it is shown.",
        ),
    ] = None,
    for_program: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="excel",
            help="Write a .csv that Excel opens by a double click: with semicolons and decimal "
            "commas where the model's file or the system's locale has them, and marked as UTF-8.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """List the rows of a file to check first, with priority, probability and reason."""
    check_output(output)
    _check_kind(output, for_program)
    check_readable(model, data)
    check_not_overwriting(output, model, data)
    if budget is not None:
        check_budget(budget)
    from rarefind.tables import open_model, rank_file

    opened = open_model(model)
    from rarefind.cli._steps import rows_bar
    from rarefind.data.read import about_rows, row_numbers
    from rarefind.data.row_numbers import rows_named_by
    from rarefind.data.table_file import TableFile
    from rarefind.tables.list_files import has_decimal_comma, records, write_list

    warned: list[str] = []
    file = TableFile(data, sheet)
    with rows_bar(about_rows(file), quiet=quiet or as_json) as advance, rows_named_by(file):
        listed = rank_file(
            *(opened, file, budget),
            per=per,
            one_per=one_per,
            reasons=reasons,
            on_rows=advance,
            on_warning=warned.append,
        )
    listed.insert(1, "row", row_numbers(file).of(listed.index))
    if output is not None:
        comma = for_program is not None and has_decimal_comma(opened.types_)
        write_list(listed, output, for_excel=for_program is not None, decimal_comma=comma)
    if as_json:
        found = {"list": records(listed), "checks": len(listed), "warnings": warned}
        typer.echo(json.dumps(found, indent=2))
    elif output is None:
        _print(listed, opened)
    elif not quiet:
        typer.echo(f"{len(listed):,} rows to check are in {output}.")
    for sentence in warned:
        typer.echo(f"rarefind: warning: {visible(sentence)}", err=True)


def _check_kind(output: Path | None, for_program: str | None) -> None:
    """Refuse a list of a kind that is not written, before any work is done."""
    if for_program not in (None, "excel"):
        raise ValueError(f"There is no --for {for_program}: lists are written --for excel.")
    if output is not None:
        from rarefind.tables.list_files import check_list_kind

        check_list_kind(output, for_excel=for_program is not None)
    elif for_program is not None:
        raise ValueError("The option --for is for a list in a .csv: name one with -o.")


def _print(listed: pd.DataFrame, model: TableModel) -> None:
    """The list for a terminal: what names a row, its probability, and why."""
    from rarefind.cli._tables import add_row, console_of, new_table

    console = console_of()
    hidden = {"rank", "priority", "probability", "reason"}
    named = [name for name in listed.columns if name not in hidden]
    table = new_table("rank", *named, "probability", "because")
    for row in listed.to_dict("records"):
        texts = [_text(row[name]) for name in named]
        why = str(row.get("reason", ""))
        because = why.partition("because ")[2] or why
        add_row(table, str(row["rank"]), *texts, f"{100 * row['probability']:.1f} %", because)
    console.print(table)


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        # Whole numbers beside missing ones are floats, and may be identifiers.
        return f"{value:.0f}" if value.is_integer() else f"{value:,.2f}"
    return str(value)

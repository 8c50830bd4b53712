"""``rarefind monitor``: whether a model still fits, and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind._core.budget import check_budget
from rarefind.cli import _options as options
from rarefind.cli._inputs import check_readable

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.data.table_file import TableFile
    from rarefind.tables import MonitorReport, TableModel

Verdicts = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the verdicts: the target's values, empty where a row was not checked. "
        "By default the target's column, if the file has it; of --checked, also one called "
        "verdict.",
    ),
]
Checked = Annotated[
    Path | None,
    typer.Option(
        help="The list of `rarefind rank` for this file, with a column of verdicts filled in: the "
        "target's values or yes and no, empty where a row was not checked. Rows are found by "
        "their identifier, or without one by their number. If the list was not made as at the "
        "fit, --per and --one-per say how.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        "-k",
        help="Number of checks whose list is judged: 200, or 0.5% of the rows. By default the list "
        "of --checked, else the budget of the fit, with its --per and --one-per, or all rows with "
        "a verdict.",
    ),
]


def monitor(
    model: options.ModelFile,
    data: options.DataFile,
    verdicts: Verdicts = None,
    checked: Checked = None,
    budget: Budget = None,
    per: options.Per = None,
    one_per: options.OnePer = None,
    sheet: options.Sheet = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say whether to keep a model or to fit it again, and why.

    Compares the columns and the score with those of the fit, and verdicts on checked rows with the
    hits that the model expected.
    """
    from rarefind.cli._steps import steps

    check_readable(model, data, *([] if checked is None else [checked]))
    if budget is not None:
        check_budget(budget)
    from rarefind.data.row_numbers import rows_named_by
    from rarefind.data.table_file import TableFile
    from rarefind.tables import monitor as watch
    from rarefind.tables import open_model

    file = TableFile(data, sheet)
    with steps(quiet=quiet or as_json, verbose=verbose) as say, rows_named_by(file):
        say("Opening the model")
        opened = open_model(model)
        report = watch(
            opened,
            _pieces(opened, file, None if checked else verdicts, say),
            verdicts=verdicts,
            checked=None if checked is None else _checked_list(opened, file, checked),
            budget=budget,
            per=per,
            one_per=one_per,
        )
    if as_json:
        typer.echo(json.dumps(report.as_dict(), indent=2))
    elif quiet:
        typer.echo(report.verdict)
    else:
        _print(report, most=None if verbose else 15)


def _checked_list(model: TableModel, data: TableFile, checked: Path) -> pd.DataFrame:
    """The list that came back, indexed by where its rows are in the file."""
    from rarefind.data import read_table
    from rarefind.data.read import row_numbers

    types = {} if model.id is None else {model.id: model.types_.get(model.id, "text")}
    table = read_table(checked, like=types)
    if "row" in table.columns and table["row"].notna().all():
        return table.set_axis(row_numbers(data).positions(table["row"]), axis=0)
    if model.id is None:
        raise ValueError(
            f"{checked} has no column 'row', and the model no identifiers: give the list as "
            "`rarefind rank` wrote it."
        )
    return table


def _pieces(
    model: TableModel, data: TableFile, verdicts: str | None, say: Callable[[str], None]
) -> Iterator[pd.DataFrame]:
    """The file in pieces, its columns and verdicts read as at fit."""
    from rarefind.data import read_chunks
    from rarefind.data.read import with_progress

    types = dict(model.types_)
    if verdicts is not None and model.target in types:
        types[verdicts] = types[model.target]
    say("Scoring the rows")
    yield from with_progress(read_chunks(data, like=types), data)


def _print(report: MonitorReport, most: int | None) -> None:
    from rarefind.cli._tables import console_of

    console = console_of()
    console.print(f"[bold]{report.verdict}[/]: {report.rows:,} rows")
    console.print()
    for sentence in report.because:
        console.print(f"- {sentence}", markup=False)
    for note in report.notes:
        console.print(f"  {note}", markup=False)
    if len(report.columns):
        console.print()
        console.print(_columns(report.columns.head(most or len(report.columns))))
        left = len(report.columns) - (most or len(report.columns))
        if left > 0:
            console.print(f"… {left:,} columns more, which moved less (-v shows all)")
    if report.weeks is not None and len(report.weeks):
        console.print()
        console.print(_weeks(report.weeks.tail(most or len(report.weeks))))


def _columns(columns: pd.DataFrame) -> Any:
    from rarefind.cli._tables import add_row, new_table

    # What a column carries is not known of every model.
    known = columns["importance"].notna().all()
    carried = ["of the\nscore"] if known else []
    table = new_table("column", "verdict", "drift", "by\nchance", *carried, "because")
    for row in columns.to_dict("records"):
        shares = [f"{100 * row['importance']:.0f} %"] if known else []
        figures = [f"{row[name]:.2f}" for name in ("drift", "noise")]
        add_row(table, row["column"], row["verdict"], *figures, *shares, row["text"])
    return table


def _weeks(weeks: pd.DataFrame) -> Any:
    from rarefind.cli._rule_tables import short
    from rarefind.cli._tables import add_row, new_table

    heads = ("mean\nprobability", "checked", "hits", "expected", "precision")
    table = new_table("week of", "rows", *heads)
    table.columns[0].no_wrap = True
    for row in weeks.to_dict("records"):
        counts = [f"{row[name]:,}" for name in ("checked", "hits")]
        shares = [f"{row['expected']:.1f}", short(row["precision"], 2)]
        mean = short(row["probability"], 2)
        add_row(table, row["week"], f"{row['rows']:,}", mean, *counts, *shares)
    return table

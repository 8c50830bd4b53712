"""``rarefind monitor``: whether a model still fits, and what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from rarefind._monitoring import MonitorReport
    from rarefind.model import TableModel

ModelFile = Annotated[Path, typer.Argument(help="Model file, as rarefind fit writes it.")]
DataFile = Annotated[
    Path, typer.Argument(help="The new rows: CSV, Parquet, Arrow or KEEL, with or without labels.")
]
Verdicts = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the verdicts: the target's values, empty where a row was not checked. "
        "By default the target's column, if the file has it.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="CHECKS",
        help="Checks (200) or a share of the rows (0.5%) whose list is judged; by default the "
        "fit's budget, or all rows with a verdict.",
    ),
]
Per = Annotated[
    str | None,
    typer.Option(metavar="hour|day|week|month", help="Spend the budget in each such period."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict alone.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print all columns and weeks.")]


def monitor(
    model: ModelFile,
    data: DataFile,
    verdicts: Verdicts = None,
    budget: Budget = None,
    per: Per = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say whether to keep a model or to fit it again, and why.

    Compares the columns and the score with those of the fit, and verdicts on checked rows with what
    the model promised of them.

    Example: rarefind monitor model.rarefind november.csv --verdicts verdict --budget 200
    """
    from rarefind.cli._steps import steps

    _refuse_early(model, data, budget)
    from rarefind._monitoring import monitor as watch

    with steps(quiet=quiet or as_json or not sys.stderr.isatty()) as say:
        say("Opening the model")
        opened = _table_model(model)
        report = watch(
            opened, _pieces(opened, data, verdicts, say), verdicts=verdicts, budget=budget, per=per
        )
    if as_json:
        typer.echo(json.dumps(report.as_dict(), indent=2, ensure_ascii=False))
    elif quiet:
        typer.echo(report.verdict)
    else:
        _print(report, most=None if verbose else 15)


def _refuse_early(model: Path, data: Path, budget: str | None) -> None:
    """What can be told before anything large is imported."""
    for path in (model, data):
        if path.is_dir():
            raise ValueError(f"{path} is a folder: name one file inside it.")
        if not path.exists():
            raise FileNotFoundError(f"There is no file {path}: check the name and the folder.")
    if budget is not None:
        from rarefind.metrics._inputs import budget_share

        budget_share(budget)


def _table_model(path: Path) -> TableModel:
    from rarefind import TableModel, load

    model = load(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that knows no table: monitor a TableModel."
        )
    return model


def _pieces(
    model: TableModel, data: Path, verdicts: str | None, say: Callable[[str], None]
) -> Iterator[pd.DataFrame]:
    """The file in pieces, its columns and verdicts read as at fit."""
    from rarefind.data import read_chunks

    types = dict(model.types_)
    if verdicts is not None and model.target in types:
        types[verdicts] = types[model.target]
    say("Scoring the rows")
    yield from read_chunks(data, like=types)


def _print(report: MonitorReport, most: int | None) -> None:
    from rarefind.cli._rule_tables import _console

    console = _console()
    console.print(f"[bold]{report.verdict}[/]: {report.rows:,} rows looked at")
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
    from rarefind.cli._rule_tables import _add_row, _new_table

    table = _new_table("column", "verdict", "drift", "by\nchance", "of the\nscore", "because")
    for row in columns.to_dict("records"):
        shares = [f"{100 * row['importance']:.0f} %"]
        figures = [f"{row[name]:.2f}" for name in ("drift", "chance")]
        _add_row(table, row["column"], row["verdict"], *figures, *shares, row["text"])
    return table


def _weeks(weeks: pd.DataFrame) -> Any:
    from rarefind.cli._rule_tables import _add_row, _new_table, _short

    heads = ("mean\nchance", "checked", "hits", "expected", "precision")
    table = _new_table("week of", "rows", *heads)
    table.columns[0].no_wrap = True
    for row in weeks.to_dict("records"):
        counts = [f"{row[name]:,}" for name in ("checked", "hits")]
        shares = [f"{row['expected']:.1f}", _short(row["precision"], 2)]
        chance = _short(row["probability"], 2)
        _add_row(table, row["week"], f"{row['rows']:,}", chance, *counts, *shares)
    return table

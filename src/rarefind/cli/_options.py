"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rarefind.auto import estimators

MODEL_NAMES = tuple(each.name for each in estimators(on_command_line=True))
_MODELS = "; ".join(f"{each.name}: {each.description}" for each in estimators(on_command_line=True))

Model = Annotated[str, typer.Option(metavar="NAME", help=f"What learns. {_MODELS}.")]
Models = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Model to compare, named as in `rarefind fit`; by default all but auto. Can be given "
        "more than once.",
    ),
]

DataFile = Annotated[Path, typer.Argument(help="The table: CSV, Excel, Parquet, Arrow or KEEL.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file; by default the first.")]
DateFormat = Annotated[
    str | None,
    typer.Option(
        metavar="%d/%m/%Y",
        help="How dates are written, where 03/04/2026 could be in March or in April; by default "
        "the other dates of the file decide.",
    ),
]
Unlabelled = Annotated[
    str,
    typer.Option(
        metavar="drop|error",
        help="What to do with rows that have no label: leave them out, or end.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model that `rarefind fit` wrote.")]

Target = Annotated[str, typer.Option(help="Column with the labels (two values).")]
Positive = Annotated[
    str | None, typer.Option(help="The positive label, as in the file; by default the rarer one.")
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column with the time of a row; the last quarter of the rows, in whole periods of "
        "--per, is held out."
    ),
]
DateOf = Annotated[str | None, typer.Option(help="Column with the time of a row.")]
Entity = Annotated[
    str | None,
    typer.Option(
        help="Column with the entity of a row (card, customer, company); rows of one entity are "
        "held out together."
    ),
]
Amount = Annotated[
    str | None, typer.Option(help="Column with the amount of a row; the model uses it as well.")
]
Id = Annotated[str | None, typer.Option(help="Column with the identifier of a row.")]
KeepIds = Annotated[
    bool,
    typer.Option(
        "--keep-ids",
        help="Keep the identifiers of known positives in the model, so that reasons name them. "
        "By default the file holds none.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="Column that the model must not use. Can be given more than once."),
]
Delay = Annotated[
    str | None,
    typer.Option(
        help="How long it takes until a label is known, as 7D; rows of that time before the "
        "held-out rows are left out."
    ),
]
Budget = Annotated[
    str, typer.Option("--budget", "-k", help="Number of checks: 200, or 0.5% of the rows.")
]
Per = Annotated[
    str | None,
    typer.Option(
        metavar="day|week|…|COLUMN",
        help="Spend the budget in each hour, day, week, month or quarter of --time, or for each "
        "value of a column.",
    ),
]
OnePer = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="List each value of this column at most once (in a period or group)."
    ),
]
TimeLimit = Annotated[str | None, typer.Option(metavar="5m", help="Time limit, as 90s, 5m or 1h.")]
Trials = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --model auto: number of models to try, instead of a time limit. With the same "
        "seed the list is then the same on every machine; with a time limit it may not be.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of cores to use; by default all.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show progress even if it is not a terminal.")
]

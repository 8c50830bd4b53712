"""Options that several commands share, each said once."""

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

DataFile = Annotated[Path, typer.Argument(help="The table: CSV, Parquet, Arrow or KEEL.")]
ModelFile = Annotated[Path, typer.Argument(help="A model that `rarefind fit` wrote.")]

Target = Annotated[str, typer.Option(help="Column with the labels, of which there are two.")]
Positive = Annotated[
    str | None, typer.Option(help="The label that matters, as in the file; by default the rarer.")
]
Time = Annotated[
    str | None,
    typer.Option(help="Column with the time of a row: the last quarter of it is held out."),
]
DateOf = Annotated[str | None, typer.Option(help="Column with the date of a row.")]
Entity = Annotated[
    str | None,
    typer.Option(help="Column with whose row it is: they are held out together."),
]
Amount = Annotated[
    str | None, typer.Option(help="Column with what a row is worth; it is a feature as well.")
]
Id = Annotated[str | None, typer.Option(help="Column with what a row is called.")]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="Column to keep out of the model. Can be given more than once."),
]
Delay = Annotated[
    str | None,
    typer.Option(help="How long labels take to be known, as 7D: that much is left out in time."),
]
Budget = Annotated[
    str, typer.Option("--budget", "-k", help="Checks you can afford: 200, or 0.5% of the rows.")
]
Per = Annotated[
    str | None,
    typer.Option(metavar="hour|day|week|month", help="Spend the budget in each period of --time."),
]
OnePer = Annotated[
    str | None,
    typer.Option(metavar="COL", help="List each value of this column once in a period or group."),
]
TimeLimit = Annotated[
    str | None, typer.Option(metavar="5m", help="Most time to take, as 90s, 5m or 1h.")
]
Trials = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --model auto: models to try, instead of a time. The same seed then gives the "
        "same list on any machine; a time limit cannot promise that.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Cores to use; by default all.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say more, also where nobody watches.")
]

"""``rarefind desk features``: what a desk would have known of the transactions of a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors
from rarefind.cli._inputs import check_not_overwriting, check_readable
from rarefind.cli._options import DataFile
from rarefind.cli._outputs import check_output

if TYPE_CHECKING:
    from rarefind.desk.schema import Schema

_KINDS = (".parquet", ".csv")


def features(
    path: DeskPath,
    data: DataFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write: .parquet or .csv.")
    ],
    label: Annotated[
        str | None,
        typer.Option(
            help="Column that says what was fraud (1, true or yes), for features that count it."
        ),
    ] = None,
    arrival: Annotated[
        str | None,
        typer.Option(help="Column in whose order transactions arrived; by default their times."),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            help="Column that says when a label became known, in the unit of --arrival; by default "
            "as soon as labels.delay of desk.toml allows."
        ),
    ] = None,
    database: DatabaseUrl = None,
) -> None:
    """Add the desk's own features to the transactions of a file, to fit a model to them."""
    check_readable(data)
    check_output(output)
    check_not_overwriting(output, data)
    if output.suffix.lower() not in _KINDS:
        raise ValueError(f"{output} should end in {' or '.join(_KINDS)}.")
    with desk_errors():
        from rarefind.desk.features import describe_file
        from rarefind.desk.folder import DeskFolder
        from rarefind.desk.intake import IntakeError

        with DeskFolder(path, database) as folder:
            schema = folder.schema
        try:
            table = describe_file(data, schema, label=label, arrival=arrival, known_at=known_at)
        except IntakeError as error:
            where = f" ({error.refusal.where})" if error.refusal.where else ""
            raise ValueError(f"{data}: {error.refusal.detail}{where}") from None
    from rarefind._core.files import atomic_write

    with atomic_write(output) as part:
        if output.suffix.lower() == ".csv":
            table.to_csv(part, index=False)
        else:
            table.to_parquet(part, index=False)
    typer.echo(
        visible(
            f"{output} has {len(table):,} transactions with {len(schema.features.names)} features. "
            f"A model: {_fit(schema, output, label or 'fraud', table.columns)}"
        )
    )


def _fit(schema: Schema, output: Path, target: str, columns: Iterable[str]) -> str:
    """The command that fits a model which the desk can run."""
    own, entity = schema.transaction, schema.entities[schema.alerts.entity].column
    features = schema.features.names
    # The names of terminals are no features, and what the desk does not have it cannot score.
    others = [each.column for each in schema.entities.values() if each.column != entity]
    known = {*schema.columns, *features, target}
    drop = [*others, *(name for name in columns if name not in known)]
    return " ".join(
        [
            *("rarefind", "fit", quote(str(output)), "--target", quote(target)),
            *("--time", quote(own.time), "--entity", quote(entity), "--id", quote(own.id)),
            *(f"--drop {quote(name)}" for name in drop),
            "-o model.rarefind",
        ]
    )

"""``rarefind explain``: why one row stands where it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind.cli import _options as options
from rarefind.cli._inputs import check_not_overwriting, check_picture, check_readable
from rarefind.cli._outputs import check_output

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.data.table_file import TableFile
    from rarefind.rules import Condition, Reason
    from rarefind.tables import TableModel

_LOWERING_SHOWN = 5


def explain(
    model: options.ModelFile,
    data: options.DataFile,
    id: Annotated[
        str | None,
        typer.Option(help="Identifier of the row, in the column that --id of fit named."),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Number of the row, as in the list of rank: its line in the file, where the "
            "header is line 1.",
        ),
    ] = None,
    sheet: options.Sheet = None,
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw the reason: .svg, .png or .pdf.")
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say the whole reason of one row, with the known cases it is like."""
    if (id is None) == (row is None):
        raise ValueError("Name one row: by --id, or by --row.")
    number = None if row is None else _row_number(row)
    check_output(picture)
    check_picture(picture)
    check_readable(model, data)
    check_not_overwriting(picture, model, data)
    from rarefind.tables import open_model

    opened = open_model(model)
    from rarefind.cli._steps import steps
    from rarefind.data.read import row_numbers
    from rarefind.data.row_numbers import rows_named_by
    from rarefind.data.table_file import TableFile

    file = TableFile(data, sheet)
    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        say(f"Looking for the row in {data}")
        with rows_named_by(file):
            found = (
                _identified(opened, file, str(id))
                if number is None
                else _numbered(opened, file, number)
            )
            say("Finding its reason")
            one = _highest(opened, found)
            reason = _with_what_lowers(opened, one, opened.explain(one)[0])
    if picture is not None:
        _draw(reason, picture)
    values = _values(opened, one, reason, int(row_numbers(file).of(one.index)[0]))
    if as_json:
        typer.echo(json.dumps(values, indent=2))
        return
    if len(found) > 1 and not quiet:
        typer.echo(
            f"{len(found)} rows have the identifier {id}; this is the one that ranks highest."
        )
    _print(values, None if opened.id is None else values.get(opened.id), reason)


def _identified(model: TableModel, data: TableFile, name: str) -> pd.DataFrame:
    """All rows with that identifier; texts are compared, as they stand in the file."""
    import pandas as pd

    from rarefind.data import read_chunks
    from rarefind.data.read import with_progress

    if model.id is None:
        raise ValueError("The model has no column with identifiers of rows: use --row.")
    parts = []
    for chunk in with_progress(read_chunks(data, like=model.types_), data):
        if model.id not in chunk.columns:
            raise ValueError(
                f"{data} has no column {model.id!r}, which identifies the rows: use --row."
            )
        own = chunk[model.id]
        same = own.astype(str) == name
        if pd.api.types.is_numeric_dtype(own):
            same |= own == pd.to_numeric(name, errors="coerce")
        parts.append(chunk[same])
    found = pd.concat([part for part in parts if len(part)] or parts[:1])
    if not len(found):
        raise ValueError(f"{data} has no row whose {model.id} is {name}.")
    return found


def _numbered(model: TableModel, data: TableFile, number: int) -> pd.DataFrame:
    from rarefind.data import read_chunks
    from rarefind.data.read import row_numbers, with_progress

    numbers, rows = row_numbers(data), 0
    position = int(numbers.positions([number])[0])
    for chunk in with_progress(read_chunks(data, like=model.types_), data):
        if rows <= position < rows + len(chunk):
            return chunk.loc[[position]]
        rows += len(chunk)
    first, last = numbers.of([0, rows - 1])
    raise ValueError(
        f"{data} has its rows in lines {first:,} to {last:,}, and none in line {number:,}."
    )


def _row_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
        raise ValueError(
            f"--row takes the number of a row, not {text}: name its identifier by --id."
        )
    return int(text)


def _highest(model: TableModel, rows: pd.DataFrame) -> pd.DataFrame:
    place = int(model.priority(rows).argmax())
    return rows.iloc[[place]]


def _draw(reason: Reason, path: Path) -> None:
    from matplotlib.figure import Figure

    from rarefind.plots import ReasonDisplay
    from rarefind.report.pictures import save_picture

    bars = max(1, len(ReasonDisplay(reason).values))
    figure = Figure(figsize=(7.2, 1.3 + 0.36 * bars), layout="constrained", dpi=150)
    ReasonDisplay(reason).plot(figure.add_subplot())
    save_picture(figure, path)


def _values(model: TableModel, row: pd.DataFrame, reason: Reason, number: int) -> dict[str, Any]:
    """All that is known of the row, as plain values."""
    column = list(model.classes_).index(model.positive_)
    named = [name for name in (model.id, model.entity, model.time, model.amount) if name]
    return {
        "row": number,
        **{name: str(row[name].iloc[0]) for name in named if name in row.columns},
        "score": float(reason.score),
        "probability": float(model.predict_proba(row)[0, column]),
        "above": reason.rank_in_reference,
        "alert": bool(model.predict(row)[0] == model.positive_),
        "because": [_plain(condition) for condition in reason.raising],
        "lowers": [_plain(condition) for condition in reason.lowering],
        "similar": [
            {"row": s.row, "name": s.name, "distance": float(s.distance)} for s in reason.similar
        ],
        "contributions": {name: float(v) for name, v in reason.contributions.items()},
        "reason": str(reason),
    }


def _print(values: dict[str, Any], identifier: str | None, reason: Reason) -> None:
    from rarefind._core.text import visible
    from rarefind.cli._tables import console_of
    from rarefind.data.row_numbers import row_name
    from rarefind.rules.reasons import heading

    console = console_of()
    name, row = visible(row_name(values["row"], identifier)), row_name(values["row"])
    name = row.capitalize() if identifier is None else f"{name} ({row})"
    said = heading(reason)
    if reason.is_low:
        said += ": nothing speaks for an alert"
    lines = [
        f"{name}: {said[0].lower()}{said[1:]}; probability {100 * values['probability']:.1f} %, "
        f"{'an' if values['alert'] else 'no'} alert by the model's threshold."
    ]
    if reason.raising:
        lines += ["", "What raises its score:", reason.bars()]
    elif not reason.is_low:
        lines += ["", "No condition speaks for it."]
    if reason.lowering:
        lines += ["", "What lowers its score:", reason.bars(lowering=True)]
    if reason.similar and not reason.is_low:
        lines += ["", "Most like these known positives:", *(f"  {s}" for s in reason.similar)]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _with_what_lowers(model: TableModel, row: pd.DataFrame, reason: Reason) -> Reason:
    """The reason with the columns that lower the score, of models whose score is a sum."""
    from dataclasses import replace

    from rarefind.rules import Condition

    down = {name: -added for name, added in reason.contributions.items() if added < 0}
    if reason.lowering or not down:
        return reason
    total, most = sum(down.values()), sorted(down, key=lambda name: -down[name])[:_LOWERING_SHOWN]
    lowering = []
    for name in most:
        value = model.encoder_.describe_value(name, row[name].iloc[0])
        text = f"{name} = {value}"
        lowering.append(Condition(name, "=", value, text, down[name] / total, lowers=True))
    return replace(reason, because=[*reason.because, *lowering])


def _plain(condition: Condition) -> dict[str, Any]:
    weight = float(condition.weight)
    return {"column": condition.feature, "text": str(condition), "weight": weight}

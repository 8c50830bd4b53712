"""Opening what a command is given, or saying in one sentence why it cannot be used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rarefind._core.budget import check_budget
from rarefind.cli._options import MODEL_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from rarefind.tables import TableModel

_FEWEST_POSITIVES = 5
PICTURES = (".svg", ".png", ".pdf")


def check_readable(*paths: Path) -> None:
    """Refuse files that are not there, empty or kept from us, before anything is imported."""
    for path in paths:
        if path.is_dir():
            raise ValueError(f"{path} is a folder: name one file inside it.")
        if not path.exists():
            raise ValueError(f"There is no file {path}: check the name and the folder.")
        with path.open("rb") as file:
            if not file.read(1):
                raise ValueError(f"{path} is empty.")


def check_not_overwriting(output: Path | None, *read: Path) -> None:
    """Refuse to write over what is read."""
    for path in read:
        if output is not None and output.resolve() == path.resolve():
            raise ValueError(f"{output} is read by the command: write to another file.")


class Roles(NamedTuple):
    """What the columns of a table mean."""

    target: str
    positive: str | None
    time: str | None
    entity: str | None
    amount: str | None
    id: str | None
    drop: list[str]


class Spending(NamedTuple):
    """How many checks there are, in each of which periods or groups, and one row of whom."""

    budget: str
    per: str | None
    one_per: str | None


class Reading(NamedTuple):
    """How a file is read: its sheet, its dates, and its rows without labels."""

    sheet: str | None = None
    date_format: str | None = None
    unlabelled: str = "drop"

    def check(self) -> Reading:
        """Refuse options that mean nothing, before anything is read."""
        if self.unlabelled not in ("drop", "error"):
            raise ValueError(f"--unlabelled is drop or error, not {self.unlabelled!r}.")
        if self.date_format is not None and not {"%d", "%Y"} & set(
            re.findall("%.", self.date_format.replace("%y", "%Y"))
        ):
            raise ValueError(
                f"{self.date_format!r} is not a date format: write one as %d/%m/%Y, by day, month "
                "and year."
            )
        return self


class Opened(NamedTuple):
    """A table to learn from, and a model of it without an estimator."""

    table: pd.DataFrame
    model: TableModel


def open_labelled(data: Path, roles: Roles, spending: Spending, reading: Reading) -> Opened:
    """A table to learn from; what speaks against it is said before anything is learned."""
    from rarefind.data import check_target, read_table
    from rarefind.data.target import labelled_rows

    table = read_table(data, sheet=reading.sheet, date_format=reading.date_format)
    table = labelled_rows(table, roles.target, drop=reading.unlabelled == "drop")
    label = check_target(table, roles.target, roles.positive)
    found = int((table[roles.target] == label).sum())
    if min(found, len(table) - found) < _FEWEST_POSITIVES:
        which = "positives" if found < _FEWEST_POSITIVES else "rows that are not positive"
        raise ValueError(
            f"{data} has {min(found, len(table) - found)} {which} ({roles.target} = {label}): "
            f"learning needs at least {_FEWEST_POSITIVES}."
        )
    check_columns(table, [roles.time, roles.entity, roles.amount, roles.id, *roles.drop])
    check_columns(table, [spending.one_per])
    _check_amounts(table, roles.amount, data, reading)
    check_budget(spending.budget, len(table) if spending.per is None else None)
    # A table that cannot be used is refused before the estimators are imported.
    from rarefind.tables import TableModel
    from rarefind.tables.lists import Groups

    Groups(spending.per, roles.time).column(table.columns)

    model = TableModel(
        None,
        roles.target,
        label,
        time=roles.time,
        entity=roles.entity,
        amount=roles.amount,
        id=roles.id,
        drop=roles.drop,
    )
    return Opened(table, model)


def _check_amounts(table: pd.DataFrame, name: str | None, data: Path, reading: Reading) -> None:
    """Refuse amounts that are not numbers, and show one."""
    import pandas as pd

    if name is None or pd.api.types.is_numeric_dtype(table[name]):
        return
    from rarefind.data.read import row_numbers
    from rarefind.data.row_numbers import row_name
    from rarefind.data.table_file import TableFile
    from rarefind.data.types import first_not_a_number

    value, position = first_not_a_number(table[name])
    row = row_name(int(row_numbers(TableFile(data, reading.sheet)).of([position])[0]))
    raise ValueError(
        f"Column {name!r} of {data} has {value!r} in {row}, which is not a number, and cannot be "
        "the amount: correct it, or name another column."
    )


def check_columns(table: pd.DataFrame, names: Iterable[str | None]) -> None:
    """Refuse names of columns that a table has not, with the nearest that it has."""
    from rarefind.data.target import check_column

    for name in names:
        if name is not None:
            check_column(table, name)


def check_model_name(name: str) -> None:
    """Refuse a name of no model, with the nearest that there is."""
    if name in MODEL_NAMES:
        return
    from difflib import get_close_matches

    close = get_close_matches(name, MODEL_NAMES, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(MODEL_NAMES)}."
    raise ValueError(f"There is no model {name!r}: {hint}")


def check_picture(path: Path | None) -> None:
    """Refuse a picture of a kind that is not drawn."""
    if path is not None and path.suffix.lower() not in PICTURES:
        raise ValueError(
            f"{path} should end in {', '.join(PICTURES)}: pictures are of these kinds."
        )

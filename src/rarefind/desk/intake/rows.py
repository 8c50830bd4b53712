"""Rows of files and tables as the transactions that their JSON would give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pandas as pd
from pandas.api import types as pt

from rarefind.data import read_chunks
from rarefind.data.clock import Clock
from rarefind.data.decode import booleans, kind_of, numbers, texts
from rarefind.data.read import file_columns, row_numbers
from rarefind.data.table_file import AnyFile
from rarefind.desk.intake.decode import Intake
from rarefind.desk.intake.refused import IntakeError
from rarefind.desk.records import Transaction
from rarefind.desk.schema import Kind


def read_transactions(
    path: AnyFile,
    intake: Intake,
    rows: int = 10_000,
    on_refused: Callable[[IntakeError], None] | None = None,
) -> Iterator[Transaction]:
    """Read the transactions of a file, in its order and piece by piece.

    Parameters
    ----------
    path : str or Path
        Any file of :func:`rarefind.data.read_table`. Columns that the schema does not name, such as
        a label, are passed over; of those that it names only the extra ones may be absent.
    intake : Intake
        Checks each row as it checks JSON; an error names the row by its line.
    rows : int, default=10_000
        Rows that are held at a time.
    on_refused : callable, default=None
        Is given the error of a row that is not a transaction, which is then passed over; by default
        the error is raised.

    Yields
    ------
    Transaction
    """
    columns = intake.schema.columns
    like = {name: "text" if kind == "text" else "missing" for name, kind in columns.items()}
    known = file_columns(path, like)
    extra = intake.schema.transaction.columns
    asked = [name for name in columns if name in known or name not in extra]
    lines = row_numbers(path)
    for piece in read_chunks(path, rows, like, asked):
        numbers_of_rows = lines.of(piece.index)
        where = [f"row {n}" for n in numbers_of_rows]
        yield from table_transactions(piece, intake, where, on_refused)


def table_transactions(
    table: pd.DataFrame,
    intake: Intake,
    where: list[str] | None = None,
    on_refused: Callable[[IntakeError], None] | None = None,
) -> Iterator[Transaction]:
    """Read the transactions of a table; ``where`` names its rows in errors."""
    places = where or [f"transactions[{i}]" for i in range(len(table))]
    columns = [
        _values(table[name], kind) if name in table else [None] * len(table)
        for name, kind in intake.schema.columns.items()
    ]
    for place, *values in zip(places, *columns, strict=True):
        try:
            transaction = intake.transaction(intake.row(values), place)
        except IntakeError as error:
            if on_refused is None:
                raise
            on_refused(error)
        else:
            yield transaction


def _values(column: pd.Series[Any], kind: Kind) -> list[Any]:
    """The values of a column as those of JSON; None where they are missing."""
    if column.isna().all():
        return [None] * len(column)
    if kind == "text":
        return _texts(column)
    if kind == "time":
        return _times(column)
    if kind == "boolean":
        return [None if v != v else bool(v) for v in booleans(column, None).tolist()]
    return [None if v != v else v for v in numbers(column, None).tolist()]


def _texts(column: pd.Series[Any]) -> list[str | None]:
    if kind_of(column) != "text" or isinstance(column.dtype, pd.CategoricalDtype):
        return list(texts(column).to_pylist())  # a number 2.0 is "2"
    known = column.notna()
    return [str(v) if there else None for v, there in zip(column, known, strict=True)]


def _times(column: pd.Series[Any]) -> list[datetime | None]:
    """Times of Python: with a zone where the column has one, else as they are written."""
    if not pt.is_datetime64_any_dtype(column.dtype) and kind_of(column) != "date":
        times = Clock().read(column, allow_missing=True)
        zoned = (times.instant != times.local).any()
        column = pd.Series(pd.DatetimeIndex(times.instant.view("datetime64[ns]")))
        column = column.dt.tz_localize("UTC") if zoned else column
    return [None if pd.isna(v) else pd.Timestamp(v).round("us").to_pydatetime() for v in column]

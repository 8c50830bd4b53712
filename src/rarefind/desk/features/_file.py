"""The features that a desk would compute for the transactions of a file: what models learn from."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rarefind.data import read_table
from rarefind.data.decode import booleans
from rarefind.data.feature_table import feature_table
from rarefind.data.read import row_numbers
from rarefind.data.table_file import AnyFile
from rarefind.data.target import check_column
from rarefind.desk.intake import Intake
from rarefind.desk.intake.rows import table_transactions
from rarefind.desk.schema import Kind, Schema

__all__ = ["describe_file"]


def describe_file(
    path: AnyFile,
    schema: Schema,
    *,
    label: str | None = None,
    arrival: str | None = None,
    known_at: str | None = None,
) -> pd.DataFrame:
    """Read transactions as a desk does, and add what it would have known of each on arrival.

    Parameters
    ----------
    path : str or Path
        Any file of :func:`rarefind.data.read_table`, with the columns of the schema.
    schema : Schema
    label : str, optional
        The column that says what was fraud, for the features that count frauds: 1, true or yes.
        Without it none is known.
    arrival : str, optional
        The column in whose order transactions arrived; by default that of their own times.
    known_at : str, optional
        The column that says, in the unit of ``arrival``, when a label became known; by default as
        soon as ``labels.delay`` allows.

    Returns
    -------
    DataFrame
        The columns of the file, those of the schema as the desk has them, and the features. A
        column of the file with the name of a feature is replaced by it.

    Raises
    ------
    IntakeError
        Where a row is one that the desk would refuse.
    """
    columns, extra = schema.columns, schema.transaction.columns
    texts = [name for name, kind in columns.items() if kind == "text"]
    table = read_table(path, like=dict.fromkeys(texts, "text"))
    for name in (*columns, label, arrival, known_at):
        if name is not None and name not in extra:
            check_column(table, name)
    lines = [f"row {number}" for number in row_numbers(path).of(table.index)]
    table = table.assign(**_as_received(table, schema, lines))
    known = table if label is None else table.assign(**{label: booleans(table[label], None)})
    features = feature_table(
        known, schema.features, arrival=arrival, label=label, known_at=known_at
    )
    return table.assign(**{name: features[name] for name in features.columns})


def _as_received(
    table: pd.DataFrame, schema: Schema, lines: list[str]
) -> dict[str, pd.Series[Any]]:
    """The columns of the schema with the values that rules and models see."""
    names = [name for name in schema.columns if name in table]
    values: dict[str, list[Any]] = {name: [] for name in names}
    for transaction in table_transactions(table, Intake(schema), lines):
        for name in names:
            values[name].append(transaction.values[name])
    zone = schema.transaction.time_zone
    return {name: _series(values[name], schema.columns[name], zone, table.index) for name in names}


def _series(values: list[Any], kind: Kind, zone: str, index: pd.Index[Any]) -> pd.Series[Any]:
    if kind == "time":
        return pd.Series(pd.to_datetime(values, utc=True), index=index).dt.tz_convert(zone)
    dtypes: dict[str, Any] = {"text": object, "number": "float64", "boolean": "boolean"}
    return pd.Series(values, index=index, dtype=dtypes[kind])

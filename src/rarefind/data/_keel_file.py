"""KEEL files as tables: read completely, and checked before."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from rarefind.data._csv import check_unique
from rarefind.data._keel import read_dat
from rarefind.data.row_numbers import RowNumbers


def _keel_lines(path: Path) -> tuple[list[str], int]:
    """The lines of a file, and where the rows begin."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    data = next((i for i, line in enumerate(lines) if line.strip().lower() == "@data"), None)
    if data is None:
        raise ValueError(
            f"{path} is not a KEEL file, for it has no line @data: rename it to .csv if it is "
            "delimited text."
        )
    return lines, data


def keel_row_numbers(path: Path) -> RowNumbers:
    """Numbers of the rows of a file."""
    lines, data = _keel_lines(path)
    rows = [i + 1 for i in range(data + 1, len(lines)) if lines[i].strip()]
    return RowNumbers(data + 2, np.array(rows, dtype=np.int64))


def read_keel(path: Path) -> pd.DataFrame:
    """A file as a table."""
    lines, data = _keel_lines(path)
    width = sum(line.strip().lower().startswith("@attribute") for line in lines[:data])
    for number, row in enumerate(csv.reader(lines[data + 1 :]), start=data + 2):
        if row and len(row) != width:
            raise ValueError(
                f"Line {number} of {path} has {len(row)} fields where the header names {width} "
                "attributes: correct the line."
            )
    if not any(line.strip() for line in lines[data + 1 :]):
        raise ValueError(f"{path} has a header but no rows: add the rows, or name another file.")
    try:
        table, _ = read_dat("\n".join(lines))
    except pd.errors.ParserError as error:
        raise ValueError(f"{path} cannot be read as a table: {str(error).strip()}.") from None
    check_unique(path, list(table.columns))
    return table

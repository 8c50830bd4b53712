"""Sheets of Excel files as tables."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rarefind._core.extras import extra
from rarefind.data._csv import check_unique
from rarefind.data._header import header_at, tell_titles
from rarefind.data._sheet_size import check_sheet_sizes
from rarefind.data._typed import as_number, with_types
from rarefind.data.row_numbers import RowNumbers
from rarefind.data.table_file import TableFile
from rarefind.data.types import TYPES, Types

EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_SAMPLE_ROWS = 200


class Sheet(NamedTuple):
    """The cells of a sheet below its header, by column; missing cells are None."""

    names: list[str]
    columns: list[list[Any]]
    numbers: RowNumbers

    def table(self, types: Types, date_format: str | None = None) -> pd.DataFrame:
        """The sheet as a table; a column of texts is read as that of a text file is."""
        texts, frames = {}, {}
        for name, cells in zip(self.names, self.columns, strict=True):
            typed = _typed(cells)
            if typed is None:
                texts[name] = pa.array(_as_texts(cells, types.get(name, "")), pa.string())
            else:
                frames[name] = typed
        read = with_types(pa.table(texts), types, date_format=date_format) if texts else frames
        frame = pd.DataFrame({n: frames[n] if n in frames else read[n] for n in self.names})
        frame.attrs[TYPES] = read.attrs[TYPES] if isinstance(read, pd.DataFrame) else {}
        return as_number(frame, types)


def open_sheet(file: TableFile) -> Sheet:
    """A sheet of an Excel file."""
    now = file.path.stat()
    return _opened(file, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=1)
def _opened(file: TableFile, modified: int, size: int) -> Sheet:
    rows = _rows(file)
    at = header_at([[str(cell) for cell in row] for row in rows[:_SAMPLE_ROWS]])
    tell_titles(file.path, at + 1, sum(any(map(_is_known, row)) for row in rows[:at]))
    below = [i for i in range(at + 1, len(rows)) if any(map(_is_known, rows[i]))]
    if not below:
        raise ValueError(f"{file} has a header but no rows: add the rows, or name another sheet.")
    names, columns = [], []
    for i, head in enumerate(rows[at]):
        cells = [rows[row][i] if _is_known(rows[row][i]) else None for row in below]
        if _is_known(head) or any(cell is not None for cell in cells):
            names.append(str(head).strip() or f"column {i + 1}")
            columns.append(cells)
    check_unique(file.path, names)
    return Sheet(names, columns, RowNumbers(at + 2, np.array(below, dtype=np.int64) + 1))


def _rows(file: TableFile) -> list[list[Any]]:
    with extra("excel", f"{file.path.name}, an Excel file,"):
        from python_calamine import CalamineError, CalamineWorkbook
    if file.kind in (".xlsx", ".xlsm"):
        check_sheet_sizes(file.path)
    try:
        book = CalamineWorkbook.from_path(str(file.path))
        names = book.sheet_names
        if not names:
            raise ValueError(f"{file} has no sheets: save it again.")
        if file.sheet is not None and file.sheet not in names:
            raise ValueError(
                f"{file} has no sheet {file.sheet!r}: its sheets are {', '.join(map(repr, names))}."
            )
        sheet = book.get_sheet_by_name(file.sheet or names[0])
        rows: list[list[Any]] = sheet.to_python(skip_empty_area=False)
    except (CalamineError, OSError) as error:
        raise ValueError(
            f"{file} is not a complete Excel file, or has a password: save it again ({error})."
        ) from None
    if not any(any(map(_is_known, row)) for row in rows):
        others = [name for name in names if name != (file.sheet or names[0])]
        hint = f": name another by --sheet ({', '.join(others)})" if others else ""
        raise ValueError(f"{file} has nothing in the sheet {file.sheet or names[0]!r}{hint}.")
    return rows


def _is_known(cell: Any) -> bool:
    return not (isinstance(cell, str) and not cell.strip())


def _typed(cells: list[Any]) -> pd.Series[Any] | None:
    """A column whose cells are all numbers, all dates or all true and false; None of others."""
    known = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in known}
    missing = len(known) < len(cells)
    if kinds == {bool}:
        return pd.Series(cells, dtype="boolean" if missing else "bool")
    if kinds and kinds <= {int, float}:
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
        whole = not missing and bool(
            (values == np.round(values)).all() and (abs(values) < 2**53).all()
        )
        return pd.Series(values.astype(np.int64) if whole else values)
    if kinds and kinds <= {dt.datetime, dt.date}:
        return pd.Series(pd.to_datetime(cells), dtype="datetime64[us]")
    return None


def _as_texts(cells: list[Any], kind: str) -> list[str | None]:
    """Cells of several types as a text file would have them, with the decimal mark of a type."""
    comma = kind == "number," or kind.startswith("number:eu")

    def text(cell: Any) -> str | None:
        if isinstance(cell, bool):
            return "true" if cell else "false"
        if isinstance(cell, float | int):
            plain = str(int(cell)) if float(cell).is_integer() and abs(cell) < 2**53 else repr(cell)
            return plain.replace(".", ",") if comma else plain
        return None if cell is None else str(cell)

    return [text(cell) for cell in cells]

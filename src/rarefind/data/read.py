"""Tables from files: delimited text, Excel, Parquet, Arrow and KEEL."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import pandas as pd
import pyarrow as pa

from rarefind._core.progress import progress_bar
from rarefind.data import _csv
from rarefind.data._columnar import ARROW, PARQUET, batches_of, open_columnar
from rarefind.data._excel import EXCEL, open_sheet
from rarefind.data._header import own_names, tell_renamed
from rarefind.data._keel_file import keel_row_numbers, read_keel
from rarefind.data._strays import tell_strays
from rarefind.data._typed import as_number, with_fractions, with_types
from rarefind.data.row_numbers import RowNumbers, rows_named_by, text_row_numbers
from rarefind.data.table_file import AnyFile, TableFile
from rarefind.data.target import check_target
from rarefind.data.types import TYPES, Types, from_arrow, types_of

_TEXT = (".csv", ".tsv", ".tab", ".psv", ".txt")
_KEEL = (".dat",)
# Bytes of text whose lines show about how many rows there are.
_LOOK = 1 << 20
# Where a piece in Arrow keeps the number of rows before it.
_START = b"rarefind_start"
_NO_ROWS = "{} has a header but no rows: add the rows, or name another file."


def read_table(
    path: AnyFile,
    *,
    target: str | None = None,
    like: pd.DataFrame | Types | None = None,
    sheet: str | None = None,
    date_format: str | None = None,
) -> pd.DataFrame:
    """Read a table from a file, whatever its kind.

    Parameters
    ----------
    path : str or Path
        Delimited text (``.csv``, ``.tsv``, ``.tab``, ``.psv``, ``.txt``, and each with ``.gz``),
        Parquet (``.parquet``, ``.pq``), Arrow (``.arrow``, ``.feather``, ``.ipc``), KEEL
        (``.dat``) or, with ``pip install 'rarefind[excel]'``, Excel (``.xlsx``, ``.xlsm``,
        ``.xlsb``, ``.xls``, ``.ods``).
    target : str, default=None
        A column that must be there and have two labels (:func:`check_target`).
    like : DataFrame or dict, default=None
        A table read before, or its ``attrs["rarefind_types"]``: its columns are given the same
        types, and are found if their names differ in case and spaces only. By default types are
        found in the file.
    sheet : str, default=None
        The sheet of an Excel file; by default the first.
    date_format : str, default=None
        How dates are written, as ``"%d/%m/%Y"``. Of dates that could be read day first and month
        first alike, it says which; by default the other columns of the file decide.

    Returns
    -------
    DataFrame
        Its ``attrs["rarefind_types"]`` say, in plain words, the type of each column.

    Notes
    -----
    The separator of text (comma, semicolon, tab or bar) is the one that cuts the first lines most
    evenly; titles above the line of column names are passed over, with a warning. Text is UTF-8,
    with or without a mark; a file that is not UTF-8 from end to end is read as Windows
    writes in the West (Windows-1252, or Latin-1). A column is
    of numbers, of booleans (true and false, or yes and no, in words), of dates, or of text, when
    all its values are. Numbers may be written as offices do: ``1 234,56``, ``10,94 €``,
    ``$328.20``, ``(1,234)`` for a negative one, ``12,5 %`` for 12.5. Numbers that begin with a zero
    are codes and stay text. What could be read in two ways, as ``1,234`` or ``03/04/2026``, is read
    as the other columns of the file are, else stays text, with a warning. A column that a few odd
    values turn into text is named with the first of them. Empty fields, NA, NaN, null, None and ?
    are missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rarefind.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "payments.csv"
    ...     _ = path.write_text("amount;new;opened\\n12.5;yes;31/12/2025\\n;no;01/02/2026\\n")
    ...     table = read_table(path)
    >>> table.attrs["rarefind_types"]
    {'amount': 'number', 'new': 'boolean', 'opened': 'date:%d/%m/%Y'}
    """
    file = _existing(path if sheet is None else TableFile(TableFile.of(path).path, sheet))
    with rows_named_by(file):
        table = _whole(file, _types(like), date_format)
    if not len(table):
        raise ValueError(_NO_ROWS.format(file))
    if like is None:
        tell_strays(table, lambda: row_numbers(file))
    if target is not None:
        check_target(table, target)
    return table


def read_chunks(
    path: AnyFile,
    rows: int = 100_000,
    like: pd.DataFrame | Types | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a table piece by piece: a file larger than memory.

    Parameters
    ----------
    path : str or Path
        As in :func:`read_table`. Excel and KEEL files are read completely, then cut.
    rows : int, default=100_000
        Rows of each piece; the last may have fewer.
    like : DataFrame or dict, default=None
        As in :func:`read_table`; by default the types are those of the first piece, and a later
        value that does not fit is an error that names it.
    columns : sequence of str, default=None
        The columns to read, in this order; all by default. Of columnar files no others are touched.

    Yields
    ------
    DataFrame
        The index counts the rows of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rarefind.data import read_chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "payments.csv"
    ...     _ = path.write_text("amount,country\\n1,FR\\n2,FR\\n3,BE\\n")
    ...     [len(part) for part in read_chunks(path, rows=2)]
    [2, 1]
    """
    pieces = read_pieces(path, rows, like, columns)
    return (as_read(piece, like) for piece in pieces)


def read_pieces(
    path: AnyFile,
    rows: int,
    like: pd.DataFrame | Types | None = None,
    columns: Sequence[str] | None = None,
    levels: Sequence[str] = (),
) -> Iterator[pd.DataFrame | Any]:
    """As :func:`read_chunks`, with columnar files still in Arrow: see :func:`as_read`.

    Columns of text named by ``levels`` come as levels and their codes where that is faster.
    """
    if rows < 1:
        raise ValueError(f"A piece needs at least one row, but rows={rows}.")
    file, types = _existing(path), _types(like)
    if columns is not None:
        _check_present(file, columns, types)
    return _pieces(file, rows, types, None if columns is None else list(columns), levels)


def as_read(piece: pd.DataFrame | Any, like: pd.DataFrame | Types | None) -> pd.DataFrame:
    """A piece in pandas."""
    if isinstance(piece, pd.DataFrame):
        return piece
    frame = as_number(from_arrow(piece), _types(like))
    start = int(piece.schema.metadata[_START])
    return frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)


def file_columns(path: AnyFile, like: pd.DataFrame | Types | None = None) -> list[str]:
    """Names of the columns of a file, as :func:`read_table` would give them."""
    file = _existing(path)
    return _own(file, _names(file), _types(like))


def file_rows(path: AnyFile) -> int | None:
    """Rows of a file where it says so itself; None where they have to be counted."""
    file = _existing(path)
    if file.kind in EXCEL:
        return len(open_sheet(file).columns[0])
    if file.kind not in PARQUET + ARROW:
        return None
    with open_columnar(file.path) as columnar:
        return columnar.rows


def about_rows(path: AnyFile) -> int | None:
    """About how many rows a file has, of text by the length of its first lines; None if unknown."""
    file = _existing(path)
    if file.kind not in _TEXT:
        return file_rows(file)
    with _csv.opened(file.path) as text:
        looked = text.read(_LOOK)
        read = getattr(text, "fileobj", text).tell()  # of packed text, the bytes of the file
    return round(looked.count(b"\n") * file.path.stat().st_size / max(1, read))


def row_numbers(path: AnyFile) -> RowNumbers:
    """The numbers of the rows of a file: see :mod:`rarefind.data.row_numbers`."""
    file = _existing(path)
    if file.kind in _TEXT:
        return text_row_numbers(_csv.csv_layout(file.path))
    if file.kind in EXCEL:
        return open_sheet(file).numbers
    return keel_row_numbers(file.path) if file.kind in _KEEL else RowNumbers()


def with_progress(chunks: Iterable[pd.DataFrame], file: AnyFile) -> Iterator[pd.DataFrame]:
    """The pieces of a file, with the progress reported."""
    with progress_bar("rows", about_rows(file), 0) as advance:
        for chunk in chunks:
            yield chunk
            advance(len(chunk))


def _whole(file: TableFile, types: Types, date_format: str | None) -> pd.DataFrame:
    names = _own(file, _names(file), types)
    if file.kind in _TEXT:
        written = replace(_csv.csv_layout(file.path), names=names)
        schema = pa.schema([(name, pa.string()) for name in names])
        table = pa.Table.from_batches(list(written.rows()), schema)
        return with_types(table, types, date_format=date_format)
    if file.kind in EXCEL:
        return open_sheet(file)._replace(names=names).table(types, date_format)
    if file.kind in _KEEL:
        return as_number(read_keel(file.path).set_axis(names, axis=1), types)
    batches = list(batches_of(file.path))
    if not batches:
        raise ValueError(_NO_ROWS.format(file))
    frame = from_arrow(pa.Table.from_batches(batches))
    return as_number(frame.set_axis(names, axis=1), types)


def _pieces(
    file: TableFile, rows: int, types: Types, columns: list[str] | None, levels: Sequence[str]
) -> Iterator[pd.DataFrame | Any]:
    if file.kind in _TEXT:
        pieces: Iterator[Any] = _text_pieces(file, rows, types, columns)
    elif file.kind in PARQUET + ARROW:
        pieces = _columnar_pieces(file, rows, types, columns, levels)
    else:
        with rows_named_by(file):
            whole = _whole(file, types, None)
        whole = whole if columns is None else whole[columns]
        pieces = (whole.iloc[i : i + rows] for i in range(0, len(whole), rows))
    start = 0
    for piece in pieces:
        if isinstance(piece, pd.DataFrame):
            piece.index = pd.RangeIndex(start, start + len(piece))
        else:
            piece = piece.replace_schema_metadata({_START: str(start)})
        start += len(piece)
        yield piece
    if start == 0:
        raise ValueError(_NO_ROWS.format(file))


def _text_pieces(
    file: TableFile, rows: int, types: Types, columns: list[str] | None
) -> Iterator[pd.DataFrame]:
    layout = _csv.csv_layout(file.path)
    written = replace(layout, names=_own(file, layout.names, types))
    start = 0
    for table in _slices(written.rows(columns), rows):
        with rows_named_by(file):
            piece = with_types(table, types, start)
        types = piece.attrs[TYPES]
        start += len(piece)
        yield piece


def _columnar_pieces(
    file: TableFile, rows: int, types: Types, columns: list[str] | None, levels: Sequence[str]
) -> Iterator[Any]:
    names = _names(file)
    own = _own(file, names, types)
    of_own = dict(zip(own, names, strict=True))
    asked = None if columns is None else [of_own[name] for name in columns]
    batches = batches_of(file.path, rows, asked, [of_own[name] for name in levels])
    of_file = dict(zip(names, own, strict=True))
    for table in _slices(batches, rows):
        if names != own:
            table = table.rename_columns([of_file.get(n, n) for n in table.column_names])
        yield with_fractions(table, types)


def _slices(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Tables of so many rows from batches of any size."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        while sum(part.num_rows for part in waiting) >= rows:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, rows)
            waiting = table.slice(rows).to_batches()
    if any(part.num_rows for part in waiting):
        yield pa.Table.from_batches(waiting)


def _names(file: TableFile) -> list[str]:
    """Names of the columns as the file has them."""
    if file.kind in _TEXT:
        return _csv.csv_layout(file.path).names
    if file.kind in EXCEL:
        return open_sheet(file).names
    if file.kind in _KEEL:
        return list(read_keel(file.path).columns)
    with open_columnar(file.path) as columnar:
        return [name for name in columnar.names if not name.startswith("__index_level_")]


def _own(file: TableFile, names: list[str], types: Types) -> list[str]:
    """Names of columns as those of the table to be like are written."""
    if not types:
        return names
    own = own_names(names, types)
    tell_renamed(file.path, names, own)
    return own


def _check_present(file: TableFile, columns: Sequence[str], types: Types) -> None:
    names = file_columns(file, types)
    absent = [name for name in columns if name not in names]
    if not absent:
        return
    close = get_close_matches(str(absent[0]), names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    what = "column" if len(absent) == 1 else "columns"
    raise ValueError(
        f"{file} has no {what} {', '.join(map(repr, absent))}{hint}: add "
        f"{'it' if len(absent) == 1 else 'them'}, empty where nothing is known."
    )


def _existing(path: AnyFile) -> TableFile:
    file = TableFile.of(path)
    if file.path.is_dir():
        raise ValueError(f"{file} is a folder: name one file inside it.")
    if not file.path.exists():
        raise FileNotFoundError(f"There is no file {file}: check the name and the folder.")
    if file.kind not in _TEXT:
        known = (*_TEXT, ".csv.gz", *EXCEL, *PARQUET, *ARROW, *_KEEL)
        if file.kind not in known or file.is_packed:
            kinds = ", ".join(known)
            raise ValueError(
                f"{file} is not of a known kind: its name should end in one of {kinds}."
            )
    if file.sheet is not None and file.kind not in EXCEL:
        raise ValueError(f"{file} has no sheets: leave out the sheet {file.sheet!r}.")
    if not os.access(file.path, os.R_OK):
        raise PermissionError(f"You may not read {file}: ask its owner for permission.")
    if file.path.stat().st_size == 0:
        raise ValueError(f"{file} is empty: it needs a line of column names and rows below it.")
    return file


def _types(like: pd.DataFrame | Types | None) -> Types:
    if like is None:
        return {}
    return types_of(like) if isinstance(like, pd.DataFrame) else dict(like)

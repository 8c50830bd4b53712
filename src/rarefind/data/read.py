"""Tables from files: delimited text, Parquet, Arrow and KEEL."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from rarefind._core.progress import progress_bar
from rarefind.data import _csv
from rarefind.data._keel import read_dat
from rarefind.data.row_numbers import RowNumbers, rows_named_by, text_row_numbers
from rarefind.data.target import check_target
from rarefind.data.types import TYPES, Types, clean, convert, from_arrow, infer_type, types_of

_TEXT = (".csv", ".tsv", ".tab", ".psv", ".txt")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
# Bytes of text whose lines show about how many rows there are.
_LOOK = 1 << 20
# Where a piece in Arrow keeps the number of rows before it.
_START = b"rarefind_start"
_NO_ROWS = "{} has a header but no rows: add the rows, or name another file."


def read_table(
    path: str | Path, *, target: str | None = None, like: pd.DataFrame | Types | None = None
) -> pd.DataFrame:
    """Read a table from a file, whatever its kind.

    Parameters
    ----------
    path : str or Path
        Delimited text (``.csv``, ``.tsv``, ``.tab``, ``.psv``, ``.txt``, and each with ``.gz``),
        Parquet (``.parquet``, ``.pq``), Arrow (``.arrow``, ``.feather``, ``.ipc``) or KEEL
        (``.dat``).
    target : str, default=None
        A column that must be there and have two labels (:func:`check_target`).
    like : DataFrame or dict, default=None
        A table read before, or its ``attrs["rarefind_types"]``: its columns are given the same
        types. By default they are found in the file.

    Returns
    -------
    DataFrame
        Its ``attrs["rarefind_types"]`` say, in plain words, the type of each column.

    Notes
    -----
    The separator of text (comma, semicolon, tab or bar) is the one that cuts the first lines most
    evenly. Text is UTF-8, with or without a mark; a file that is not UTF-8 from end to end is
    read as Latin-1. A column is of numbers, of booleans (true and false, or yes and no, in words),
    of dates, or of text, when all its values are: numbers that begin with a zero are codes and
    stay text, as do dates that could be read day first and month first alike. Empty fields, NA,
    NaN, null, None and ? are missing.

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
    path = _existing(path)
    table = _reader(path)(path, _types(like))
    if not len(table):
        raise ValueError(_NO_ROWS.format(path))
    if target is not None:
        check_target(table, target)
    return table


def read_chunks(
    path: str | Path,
    rows: int = 100_000,
    like: pd.DataFrame | Types | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a table piece by piece: a file larger than memory.

    Parameters
    ----------
    path : str or Path
        As in :func:`read_table`. KEEL files are read completely, then cut.
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
    path: str | Path,
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
    path = _existing(path)
    if columns is not None:
        _check_present(path, columns)
    return _pieces(path, rows, _types(like), None if columns is None else list(columns), levels)


def as_read(piece: pd.DataFrame | Any, like: pd.DataFrame | Types | None) -> pd.DataFrame:
    """A piece in pandas."""
    if isinstance(piece, pd.DataFrame):
        return piece
    frame = _as_number(from_arrow(piece), _types(like))
    start = int(piece.schema.metadata[_START])
    return frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis=0)


def file_columns(path: str | Path) -> list[str]:
    """Names of the columns of a file."""
    path = _existing(path)
    if _kind(path) in _TEXT:
        return _csv.csv_layout(path).names
    if _kind(path) == ".dat":
        return list(_read_keel(path, {}).columns)
    with _open_columnar(path) as file:
        return [name for name in file.names if not name.startswith("__index_level_")]


def file_rows(path: str | Path) -> int | None:
    """Rows of a file where it says so itself; None where they have to be counted."""
    path = _existing(path)
    if _kind(path) not in _PARQUET + _ARROW:
        return None
    with _open_columnar(path) as file:
        return file.rows


def about_rows(path: str | Path) -> int | None:
    """About how many rows a file has, of text by the length of its first lines; None if unknown."""
    path = _existing(path)
    if _kind(path) not in _TEXT:
        return file_rows(path)
    with _csv.opened(path) as text:
        looked = text.read(_LOOK)
        read = getattr(text, "fileobj", text).tell()  # of packed text, the bytes of the file
    return round(looked.count(b"\n") * path.stat().st_size / max(1, read))


def row_numbers(path: str | Path) -> RowNumbers:
    """The numbers of the rows of a file: see :mod:`rarefind.data.row_numbers`."""
    path = _existing(path)
    if _kind(path) in _TEXT:
        return text_row_numbers(_csv.csv_layout(path))
    return _keel_row_numbers(path) if _kind(path) == ".dat" else RowNumbers()


def _pieces(
    path: Path, rows: int, types: Types, columns: list[str] | None, levels: Sequence[str]
) -> Iterator[pd.DataFrame | Any]:
    if _kind(path) == ".dat":
        whole = _read_keel(path, types)
        whole = whole if columns is None else whole[columns]
        pieces: Iterator[Any] = (whole.iloc[i : i + rows] for i in range(0, len(whole), rows))
    elif _kind(path) in _TEXT:
        pieces = _text_pieces(_csv.csv_layout(path), rows, types, columns)
    else:
        tables = _slices(_batches(path, rows, columns, levels), rows)
        pieces = (_with_fractions(table, types) for table in tables)
    start = 0
    for piece in pieces:
        if isinstance(piece, pd.DataFrame):
            piece.index = pd.RangeIndex(start, start + len(piece))
        else:
            piece = piece.replace_schema_metadata({_START: str(start)})
        start += len(piece)
        yield piece
    if start == 0:
        raise ValueError(_NO_ROWS.format(path))


def _check_present(path: Path, columns: Sequence[str]) -> None:
    names = file_columns(path)
    absent = [name for name in columns if name not in names]
    if not absent:
        return
    close = get_close_matches(str(absent[0]), names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    what = "column" if len(absent) == 1 else "columns"
    raise ValueError(
        f"{path} has no {what} {', '.join(map(repr, absent))}{hint}: add "
        f"{'it' if len(absent) == 1 else 'them'}, empty where nothing is known."
    )


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name one file inside it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}: check the name and the folder.")
    _reader(path)
    if not os.access(path, os.R_OK):
        raise PermissionError(f"You may not read {path}: ask its owner for permission.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty: it needs a line of column names and rows below it.")
    return path


def _kind(path: Path) -> str:
    packed = path.suffix.lower() == ".gz"
    return Path(path.stem).suffix.lower() if packed else path.suffix.lower()


def _reader(path: Path) -> Callable[[Path, Types], pd.DataFrame]:
    kind, packed = _kind(path), path.suffix.lower() == ".gz"
    if kind in _TEXT:
        return _read_text
    if kind in _PARQUET + _ARROW and not packed:
        return _read_arrow
    if kind == ".dat" and not packed:
        return _read_keel
    kinds = ", ".join((*_TEXT, ".csv.gz", *_PARQUET, *_ARROW, ".dat"))
    raise ValueError(f"{path} is not of a known kind: its name should end in one of {kinds}.")


def _types(like: pd.DataFrame | Types | None) -> Types:
    if like is None:
        return {}
    return types_of(like) if isinstance(like, pd.DataFrame) else dict(like)


def _read_text(path: Path, types: Types) -> pd.DataFrame:
    written = _csv.csv_layout(path)
    batches = list(written.rows())
    schema = pa.schema([(name, pa.string()) for name in written.names])
    with rows_named_by(path):
        return _with_types(pa.Table.from_batches(batches, schema), types)


def _text_pieces(
    written: _csv.CsvLayout, rows: int, types: Types, columns: list[str] | None
) -> Iterator[pd.DataFrame]:
    start = 0
    for table in _slices(written.rows(columns), rows):
        with rows_named_by(written.path):
            piece = _with_types(table, types, start)
        types = piece.attrs[TYPES]
        start += len(piece)
        yield piece


def _with_types(table: Any, types: Types, start: int = 0) -> pd.DataFrame:
    columns, found = {}, {}
    for name in table.column_names:
        text = clean(table.column(name))
        found[name] = types.get(name, "missing")
        if found[name] == "missing":
            found[name] = infer_type(text)
        columns[name] = convert(text, found[name], name, start)
    frame = _as_number(pd.DataFrame(columns), types)
    frame.attrs[TYPES] = found
    return frame


def _as_number(frame: pd.DataFrame, types: Types) -> pd.DataFrame:
    """Turn whole numbers into floats where the table to be like has floats."""
    for name in frame.columns:
        if types.get(name) == "number" and pd.api.types.is_integer_dtype(frame[name].dtype):
            frame[name] = frame[name].astype("float64")
    frame.attrs[TYPES] = types_of(frame)
    return frame


def _with_fractions(table: Any, types: Types) -> Any:
    """As :func:`_as_number`, for an Arrow table."""
    for i, field in enumerate(table.schema):
        if types.get(field.name) == "number" and pa.types.is_integer(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64(), safe=False))
    return table


def _read_arrow(path: Path, types: Types) -> pd.DataFrame:
    batches = list(_batches(path))
    if not batches:
        raise ValueError(_NO_ROWS.format(path))
    return _as_number(from_arrow(pa.Table.from_batches(batches)), types)


class _ColumnarFile(NamedTuple):
    """A columnar file: its columns, its rows if it says how many, and batches of them."""

    names: list[str]
    rows: int | None
    batches: Callable[[int, list[str] | None], Iterator[Any]]


def _batches(
    path: Path,
    rows: int = 1 << 16,
    columns: list[str] | None = None,
    levels: Sequence[str] = (),
) -> Iterator[Any]:
    """Record batches of a Parquet or Arrow file."""
    with _open_columnar(path, levels) as file:
        for batch in file.batches(rows, columns):
            yield batch if columns is None else batch.select(columns)


@contextmanager
def _open_columnar(path: Path, levels: Sequence[str] = ()) -> Iterator[_ColumnarFile]:
    open_file = _parquet(path, levels) if _kind(path) in _PARQUET else _arrow(path)
    try:
        with open_file as file:
            if not file.names:
                raise ValueError(f"{path} has no columns: write it again, with them.")
            _csv.check_unique(path, file.names)
            yield file
    except pa.ArrowMemoryError as error:
        raise ValueError(
            f"{path} needs more memory than there is, or is damaged: write it again ({error})."
        ) from None
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"{path} is not a complete {_kind(path)[1:]} file: write it again ({reason})."
        ) from None


@contextmanager
def _parquet(path: Path, levels: Sequence[str]) -> Iterator[_ColumnarFile]:
    # Through small buffers: else Arrow holds whole groups of rows, and those that it has done with.
    options = {"read_dictionary": list(levels), "buffer_size": 1 << 16, "pre_buffer": False}
    with pa.parquet.ParquetFile(path, **options) as file:
        yield _ColumnarFile(
            file.schema_arrow.names,
            file.metadata.num_rows,
            lambda rows, columns: file.iter_batches(rows, columns=columns),
        )


@contextmanager
def _arrow(path: Path) -> Iterator[_ColumnarFile]:
    with pa.memory_map(str(path)) as file:
        # The same endings are in use for files and for streams.
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        opened = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
        if is_file:
            numbers = range(opened.num_record_batches)
            rows = sum(opened.get_batch(i).num_rows for i in numbers)
            batches: Iterable[Any] = map(opened.get_batch, numbers)
        else:
            rows, batches = None, opened
        yield _ColumnarFile(opened.schema.names, rows, lambda *_: map(_validated, batches))


def _validated(batch: Any) -> Any:
    """A batch, if its values lie in it: Arrow would read them wherever they are said to be."""
    batch.validate(full=True)
    return batch


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


def _keel_row_numbers(path: Path) -> RowNumbers:
    lines, data = _keel_lines(path)
    rows = [i + 1 for i in range(data + 1, len(lines)) if lines[i].strip()]
    return RowNumbers(data + 2, np.array(rows, dtype=np.int64))


def _read_keel(path: Path, types: Types) -> pd.DataFrame:
    lines, data = _keel_lines(path)
    width = sum(line.strip().lower().startswith("@attribute") for line in lines[:data])
    for number, row in enumerate(csv.reader(lines[data + 1 :]), start=data + 2):
        if row and len(row) != width:
            raise ValueError(
                f"Line {number} of {path} has {len(row)} fields where the header names {width} "
                "attributes: correct the line."
            )
    if not any(line.strip() for line in lines[data + 1 :]):
        raise ValueError(_NO_ROWS.format(path))
    table, _ = read_dat("\n".join(lines))
    _csv.check_unique(path, list(table.columns))
    return _as_number(table, types)


def with_progress(chunks: Iterable[pd.DataFrame], file: str | Path) -> Iterator[pd.DataFrame]:
    """The pieces of a file, with the progress reported."""
    with progress_bar("rows", about_rows(file), 0) as advance:
        for chunk in chunks:
            yield chunk
            advance(len(chunk))

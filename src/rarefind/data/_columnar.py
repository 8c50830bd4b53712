"""Columnar files, Parquet and Arrow: their columns, and their rows in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from rarefind.data._csv import check_unique

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
# From 1970 to the first second of the year 1 and the last of 9999: Python knows no other times.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000}


class ColumnarFile(NamedTuple):
    """A columnar file: its columns, its rows if it says how many, and batches of them."""

    names: list[str]
    rows: int | None
    batches: Callable[[int, list[str] | None], Iterator[Any]]


def batches_of(
    path: Path,
    rows: int = 1 << 16,
    columns: list[str] | None = None,
    levels: Sequence[str] = (),
) -> Iterator[Any]:
    """Record batches of a Parquet or Arrow file."""
    with open_columnar(path, levels) as file:
        for batch in file.batches(rows, columns):
            # Its values lie in it: Arrow would read them wherever they are said to be.
            batch.validate(full=True)
            _check_times(path, batch)
            yield batch if columns is None else batch.select(columns)


@contextmanager
def open_columnar(path: Path, levels: Sequence[str] = ()) -> Iterator[ColumnarFile]:
    open_file = _parquet(path, levels) if path.suffix.lower() in PARQUET else _arrow(path)
    try:
        with open_file as file:
            if not file.names:
                raise ValueError(f"{path} has no columns: write it again, with them.")
            check_unique(path, file.names)
            yield file
    except pa.ArrowMemoryError as error:
        raise ValueError(
            f"{path} needs more memory than there is, or is damaged: write it again ({error})."
        ) from None
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"{path} is not a complete {path.suffix[1:].lower()} file: write it again ({reason})."
        ) from None


@contextmanager
def _parquet(path: Path, levels: Sequence[str]) -> Iterator[ColumnarFile]:
    # Through small buffers: else Arrow holds whole groups of rows, and those that it has done with.
    options = {"read_dictionary": list(levels), "buffer_size": 1 << 16, "pre_buffer": False}
    with pa.parquet.ParquetFile(path, **options) as file:
        yield ColumnarFile(
            file.schema_arrow.names,
            file.metadata.num_rows,
            lambda rows, columns: file.iter_batches(rows, columns=columns),
        )


@contextmanager
def _arrow(path: Path) -> Iterator[ColumnarFile]:
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
        yield ColumnarFile(opened.schema.names, rows, lambda *_: iter(batches))


def _check_times(path: Path, batch: Any) -> None:
    """Raise on times that no calendar has, such as milliseconds that are called seconds."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_date32(field.type):
            second, values = 1 / 86_400, column.view(pa.int32())
        elif pa.types.is_timestamp(field.type) and field.type.unit != "ns":  # these reach to 2262
            second, values = _SECOND[field.type.unit], column.view(pa.int64())
        elif pa.types.is_date64(field.type):
            second, values = 1_000, column.view(pa.int64())
        else:
            continue
        ends = [end for end in pc.min_max(values).as_py().values() if end is not None]
        if any(not _FIRST_SECOND <= end / second <= _LAST_SECOND for end in ends):
            raise ValueError(
                f"{path} has times before the year 1 or after 9999 in column {field.name!r}: write "
                "it again with the right unit, or leave the column out."
            )

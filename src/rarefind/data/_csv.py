"""Delimited text: its encoding, separator and header, its rows in batches, and its faults."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv

from rarefind.data._header import header_at, tell_titles

SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_LINES = 200
_BLOCK = 1 << 23
_LONGEST_LINE = _BLOCK
_NOT_WINDOWS = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")
_NOT_TEXT = "{} is not text in {} from end to end: save it again as UTF-8."
_NOT_WHOLE = "{} is not a complete gzip file ({}): pack it again."


@dataclass(frozen=True)
class CsvLayout:
    """How a file of delimited text is written."""

    path: Path
    encoding: str
    separator: str
    names: list[str]
    header_lines: int

    def rows(self, columns: list[str] | None = None) -> Iterator[Any]:
        """Record batches of text, as the file has them; a ragged row is an error.

        Of some columns only, in their order, if they are named.
        """
        options = {
            "read_options": pa.csv.ReadOptions(
                column_names=self.names,
                skip_rows=self.header_lines,
                encoding="utf8" if self.encoding == "utf-8-sig" else self.encoding,
                block_size=_BLOCK,
            ),
            "parse_options": pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            "convert_options": pa.csv.ConvertOptions(
                column_types=dict.fromkeys(self.names, pa.string()),
                strings_can_be_null=False,
                include_columns=columns,
            ),
        }
        try:
            with _arrow_file(self.path) as file, pa.csv.open_csv(file, **options) as batches:
                yield from batches
        except pa.ArrowInvalid as error:
            raise ValueError(_fault(self, error)) from None
        except UnicodeDecodeError:
            raise ValueError(_NOT_TEXT.format(self.path, self.encoding.upper())) from None
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(_NOT_WHOLE.format(self.path, error)) from None


def csv_layout(path: Path) -> CsvLayout:
    """Find out how a file is written; an empty file or a doubtful header is an error."""
    # Commands ask several times, and the answer takes a look at the whole file.
    now = path.stat()
    return _layout(path.absolute(), path, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=4)
def _layout(_: Path, path: Path, modified: int, size: int) -> CsvLayout:
    encoding = _encoding(path)
    with _lines(path, encoding) as text:
        sample = list(itertools.islice(text, _SAMPLE_LINES))
    if not any(line.strip() for line in sample):
        raise ValueError(f"{path} is empty: it needs a line of column names and rows below it.")
    separator = sniff(sample)
    rows, lines = _sample_rows(path, sample, separator)
    at = header_at(rows)
    names = [name.strip() or f"column {i}" for i, name in enumerate(rows[at], start=1)]
    check_unique(path, names)
    tell_titles(path, lines[at], sum(any(row) for row in rows[:at]))
    return CsvLayout(path, encoding, separator, names, lines[at])


def _sample_rows(
    path: Path, sample: list[str], separator: str
) -> tuple[list[list[str]], list[int]]:
    """The first rows, and the line on which each ends; fewer where one cannot be read."""
    reader = csv.reader(sample, delimiter=separator)
    rows, lines = [], []
    try:
        for row in reader:
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        if not rows:
            raise ValueError(
                f"{path} cannot be read as a table from its first line: {error}."
            ) from None
    return rows, lines


def sniff(sample: list[str]) -> str:
    """The separator that cuts most of the first lines into as many fields as the header has."""
    return max(SEPARATORS, key=lambda separator: _agreement(sample, separator))


def check_unique(path: Path, names: list[str]) -> None:
    """Raise if two columns have the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"{path} has more than one column named {', '.join(map(repr, twice))}: "
            "give each column a name of its own."
        )


def _agreement(sample: list[str], separator: str) -> tuple[bool, float, int]:
    try:
        cut = [row for row in csv.reader(sample, delimiter=separator) if row]
    except csv.Error:
        return False, 0.0, 0
    widths = [len(row) for row in cut[header_at(cut) :]]
    # The last row may be cut off inside quotes.
    rows = widths[1:-1] if len(sample) == _SAMPLE_LINES else widths[1:]
    same = sum(width == widths[0] for width in rows) / max(len(rows), 1)
    return widths[0] > 1, same, widths[0]


def _fault(written: CsvLayout, error: Exception) -> str:
    """Say what Arrow could not read: it does not count lines, so the file is read once more."""
    width, last_line = len(written.names), 0
    with _lines(written.path, written.encoding) as text:
        reader = csv.reader(text, delimiter=written.separator)
        try:
            for row in reader:
                if row and len(row) != width:
                    return (
                        f"Line {last_line + 1} of {written.path} has {_fields(len(row))} where the "
                        f"header has {width}: correct the line, or quote the fields with the "
                        f"separator {written.separator!r}."
                    )
                last_line = reader.line_num
        except csv.Error as fault:
            error = fault
    return f"{written.path} cannot be read as a table after line {last_line}: {error}."


def has_a_line_a_row(written: CsvLayout) -> bool:
    """Whether each line below the header is a row: none is blank, and no cell has several lines."""
    if written.encoding == "utf-16":
        return False
    tail, quotes = b"", 0
    with opened(written.path) as file:
        while block := file.read(_BLOCK):
            joined = tail + block
            if b"\n\n" in joined:
                return False
            if b"\r" in joined and (b"\n\r\n" in joined or _has_lone_return(joined)):
                return False
            if quotes or b'"' in block:
                marks = np.frombuffer(block, dtype=np.uint8)
                before = quotes + np.cumsum(marks == ord('"'))
                if (before[marks == ord("\n")] % 2).any():
                    return False
                quotes = int(before[-1] % 2)
            tail = joined[-2:]
    return True


def _has_lone_return(block: bytes) -> bool:
    # A block may end between the two characters of a line's end.
    inner = block[:-1]
    return inner.count(b"\r") != inner.count(b"\r\n") + block.endswith(b"\r\n")


def open_lines(written: CsvLayout) -> AbstractContextManager[Iterator[str]]:
    """The lines of a file, their ends as they are."""
    return _lines(written.path, written.encoding)


def _fields(count: int) -> str:
    return f"{count} field" if count == 1 else f"{count} fields"


def _encoding(path: Path) -> str:
    """UTF-16 if it is marked so, else UTF-8 if all of the file is, else as Windows writes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with opened(path) as file:
            block = file.read(_BLOCK)
            if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            while block:
                decoder.decode(block)
                block = file.read(_BLOCK)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252" if _is_windows(path) else "latin-1"
    return "utf-8-sig"


def _is_windows(path: Path) -> bool:
    """Whether all bytes mean something in the encoding of Windows, where € has a place."""
    with opened(path) as file:
        while block := file.read(_BLOCK):
            if any(byte in block for byte in _NOT_WINDOWS):
                return False
    return True


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked by its ending; one that is cut or damaged is an error."""
    try:
        with gzip.open(path, "rb") if _is_packed(path) else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(_NOT_WHOLE.format(path, error)) from None


@contextmanager
def _lines(path: Path, encoding: str) -> Iterator[Iterator[str]]:
    try:
        with opened(path) as file, io.TextIOWrapper(file, encoding=encoding, newline="") as text:
            yield _bounded_lines(path, text)
    except UnicodeDecodeError:
        raise ValueError(_NOT_TEXT.format(path, encoding.upper())) from None


def _bounded_lines(path: Path, text: io.TextIOWrapper) -> Iterator[str]:
    """Lines that fit into a block, as Arrow takes them: a packed file may hold one of gigabytes."""
    for number in itertools.count(1):
        line = text.readline(_LONGEST_LINE)
        if not line:
            return
        if len(line) == _LONGEST_LINE:
            raise ValueError(
                f"Line {number} of {path} has more than {_LONGEST_LINE:,} characters: a table has "
                "a row a line, and its cells are shorter."
            )
        yield line


def _arrow_file(path: Path) -> Any:
    """A file that Arrow reads by itself, unpacked by its ending.

    Arrow reads ahead in threads of its own: one that still asks for a file of Python when Python
    ends, after an error, ends it by a crash.
    """
    file = pa.OSFile(str(path), "rb")
    return pa.CompressedInputStream(file, "gzip") if _is_packed(path) else file


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"

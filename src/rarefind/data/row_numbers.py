"""The number of a row, the same everywhere: the line of the file on which it stands.

The first line is 1, so that below a header in line 1 the first row is row 2, as an editor and a
spreadsheet show it. Title lines, blank lines and cells of several lines are counted. A file without
lines (Parquet, Arrow) is numbered as if it had been written with a header in line 1. In Python the
rows of a table are counted by its index, from 0, as ever.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from rarefind._core.types import Ints
from rarefind.data import _csv
from rarefind.data.table_file import AnyFile

#: The number of the first row of a file without lines, or with a header in its first.
FIRST_ROW = 2


class RowNumbers:
    """Numbers of the rows of a file.

    Parameters
    ----------
    first : int, default=2
        The number of the first row.
    numbers : ndarray of int, default=None
        The number of each row, where they do not simply follow one another.
    """

    def __init__(self, first: int = FIRST_ROW, numbers: Ints | None = None) -> None:
        self._first, self._numbers = first, numbers

    def of(self, positions: Any) -> Ints:
        """Numbers of the rows at some positions, which count from 0."""
        positions = np.asarray(positions, dtype=np.int64)
        return positions + self._first if self._numbers is None else self._numbers[positions]

    def positions(self, numbers: Any) -> Ints:
        """Positions of the rows with some numbers; a number of no row gives one below 0 or too
        large.
        """
        numbers = np.asarray(numbers, dtype=np.int64)
        if self._numbers is None:
            return numbers - self._first
        found = np.searchsorted(self._numbers, numbers)
        there = self._numbers[np.minimum(found, self._numbers.size - 1)] == numbers
        return np.where(there, found, -1)


def row_name(number: int, identifier: object = None) -> str:
    """The identifier of a row where there is one, else its number.

    Examples
    --------
    >>> row_name(17), row_name(17, "C4711")
    ('row 17', 'C4711')
    """
    return f"row {number:,}" if identifier is None else str(identifier)


def position_of(column: pd.Series[Any], place: int) -> int:
    """The position in its file of a row of a column, whose index counts the rows of the file."""
    label = column.index[place]
    return int(label) if isinstance(label, int | np.integer) else place


class RowError(ValueError):
    """Something is wrong in one row of a table.

    Parameters
    ----------
    before, after : str
        The sentence around the name of the row, as in ``Column 'a' has 'x' in row 17, where …``.
    position : int
        Where the row is in the table, from 0.
    """

    def __init__(self, before: str, position: int, after: str) -> None:
        super().__init__(before, position, after)
        self.before, self.position, self.after = before, position, after
        #: The name of the row, where its file is known.
        self.row: str | None = None

    def __str__(self) -> str:
        row = self.row or f"row {self.position} (counted from 0)"
        return f"{self.before} {row}{self.after}"


@contextmanager
def rows_named_by(path: AnyFile) -> Iterator[None]:
    """Errors of rows inside name them by their numbers in a file."""
    from rarefind.data.read import row_numbers

    try:
        yield
    except RowError as error:
        if error.row is None:
            error.row = row_name(int(row_numbers(path).of([error.position])[0]))
        raise


def text_row_numbers(written: _csv.CsvLayout) -> RowNumbers:
    """Numbers of the rows of delimited text."""
    first = written.header_lines + 1
    if _csv.has_a_line_a_row(written):
        return RowNumbers(first)
    with _csv.open_lines(written) as text:
        reader, lines, line = csv.reader(text, delimiter=written.separator), [], 0
        for row in reader:
            # A row begins on the line after the one before it ended.
            if row and line >= written.header_lines:
                lines.append(line + 1)
            line = reader.line_num
    return RowNumbers(first, np.array(lines, dtype=np.int64)) if lines else RowNumbers(first)

"""How large a sheet of an Excel file would be in memory, before it is read.

The reader lays out all cells between the first and the last, and ends the process where there is
not enough memory for them: one cell in the last corner of a sheet makes 17 thousand million.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path

from rarefind._core.memory import total_memory

_CELL = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')
_BLOCK = 1 << 22
# The longest name of a cell, r="XFD1048576", which may stand across two blocks.
_LONGEST = 16
_BYTES_A_CELL = 32
# A sheet with at least one cell in so many is not laid out for nothing.
_SPARSEST = 20


def check_sheet_sizes(path: Path) -> None:
    """Raise where the sheets of an .xlsx or .xlsm file are mostly empty, and too large for that."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            unpacked = sum(member.file_size for member in members)
            if unpacked > total_memory() / 4:
                raise ValueError(
                    f"{path} has {unpacked / 2**30:.1f} GiB of text packed into it, too much for "
                    "the memory here: save the sheet as CSV."
                )
            for member in members:
                if "worksheets/" in member.filename:
                    _check_sheet(path, archive, member)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        return  # its reader says what is wrong with it


def _check_sheet(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    columns: set[bytes] = set()
    cells, last_row = 0, 0
    with archive.open(member) as sheet:
        tail = b""
        while block := sheet.read(_BLOCK):
            found = _CELL.findall(tail + block)
            cells += len(found)
            columns.update(letters for letters, _ in found)
            last_row = max([last_row, *map(int, {digits for _, digits in found})])
            tail = block[-_LONGEST:]
    width = max((_column(letters) for letters in columns), default=0)
    laid_out = width * last_row
    if laid_out > _SPARSEST * cells and laid_out * _BYTES_A_CELL > total_memory() / 8:
        raise ValueError(
            f"{path} has a sheet of {last_row:,} rows and {width:,} columns with only {cells:,} "
            "cells in it: delete the cells far from the table, or save the sheet as CSV."
        )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number

"""The line with the names of the columns, below titles, and names that were written otherwise."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

# Numbers, dates and times.
_FIGURE = re.compile(r"[^\w]*\d[\d\s.,:/%€$T()+-]*")


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Where the names of the columns stand: in the first row that is not blank and not a title.

    A title fills a few cells of a table of three columns or more. Below it there must be names,
    none of them a number, and below them a column of numbers or dates: else the first row is the
    header, whatever is wrong with it.
    """
    widths = Counter(len(row) for row in rows if any(row))
    usual = widths.most_common(1)[0][0] if widths else 0
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    first = next((i for i, count in enumerate(filled) if count), 0)
    for i, row in enumerate(rows):
        if filled[i] and not _is_title(len(row), filled[i], usual):
            return i if i == first or _are_names(row, rows[i + 1 :]) else first
    return first


def _is_title(width: int, filled: int, usual: int) -> bool:
    # Spreadsheets fill lines up with empty cells.
    return usual >= 3 and (2 * filled <= usual if width < usual else 3 * filled <= usual)


def _are_names(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    if any(_is_figure(cell) for cell in row):
        return False
    columns = [
        [each[j] for each in below if len(each) == len(row) and each[j].strip()]
        for j in range(len(row))
    ]
    return any(cells and all(map(_is_figure, cells)) for cells in columns)


def _is_figure(cell: str) -> bool:
    return bool(_FIGURE.fullmatch(cell.strip()))


def tell_titles(path: Path, line: int, titles: int) -> None:
    """Say which lines were taken for titles."""
    if titles:
        lines = "line is a title" if titles == 1 else f"{titles} lines are titles"
        warnings.warn(
            f"{path}: the first {lines}, and line {line} has the names of the columns.",
            stacklevel=2,
        )


def own_names(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Names of a file's columns as they were known before, where only case and spaces differ."""
    known, present = list(known), set(names)
    by_key: dict[str, list[str]] = {}
    for name in known:
        by_key.setdefault(_key(name), []).append(name)
    twice = {key for key, count in Counter(map(_key, names)).items() if count > 1}
    found = []
    for name in names:
        same = [other for other in by_key.get(_key(name), []) if other not in present]
        is_sure = name not in known and len(same) == 1 and _key(name) not in twice
        found.append(same[0] if is_sure else name)
    return found


def tell_renamed(path: Path, names: Sequence[str], own: Sequence[str]) -> None:
    """Say which columns were known by another spelling."""
    other = [f"{a!r} is {b!r}" for a, b in zip(names, own, strict=True) if a != b]
    if other:
        shown = ", ".join(other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
        warnings.warn(
            f"{path}: columns are found though their names are written otherwise: {shown}.",
            stacklevel=2,
        )


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()

"""Columns of the history that were read last, as many as there is memory for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rarefind.desk.measures._pieces import HistoryPiece

__all__ = ["ColumnCache"]


class ColumnCache:
    """Reads columns of pieces, and keeps those that were asked for last.

    Parameters
    ----------
    types : mapping of str to type
        All columns of the schema. One that was added later is missing in older rows.
    most : int
        So many bytes are kept.
    """

    def __init__(self, types: Mapping[str, Any], most: int) -> None:
        self._types, self._most = types, most
        self._kept: OrderedDict[tuple[Path, str], pl.Series] = OrderedDict()
        self._size: float = 0

    def read(self, piece: HistoryPiece, names: Sequence[str]) -> pl.DataFrame:
        """Return columns of a piece; an ``OSError`` where it is gone or damaged."""
        found = {name: self._get(piece.path, name) for name in names}
        left = [name for name, column in found.items() if column is None]
        if left:
            frame = piece.read({*left, "sequence"})
            for name in left:
                found[name] = column = self._column(frame, name)
                self._keep(piece.path, name, column)
        return pl.DataFrame([found[name] for name in names])

    def forget_others(self, paths: Collection[Path]) -> None:
        """Keep nothing of files but these: somebody may be erased from those that are gone."""
        for key in [key for key in self._kept if key[0] not in paths]:
            self._size -= self._kept.pop(key).estimated_size()

    def _column(self, frame: pl.DataFrame, name: str) -> pl.Series:
        if name in frame.columns:
            return frame[name]
        return pl.Series(name, [None] * frame.height, dtype=self._types[name])

    def _get(self, path: Path, name: str) -> pl.Series | None:
        found = self._kept.get((path, name))
        if found is not None:
            self._kept.move_to_end((path, name))
        return found

    def _keep(self, path: Path, name: str, column: pl.Series) -> None:
        self._kept[path, name] = column
        self._size += column.estimated_size()
        while self._size > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._size -= oldest.estimated_size()

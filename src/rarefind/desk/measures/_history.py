"""The last weeks of the ledger, to be read: columns, outcomes and ripe labels."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from rarefind._core.types import Array, Bools
from rarefind.desk.clock import DeskClock
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures._column_cache import ColumnCache
from rarefind.desk.measures._pieces import (
    HistoryPiece,
    end_of,
    first_piece,
    list_pieces,
    piece_columns,
    piece_of,
    record_column,
)
from rarefind.desk.measures._ripe import SOURCES, RipeColumns, RipeLabels
from rarefind.desk.schema import Schema
from rarefind.rules import Rule
from rarefind.rules.rule_set import RuleSet

__all__ = ["History", "HistoryRows"]

_SILENCE = SOURCES.index("silence")
#: What is counted by, of what the ledger says: it is read whatever else is.
_COUNTED_BY = (
    "sequence", "id", "time", "arrived", "amount", "denied", "score", "priority", "model", "entity",
)  # fmt: skip
#: So many pieces are a batch: half a million rows.
_BATCH = 16
#: Bytes of columns that are kept: about two million rows of what a desk's rules name.
_MEMORY = 512 * 2**20


@dataclass(frozen=True)
class HistoryRows:
    """Transactions in the order of their arrival, and what is known of them by now.

    Attributes
    ----------
    frame : polars.DataFrame
        What the ledger says: ``sequence``, ``id``, ``time``, ``arrived``, ``amount`` in minor
        units, ``denied``, ``by``, ``rules`` as JSON, ``score``, ``priority``, ``alert``,
        ``propensity``, ``model``, ``entity`` (that which is checked); and what rules and models saw
        of it, see :meth:`record`. Columns that nobody has named may be left out.
    labels : RipeColumns
    missing : int
        Places of the ledger among them that are not there now, since their piece is made again.
    zone : str
        The desk's time zone, whose days are counted.
    """

    frame: pl.DataFrame
    labels: RipeColumns
    missing: int
    zone: str

    def __len__(self) -> int:
        return self.frame.height

    def record(self, names: Iterable[str]) -> pl.DataFrame:
        """Return columns that rules and models saw, under their own names."""
        return self.frame.select(pl.col(record_column(name)).alias(name) for name in names)

    def fires(self, rule: Rule) -> Bools:
        """Where a rule holds, on what was known when it was decided."""
        if not rule.columns:
            return np.full(len(self), bool(rule.fires({})))
        return rule.fires_on(self.record(rule.columns))

    def fires_of(self, rules: RuleSet) -> Bools:
        """Where rules hold, of shape (rows, rules)."""
        names = {name for rule in rules for name in rule.columns}
        if not names:
            return np.tile([bool(rule.fires({})) for rule in rules], (len(self), 1))
        return rules.fires_on(self.record(sorted(names)))

    def values(self, name: str) -> Array:
        """Return a column of what the ledger says as an array."""
        return self.frame[name].to_numpy()

    @cached_property
    def judged(self) -> Bools:
        """Where a label is ripe and says something.

        Silence about a payment that was denied does not: nobody claims what was never paid.
        """
        silent = self.labels.source == _SILENCE
        return self.labels.is_ripe & ~(silent & self.values("denied"))

    @cached_property
    def day(self) -> Array:
        """The day of each transaction by the desk's clock, counted from 1970."""
        times = self.frame["time"].cast(pl.Datetime("ns", "UTC")).dt.convert_time_zone(self.zone)
        return times.dt.date().to_physical().to_numpy()

    @property
    def n_days(self) -> int:
        """How many days there are from the first to the last."""
        return int(self.day.max() - self.day.min()) + 1 if len(self) else 0

    def at(self, rows: Bools | slice) -> HistoryRows:
        """Return some of the rows."""
        frame = self.frame[rows] if isinstance(rows, slice) else self.frame.filter(pl.Series(rows))
        own = self.labels
        labels = RipeColumns(own.fraud[rows], own.is_ripe[rows], own.source[rows])
        return HistoryRows(frame, labels, self.missing, self.zone)


class History:
    """The last weeks of a desk as columns, kept by a :class:`HistoryKeeper`.

    However long they are, ``batches`` and ``pieces`` need little memory at a time. Of all columns
    that rules and models see, those are read that are named; of what the ledger says, the columns
    that are counted by are always there. Threads may share it.

    Parameters
    ----------
    folder : Path
    schema : Schema
    ledger : Ledger
        Opened to be read.
    labels : RipeLabels
    clock : DeskClock
    memory : int
        So many bytes of columns are kept for the next time.
    """

    def __init__(
        self,
        folder: Path,
        schema: Schema,
        ledger: Ledger,
        labels: RipeLabels,
        clock: DeskClock,
        *,
        memory: int = _MEMORY,
    ) -> None:
        self._folder, self._ledger, self._labels = folder, ledger, labels
        self._clock, self._days = clock, schema.history.days
        self._types = dict(piece_columns(schema))
        self._zone = schema.transaction.time_zone
        self._cache = ColumnCache(self._types, memory)
        #: The labels that the rows of a file were given, and the last label then.
        self._given: dict[Path, tuple[int, Array]] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, folder: DeskFolder, clock: DeskClock | None = None, memory: int = _MEMORY) -> Self:
        """Open the history of a desk."""
        clock = clock or DeskClock()
        labels = RipeLabels(LabelHistory(folder.open_desk(), folder.schema, clock))
        ledger = folder.read_ledger()
        return cls(folder.history, folder.schema, ledger, labels, clock, memory=memory)

    def rows(self, names: Iterable[str] | None = None) -> HistoryRows:
        """Return all rows that are there, with their labels as of now; by default all columns."""
        return self._rows(self._numbers(), names)

    def batches(self, names: Iterable[str] | None = None) -> Iterator[HistoryRows]:
        """Return the rows some pieces at a time; a batch begins where it always has."""
        columns = None if names is None else list(names)
        for _, numbers in groupby(self._numbers(), lambda number: number // _BATCH):
            yield self._rows(list(numbers), columns)

    def pieces(self, names: Iterable[str] | None = None) -> Iterator[HistoryRows]:
        """Return the rows a piece at a time, for what would take too long or too much at once."""
        columns = None if names is None else list(names)
        for number in self._numbers():
            yield self._rows([number], columns)

    def missing(self) -> int:
        """Return how many places of the ledger are in pieces that are not there."""
        there = {piece.number for piece in list_pieces(self._folder)}
        return self._places(number for number in self._numbers() if number not in there)

    def _numbers(self) -> list[int]:
        """The pieces that there are, and those that there should be."""
        last = self._ledger.last.sequence
        numbers = {piece.number for piece in list_pieces(self._folder)}
        if last:
            first = first_piece(self._ledger, self._clock.now(), self._days)
            numbers.update(range(first, piece_of(last) + 1))
        return sorted(numbers)

    def _rows(self, numbers: Sequence[int], names: Iterable[str] | None) -> HistoryRows:
        columns = list(self._types)
        if names is not None:
            columns = list(dict.fromkeys([*_COUNTED_BY, *map(record_column, names)]))
        with self._lock:
            self._labels.refresh()
            found = self._read(numbers, columns)
            # One may have been written again between the question and the reading.
            found |= self._read([number for number in numbers if number not in found], columns)
        missing = self._places(number for number in numbers if number not in found)
        frames = [found[number][0] for number in sorted(found)]
        given = [found[number][1] for number in sorted(found)]
        empty: Any = pl.DataFrame(schema={name: self._types[name] for name in columns})
        frame = pl.concat(frames or [empty], rechunk=False)
        code = np.concatenate(given or [np.empty(0, dtype=np.int8)])
        deleted = self._ledger.deleted().sequence
        first = int(frame["sequence"].search_sorted(deleted, "right")) if frame.height else 0
        frame, code = frame[first:], code[first:]
        labels = self._labels.ripe(code, frame["time"].to_numpy())
        return HistoryRows(frame, labels, missing, self._zone)

    def _read(
        self, numbers: Sequence[int], columns: Sequence[str]
    ) -> dict[int, tuple[pl.DataFrame, Array]]:
        """Columns of the pieces that can be read, and the labels that their rows were given."""
        found: dict[int, tuple[pl.DataFrame, Array]] = {}
        if not numbers:
            return found
        pieces = list_pieces(self._folder)
        paths = {piece.path for piece in pieces}
        self._cache.forget_others(paths)
        self._given = {path: known for path, known in self._given.items() if path in paths}
        wanted = set(numbers)
        for piece in pieces:
            if piece.number in wanted:
                with suppress(OSError):
                    frame = self._cache.read(piece, columns)
                    found[piece.number] = frame, self._given_of(piece, frame)
        return found

    def _given_of(self, piece: HistoryPiece, frame: pl.DataFrame) -> Array:
        last, given = self._given.get(piece.path, (-1, np.empty(0)))
        if last != self._labels.last:
            given = self._labels.given(frame["id"])
            self._given[piece.path] = self._labels.last, given
        return given

    def _places(self, numbers: Iterable[int]) -> int:
        """How many places of the ledger are in these pieces."""
        last = self._ledger.last.sequence
        return sum(max(min(end_of(n), last) - end_of(n - 1), 0) for n in numbers)

"""The last weeks of the ledger, to be read: columns, outcomes and ripe labels."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from rarefind._core.types import Array, Bools
from rarefind.desk.clock import DeskClock
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory
from rarefind.desk.ledger import Ledger
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


@dataclass(frozen=True)
class HistoryRows:
    """Transactions in the order of their arrival, and what is known of them by now.

    Attributes
    ----------
    frame : polars.DataFrame
        What the ledger says: ``sequence``, ``id``, ``time``, ``arrived``, ``amount`` in minor
        units, ``denied``, ``by``, ``rules`` as JSON, ``score``, ``priority``, ``alert``,
        ``propensity``, ``model``, ``entity`` (that which is checked); and what rules and models saw
        of it, see :meth:`record`.
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

    Threads may share it.

    Parameters
    ----------
    folder : Path
    schema : Schema
    ledger : Ledger
        Opened to be read.
    labels : RipeLabels
    clock : DeskClock
    """

    def __init__(
        self,
        folder: Path,
        schema: Schema,
        ledger: Ledger,
        labels: RipeLabels,
        clock: DeskClock,
    ) -> None:
        self._folder, self._ledger, self._labels = folder, ledger, labels
        self._clock, self._days = clock, schema.history.days
        self._types = dict(piece_columns(schema))
        self._zone = schema.transaction.time_zone
        self._frames: dict[Path, pl.DataFrame] = {}
        self._given: tuple[tuple[Path, ...], int, Array] | None = None
        self._whole: tuple[tuple[Path, ...], pl.DataFrame] | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, folder: DeskFolder, clock: DeskClock | None = None) -> Self:
        """Open the history of a desk."""
        clock = clock or DeskClock()
        labels = RipeLabels(LabelHistory(folder.open_desk(), folder.schema, clock))
        return cls(folder.history, folder.schema, folder.read_ledger(), labels, clock)

    def rows(self) -> HistoryRows:
        """Return all rows that are there, with their labels as of now."""
        with self._lock:
            pieces = self._read()
            paths = tuple(piece.path for piece in pieces)
            frame = self._concatenated(paths)
            given = self._labels_of(paths, frame)
            missing = self._missing(pieces)
        deleted = self._ledger.deleted().sequence
        first = int(frame["sequence"].search_sorted(deleted, "right")) if frame.height else 0
        frame, given = frame[first:], given[first:]
        labels = self._labels.ripe(given, frame["time"].to_numpy())
        return HistoryRows(frame, labels, missing, self._zone)

    def pieces(self) -> list[HistoryRows]:
        """Return the rows a piece at a time, for what would take too long or too much at once."""
        rows = self.rows()
        found, begin = [], 0
        numbers = piece_of(rows.values("sequence"))
        for end in [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(rows)]:
            if end > begin:
                found.append(rows.at(slice(begin, end)))
            begin = end
        return found

    def _read(self) -> list[HistoryPiece]:
        """Map the pieces that are new, and return those that can be read."""
        before, self._frames = self._frames, {}
        found = []
        for piece in list_pieces(self._folder):
            try:
                frame = before.get(piece.path)
                self._frames[piece.path] = self._complete(piece.read()) if frame is None else frame
            except OSError:
                continue
            found.append(piece)
        return found

    def _complete(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows with all columns of the schema: those added later are missing in old rows."""
        nothing = pl.lit(None)
        return frame.select(
            pl.col(name) if name in frame.columns else nothing.cast(kind).alias(name)
            for name, kind in self._types.items()
        )

    def _concatenated(self, paths: tuple[Path, ...]) -> pl.DataFrame:
        if self._whole is None or self._whole[0] != paths:
            frames = [self._frames[path] for path in paths]
            empty: Any = pl.DataFrame(schema=self._types)
            self._whole = paths, pl.concat(frames or [empty], rechunk=False)
        return self._whole[1]

    def _labels_of(self, paths: tuple[Path, ...], frame: pl.DataFrame) -> Array:
        self._labels.refresh()
        known = self._given
        if known is None or known[:2] != (paths, self._labels.last):
            known = paths, self._labels.last, self._labels.given(frame["id"])
            self._given = known
        return known[2]

    def _missing(self, pieces: list[HistoryPiece]) -> int:
        """How many places of the ledger are in pieces that are not there."""
        last = self._ledger.last.sequence
        if not last:
            return 0
        there = {piece.number for piece in pieces}
        first = first_piece(self._ledger, self._clock.now(), self._days)
        numbers = range(first, piece_of(last) + 1)
        return sum(min(end_of(n), last) - end_of(n - 1) for n in numbers if n not in there)

"""Keeps the last weeks of the ledger as columns: it follows, repairs, and lets old rows go."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from rarefind.desk.api.logs import Log
from rarefind.desk.clock import DeskClock
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger, Position
from rarefind.desk.measures._pieces import (
    HistoryPiece,
    end_of,
    first_piece,
    list_pieces,
    piece_of,
    to_frame,
    write_piece,
)
from rarefind.desk.records import Entry

__all__ = ["HistoryKeeper"]

#: So many rows of the ledger are read at a time, while other jobs wait.
_ROWS = 4_000
#: Seconds between two times that the last piece is written again, and that old rows are looked for.
_GROWS, _TIDIES = 30.0, 600.0


@dataclass
class _Building:
    """A piece that is being made, and how many erasures there were when that began."""

    number: int
    after: int
    erasures: int
    frames: list[pl.DataFrame] = field(default_factory=list)


class HistoryKeeper:
    """Writes the pieces of a history, and makes those again that are missing or damaged.

    Parameters
    ----------
    folder : Path
        Where the pieces are.
    ledger : Ledger
        Opened to be read.
    intake : Intake
        Reads what is stored.
    clock : DeskClock
    log : Log
    grows : float
        Seconds between two times that the last piece is written again.
    """

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        intake: Intake,
        clock: DeskClock,
        log: Log,
        *,
        grows: float = _GROWS,
    ) -> None:
        self._folder, self._ledger, self._intake = folder, ledger, intake
        self._clock, self._log, self._grows = clock, log, grows
        self._days = intake.schema.history.days
        self._building: _Building | None = None
        self._first = 0
        self._whole: set[Path] = set()
        self._is_checked = False
        self._next_tidy = self._next_growth = 0.0

    def run(self) -> bool:
        """Do a little; True if there is more to do at once."""
        now = time.monotonic()
        if not self._is_checked:
            self._check_ledger()
            self._is_checked = True
        if now >= self._next_tidy:
            self._tidy()
            self._next_tidy = now + _TIDIES
        if self._check_one():
            return True
        if self._building is None:
            self._building = self._begin(now)
        if self._building is None:
            return False
        self._go_on(self._building)
        return True

    def _check_ledger(self) -> None:
        """Delete what a writer has left, and the pieces of a ledger that is not this one."""
        for pattern in (".rarefind-*", "*.arrow"):  # such files had an earlier format
            for part in self._folder.glob(pattern):
                part.unlink(missing_ok=True)
        deleted, lost = self._ledger.deleted().sequence, 0
        for piece in list_pieces(self._folder):
            chain = self._ledger.chain_at(piece.last)
            if piece.last > deleted and (chain is None or not chain.hex().startswith(piece.chain)):
                piece.path.unlink(missing_ok=True)
                lost += 1
        if lost:
            self._log.warning("history-of-another-ledger", pieces=lost)

    def _tidy(self) -> None:
        """Delete the rows that are kept no longer."""
        deleted = self._ledger.deleted().sequence
        self._first = first_piece(self._ledger, self._clock.now(), self._days)
        for piece in list_pieces(self._folder):
            if piece.number < self._first:
                with suppress(OSError):
                    piece.path.unlink()
            elif piece.number == piece_of(deleted + 1):
                self._leave_out(piece, deleted)

    def _leave_out(self, piece: HistoryPiece, deleted: int) -> None:
        """Let a piece not have what retention has deleted."""
        try:
            frame = piece.read()
            if frame.height and frame["sequence"][0] <= deleted:
                self._write(
                    frame.filter(pl.col("sequence") > deleted),
                    piece.number,
                    piece.last,
                    self._ledger.erasures,
                )
        except OSError:
            return  # it will be found to be damaged

    def _check_one(self) -> bool:
        """Look whether a piece is whole that was not looked at; False where all were."""
        for piece in list_pieces(self._folder):
            if piece.path in self._whole:
                continue
            if piece.is_whole():
                self._whole.add(piece.path)
            else:
                self._log.warning("history-damaged", piece=piece.path.name)
                piece.path.unlink(missing_ok=True)
            return True
        return False

    def _begin(self, now: float) -> _Building | None:
        """The next piece to be made: one that is missing, or the last one with what has come."""
        last = self._ledger.last.sequence
        if not last:
            return None
        pieces = {piece.number: piece for piece in list_pieces(self._folder)}
        for number in range(self._first, piece_of(last) + 1):
            piece = pieces.get(number)
            if piece is None:
                return _Building(number, end_of(number - 1), self._ledger.erasures)
            is_due = now >= self._next_growth or last > end_of(number)
            if not piece.is_full and piece.last < last and is_due:
                with suppress(OSError):
                    frame, erasures = piece.read(), self._ledger.erasures
                    # Where it was deleted meanwhile somebody has been erased: it is made anew.
                    if piece.path.exists():
                        return _Building(number, piece.last, erasures, [frame])
        return None

    def _go_on(self, building: _Building) -> None:
        """Read some rows of the ledger, and write the piece when it has them all."""
        end = min(end_of(building.number), self._ledger.last.sequence)
        rows = [row for row in self._ledger.read(building.after, _ROWS) if row.sequence <= end]
        entries = [row for row in rows if isinstance(row, Entry)]
        if entries or not building.frames:
            building.frames.append(to_frame(entries, self._intake))
        building.after = rows[-1].sequence if rows else end
        if building.after < end:
            return
        self._building = None
        # An added column is missing in rows from before.
        frame = pl.concat(building.frames, how="diagonal_relaxed")
        self._write(frame, building.number, end, building.erasures)
        if end < end_of(building.number):
            self._next_growth = time.monotonic() + self._grows

    def _write(self, frame: pl.DataFrame, number: int, last: int, erasures: int) -> None:
        chain = self._ledger.chain_at(last) or b""
        piece = write_piece(self._folder, frame, number, Position(last, chain))
        self._whole.add(piece.path)
        # Who is erased after this question finds the file, and deletes it.
        if self._ledger.erasures != erasures:
            piece.path.unlink(missing_ok=True)

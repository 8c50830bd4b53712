"""Features of stored transactions, computed again in the order of their arrival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import numpy as np

from rarefind.desk.decision.memory import Memory, open_memory
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger, Position
from rarefind.desk.parity._days import ParityDay, ParityDays
from rarefind.desk.records import Entry, LabelEntry
from rarefind.desk.settings import retention_changed

__all__ = ["FeatureComparison", "compare_day", "compare_new"]

#: So many rows are read at a time; after so many pieces old ones are forgotten.
_ROWS, _PIECES = 2_000, 100
#: What is found is stored after so many rows, so that one who is stopped need not begin anew.
_STORED = 200_000
_SECOND = 10**9
#: The process that decides may need so long to see that settings have changed.
_SEEN = 60 * _SECOND


@dataclass
class FeatureComparison:
    """Goes along the ledger, and describes each transaction as if it had just arrived.

    Parameters
    ----------
    memory : Memory
        What was known at the place where it begins.
    ledger : Ledger
        Opened to be read.
    pause : callable
        Called between two pieces: it may wait, or raise to stop.
    after_erasure : bool
        Whether somebody was erased since the transactions were decided. What is not there any more
        was seen then, by others at the same terminal: those that differ are left out.
    changed : int
        When transactions were last told to be kept shorter or longer: of those that arrived before,
        the ones that differ are left out for the same reason.
    """

    memory: Memory
    ledger: Ledger
    pause: Callable[[], object] = lambda: None
    after_erasure: bool = False
    changed: int = 0
    found: dict[str, list[int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        schema = self.memory.schema
        self._intake = Intake(schema)
        self._zone = ZoneInfo(schema.transaction.time_zone)
        self._length = 8 * len(self.memory.state.names)

    def skip(self, upto: int) -> None:
        """Go on to a row without comparing."""
        self.memory.follow(self.ledger, lambda _: self.pause(), upto=upto)

    def run(self, upto: int) -> None:
        """Compare all rows up to a sequence."""
        pieces = 0
        while self.memory.sequence < upto:
            limit = min(_ROWS, upto - self.memory.sequence)
            rows = [
                row for row in self.ledger.read(self.memory.sequence, limit) if row.sequence <= upto
            ]
            if not rows:
                break
            self._compare(rows)
            self.memory.sequence = rows[-1].sequence
            pieces += 1
            if pieces % _PIECES == 0:
                self.memory.state.forget()
            self.pause()

    def take(self) -> list[ParityDay]:
        """Return what was found since the last time."""
        days = [
            ParityDay(day, compared, differ, left_out, first or None)
            for day, (compared, differ, left_out, first) in self.found.items()
        ]
        self.found = {}
        return days

    def _compare(self, rows: list[Entry | LabelEntry]) -> None:
        labelled = [row.id for row in rows if isinstance(row, LabelEntry)]
        known = self.ledger.find(labelled) if labelled else {}
        state = self.memory.state
        for row in rows:
            if isinstance(row, Entry):
                self._compare_entry(row)
            elif row.id in known and known[row.id].entities:
                entry = known[row.id]
                state.add_label(row.id, entry.entities, entry.time, bool(row.fraud))

    def _compare_entry(self, row: Entry) -> None:
        state = self.memory.state
        counts = self.found.setdefault(self._day(row.arrived), [0, 0, 0, 0])
        self.memory.share.add(row.time)
        if len(row.features) != self._length:  # erased, or of an older desk.toml
            counts[2] += 1
            state.histories.see_time(row.time)
            if row.entities:
                both = np.array([[row.time], [row.amount]], dtype=np.int64)
                state.extend(both[0], both[1], [[key] for key in row.entities], [row.body])
            return
        transaction = self._intake.stored(row.body)
        again = state.describe(transaction).astype("<f8", copy=False).tobytes()
        if again == row.features:
            counts[0] += 1
        elif self.after_erasure or row.arrived < self.changed:
            counts[2] += 1
        else:
            counts[0] += 1
            counts[1] += 1
            counts[3] = counts[3] or row.sequence
        state.add(transaction)

    def _day(self, arrived: int) -> str:
        return datetime.fromtimestamp(arrived // _SECOND, self._zone).date().isoformat()


def compare_new(
    folder: DeskFolder, days: ParityDays, pause: Callable[[], object] = lambda: None
) -> int:
    """Compare the rows that were not compared yet, each once; returns how many differ.

    It begins at a snapshot, so that it takes no longer than the rows since then are many.
    """
    ledger = folder.read_ledger()
    before, erasures = days.read_up_to, days.erasures
    now = ledger.erasures
    if before.sequence and ledger.position_of(before.sequence) != before:
        # The ledger was cut off, or retention has deleted that row: go on from the end.
        days.add([], ledger.last, now)
        return 0
    memory, _ = open_memory(folder.schema, folder.secret, ledger, folder.snapshots, before.sequence)
    comparison = FeatureComparison(
        memory, ledger, pause, after_erasure=now > erasures, changed=_changed(folder)
    )
    comparison.skip(before.sequence)
    differ, last = 0, ledger.last.sequence
    while memory.sequence < last:
        comparison.run(min(memory.sequence + _STORED, last))
        found = comparison.take()
        differ += sum(day.differ for day in found)
        place = ledger.position_of(memory.sequence) or Position(memory.sequence, b"")
        days.add(found, place, now)
    return differ


def compare_day(
    folder: DeskFolder, day: date, pause: Callable[[], object] = lambda: None
) -> ParityDay:
    """Compute the features of all transactions that arrived on a day again, without a snapshot."""
    ledger, zone = folder.read_ledger(), ZoneInfo(folder.schema.transaction.time_zone)
    begin, end = (
        int(datetime.combine(each, time(), zone).astimezone(UTC).timestamp()) * _SECOND
        for each in (day, date.fromordinal(day.toordinal() + 1))
    )
    first, last = ledger.arrived_since(begin)[1], ledger.arrived_since(end)[1]
    comparison = FeatureComparison(
        Memory(folder.schema, folder.secret),
        ledger,
        pause,
        ledger.erased_since(begin) > 0,
        _changed(folder),
    )
    comparison.skip(first)
    comparison.run(last)
    wanted = day.isoformat()
    found = {each.day: each for each in comparison.take()}
    return found.get(wanted, ParityDay(wanted, 0, 0, 0, None))


def _changed(folder: DeskFolder) -> int:
    """Until when transactions were decided by what was kept before; 0 if always as now."""
    at = retention_changed(folder.open_desk())
    return 0 if at is None else at + _SEEN

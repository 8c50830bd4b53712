"""Snapshots, made in a process of their own: what they need of memory is given back."""

from __future__ import annotations

import time
from pathlib import Path

from rarefind.data.clock import nanoseconds
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import DeskClock
from rarefind.desk.decision.memory import make_snapshot
from rarefind.desk.features.snapshots import snapshot_files
from rarefind.desk.folder import DeskFolder
from rarefind.desk.ledger import Ledger
from rarefind.desk.parity import ParityDays, compare_new
from rarefind.desk.processes import ChildSpec, Life, give_way
from rarefind.desk.processes.child import Child
from rarefind.desk.worker import _children

__all__ = ["Snapshots", "snapshot_and_compare"]

#: Rows after which a snapshot does not wait for its time; a restart would take long.
_MOST_ROWS = 1_000_000
#: Seconds between two attempts at least, whatever has become of the first.
_APART = 60.0
#: The share of the time that is worked; the rest is a pause.
_SHARE = 0.2
_SECOND = 10**9
#: Seconds to stop in: it gives way to all others, and may not hear of it;
#: a half-written snapshot is not kept.
_GRACE = 1.0


class Snapshots:
    """Starts the making of a snapshot when one is due.

    Parameters
    ----------
    folder : DeskFolder
    ledger : Ledger
        Opened to be read.
    clock : DeskClock
    log : Log
    """

    def __init__(self, folder: DeskFolder, ledger: Ledger, clock: DeskClock, log: Log) -> None:
        self._folder, self._ledger, self._clock, self._log = folder, ledger, clock, log
        self._every = nanoseconds("snapshots.every", folder.schema.snapshots.every)
        self._child = Child(
            ChildSpec("snapshot", _make, (folder.path.resolve(), folder.database_url), grace=_GRACE)
        )
        self._not_before = 0.0

    def run(self) -> bool:
        """Start a snapshot if one is due, and notice the end of one; there is never more to do."""
        child = self._child
        if child.process is not None:
            if not child.is_alive:
                _children.bury(child, self._log)
                self._not_before = time.monotonic() + _APART
        elif time.monotonic() >= self._not_before and self.is_due():
            child.start()
        return False

    def is_due(self) -> bool:
        """Whether there are new rows, and the last snapshot is old or they are many."""
        files, last = snapshot_files(self._folder.snapshots), self._ledger.last.sequence
        if not files:
            return last > 0
        rows = last - int(files[0].stem)
        # A snapshot from the future is of a clock that was set back since.
        age = self._clock.now() - files[0].stat().st_mtime_ns
        return rows >= _MOST_ROWS or (rows > 0 and not 0 <= age < self._every)

    def stop(self) -> None:
        """Stop the making of a snapshot; what is there stays."""
        _children.stop(self._child)


def _make(_life: Life, path: Path, database: str | None) -> None:
    give_way()
    with DeskFolder(path, database) as folder:
        snapshot_and_compare(folder, DeskClock(), Log("snapshot"))


def snapshot_and_compare(folder: DeskFolder, clock: DeskClock, log: Log) -> None:
    """Write a snapshot, and compute the features of the rows since the last one again."""
    begin = time.monotonic()
    ledger = folder.read_ledger()
    pauses = _Pauses()
    made = make_snapshot(
        folder.schema, folder.secret, ledger, folder.snapshots, clock.now(), pauses
    )
    seconds = round(time.monotonic() - begin, 1)
    log.info("snapshot", file=None if made is None else made.name, seconds=seconds)
    days = ParityDays(folder.open_desk())
    before = days.read_up_to.sequence
    differ = compare_new(folder, days, pauses)
    compared = days.read_up_to.sequence - before
    (log.error if differ else log.info)("parity", rows=compared, differ=differ)


class _Pauses:
    """Pauses, when it is called, for several times as long as was worked since the last call."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def __call__(self) -> None:
        worked = time.monotonic() - self._since
        time.sleep(worked * (1 / _SHARE - 1))
        self._since = time.monotonic()

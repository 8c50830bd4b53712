"""What decisions remember: made from the newest good snapshot and the ledger's rows after it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rarefind.desk.decision.random_share import RandomShare
from rarefind.desk.features import FeatureState
from rarefind.desk.features.snapshots import (
    Snapshot,
    SnapshotError,
    delete_snapshots,
    fingerprint,
    snapshot_files,
)
from rarefind.desk.ledger import Ledger, Position
from rarefind.desk.schema import Schema

__all__ = ["Memory", "Overtaken", "Restart", "make_snapshot", "open_memory"]

#: So many transactions are read at once.
_PIECE = 50_000
#: So many snapshots stay: one may turn out to be damaged.
_KEPT = 2
_ATTEMPTS = 3


class Memory:
    """The features of all entities and the counts of the random share, at a place of the ledger.

    Parameters
    ----------
    schema : Schema
    secret : bytes
        See :class:`~rarefind.desk.decision.Decider`.

    Attributes
    ----------
    state : FeatureState
    share : RandomShare
    sequence : int
        The last row of the ledger that is in here.
    """

    def __init__(self, schema: Schema, secret: bytes) -> None:
        self.schema = schema
        self.state = FeatureState(schema)
        self.share = RandomShare(schema.alerts, secret)
        self.sequence = 0

    def load(self, snapshot: Snapshot) -> None:
        """Remember what a snapshot says, and nothing else."""
        state = FeatureState.from_arrays(self.schema, snapshot.arrays)
        self.share.load(snapshot.arrays)
        self.state, self.sequence = state, snapshot.position.sequence

    def follow(
        self,
        ledger: Ledger,
        step: Callable[[int], object] = lambda sequence: None,
        *,
        upto: int | None = None,
    ) -> int:
        """Read the ledger's rows up to its last one; returns how many they were.

        Parameters
        ----------
        ledger : Ledger
        step : callable
            Called with the sequence that was reached, time and again; what it raises ends this.
        upto : int, optional
            Read up to this sequence, and not beyond.

        Raises
        ------
        Overtaken
            If rows were deleted before they could be read, by another process.
        """
        if self.sequence == 0:
            self._begin(ledger)
        count = 0
        needs_bodies = self.state.needs_bodies
        with _without_collection():
            while tail := ledger.tail(self.sequence, _PIECE, bodies=needs_bodies, upto=upto):
                if ledger.deleted().sequence > self.sequence:
                    raise Overtaken
                self.state.extend(tail.time, tail.amount, tail.entities, tail.bodies)
                if len(tail.times):
                    self.state.histories.see_time(int(tail.times.max()))
                self.share.extend(tail.times)
                for label in tail.labels:
                    self.state.add_label(label.id, label.entities, label.time, bool(label.fraud))
                self.sequence = tail.last
                count += tail.rows
                step(self.sequence)
        return count

    def to_snapshot(self, position: Position, erasures: int, now: int) -> Snapshot:
        """What is remembered as a snapshot; old rows that nothing can see are left out."""
        self.state.forget()
        arrays = self.state.to_arrays() | self.share.to_arrays()
        return Snapshot(position, erasures, now, fingerprint(self.schema), arrays)

    def _begin(self, ledger: Ledger) -> None:
        deleted = ledger.deleted()
        self.share.add_days(deleted.days)
        if deleted.newest is not None:
            self.state.histories.see_time(deleted.newest)
        self.sequence = deleted.sequence


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let Python not look for garbage: millions of texts are made here, and no circles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Overtaken(Exception):  # noqa: N818
    """Rows of the ledger were deleted or erased while they were read: begin again."""


class Restart(NamedTuple):
    """How a memory was made: from the snapshot of a sequence (0 for none), and so many rows.

    ``passed_over`` says of each snapshot that could not be used why.
    """

    snapshot: int
    made: int
    passed_over: dict[str, str]


def open_memory(
    schema: Schema, secret: bytes, ledger: Ledger, folder: Path | None, upto: int | None = None
) -> tuple[Memory, Restart]:
    """A memory of the newest snapshot that is of this ledger, or an empty one.

    With ``upto``, of the newest one of no later sequence. Call ``follow`` then.
    """
    passed_over = {}
    files = [] if folder is None else snapshot_files(folder)
    for path in files:
        if upto is not None and int(path.stem) > upto:
            continue
        memory = Memory(schema, secret)
        try:
            snapshot = Snapshot.read(path)
            _check_snapshot(snapshot, schema, ledger)
            memory.load(snapshot)
        except (OSError, ValueError) as error:
            passed_over[path.name] = str(error)
            continue
        return memory, Restart(snapshot.position.sequence, snapshot.made, passed_over)
    return Memory(schema, secret), Restart(0, 0, passed_over)


def make_snapshot(
    schema: Schema,
    secret: bytes,
    ledger: Ledger,
    folder: Path,
    now: int,
    pause: Callable[[], object] = lambda: None,
) -> Path | None:
    """Write a snapshot of the ledger's last row, from the one before and the rows since.

    The ledger may be written to meanwhile by the process that decides. Returns None if there is one
    of that row already. Two are kept. ``pause`` is called between two pieces of the work.

    Raises
    ------
    Overtaken
        If erasures have come in between again and again.
    """
    for _ in range(_ATTEMPTS):
        erasures = ledger.erasures
        memory, restart = open_memory(schema, secret, ledger, folder)
        try:
            memory.follow(ledger, lambda _: pause())
        except Overtaken:
            continue
        position = ledger.position_of(memory.sequence)
        if position is None:
            continue
        if restart.snapshot == memory.sequence > 0:
            return None
        try:
            path = memory.to_snapshot(position, erasures, now).write(folder, pause)
        except FileNotFoundError:
            continue  # somebody was erased: the file was deleted before it was whole
        # What was erased after the reading began may be in it, and must not stay on the disk.
        if ledger.erasures != erasures:
            path.unlink(missing_ok=True)
            continue
        delete_snapshots(folder, kept=_KEPT)
        return path
    raise Overtaken


def _check_snapshot(snapshot: Snapshot, schema: Schema, ledger: Ledger) -> None:
    if snapshot.fingerprint != fingerprint(schema):
        raise SnapshotError("the settings say something else about features now")
    if snapshot.erasures != ledger.erasures:
        raise SnapshotError("somebody was erased after it was made")
    if ledger.position_of(snapshot.position.sequence) != snapshot.position:
        raise SnapshotError("the row it was made at is not in this ledger")

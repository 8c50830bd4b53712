"""The transactions of a file, sent to a desk in their order, at the speed of their own times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from rarefind.data.table_file import AnyFile
from rarefind.desk.client._sync import Client
from rarefind.desk.intake import Intake, IntakeError, read_transactions
from rarefind.desk.records import Answer, Problem, Transaction
from rarefind.desk.schema import Schema

#: So many transactions go in one request at most; a desk decides some of them at a time anyway.
_BATCH = 500
#: So many reasons are kept of those that were refused.
_REASONS = 5


@dataclass
class ReplaySummary:
    """What became of the transactions of a file.

    Attributes
    ----------
    sent : int
        Transactions that the desk has answered.
    accepted, denied : int
        Those that it has decided, now or when they were sent before.
    alerts : int
        Those of them that are proposed for checking.
    refused : int
        Rows that are not transactions, and transactions that the desk did not take.
    reasons : list of str
        Why, of the first of these.
    seconds : float
    """

    sent: int = 0
    accepted: int = 0
    denied: int = 0
    alerts: int = 0
    refused: int = 0
    reasons: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, transaction: Transaction, answer: Answer | Problem) -> None:
        """Count the answer to a transaction."""
        self.sent += 1
        if isinstance(answer, Problem):
            self.add_refused(f"{transaction.id}: {answer.detail}")
            return
        self.accepted += answer.decision == "accept"
        self.denied += answer.decision == "deny"
        self.alerts += answer.alert != ""

    def add_refused(self, reason: str) -> None:
        """Count a row that was not taken."""
        self.refused += 1
        if len(self.reasons) < _REASONS:
            self.reasons.append(reason)


@dataclass
class Timetable:
    """When a transaction is due: at once, or by its own time.

    Parameters
    ----------
    speed : float or None
        How many times faster than they were made transactions are sent; None for at once.
    now, sleep : callable
        A clock in seconds that never goes back, and what waits.
    """

    speed: float | None
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _began: float | None = None
    _first: int = 0

    def parts(self, batch: list[Transaction]) -> Iterator[list[Transaction]]:
        """Give the transactions of a batch that are due together, each part when it is due."""
        while batch:
            wait = self._due(batch[0]) - self.now()
            if wait > 0:
                self.sleep(wait)
            count, now = 1, self.now()
            while count < len(batch) and self._due(batch[count]) <= now:
                count += 1
            yield batch[:count]
            batch = batch[count:]

    def _due(self, transaction: Transaction) -> float:
        if self.speed is None:
            return 0.0
        if self._began is None:
            self._began, self._first = self.now(), transaction.time
        return self._began + (transaction.time - self._first) / 1e9 / self.speed


def replay(
    path: AnyFile,
    client: Client,
    schema: Schema,
    *,
    timetable: Timetable | None = None,
    shift_to: datetime | None = None,
    on_sent: Callable[[int], None] = lambda rows: None,
) -> ReplaySummary:
    """Send the transactions of a file to a desk, in the order of the file.

    One request is on its way at a time, since a desk decides by what has arrived before; the next
    rows are read meanwhile. A file that was sent in part can be sent again: a transaction that is
    stored is answered as before, and not counted twice.

    Parameters
    ----------
    path : str or Path
        Any file of :func:`rarefind.data.read_table`.
    client : Client
    schema : Schema
        Of the desk; see :func:`~rarefind.desk.client.described.described_schema`.
    timetable : Timetable, optional
        By default all are due at once.
    shift_to : datetime, optional
        All times are moved so that the first transaction has this one. To send such a file again,
        give the same.
    on_sent : callable
        Is told how many rows were sent or refused since it was called last.

    Raises
    ------
    DeskError
        If the desk cannot be reached, or takes nothing at all.
    """
    timetable = timetable or Timetable(None)
    found, began = ReplaySummary(), time.perf_counter()
    unread = ReplaySummary()  # counted by the thread that reads

    def count_refused(error: IntakeError) -> None:
        unread.add_refused(str(error))

    rows = read_transactions(path, Intake(schema), on_refused=count_refused)
    shift = _Shift(schema, shift_to)
    batches = _batches(rows, schema)
    done = 0
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            for part in timetable.parts(batch):
                for pair in zip(part, client.send_many(shift.bodies(part)), strict=True):
                    found.add(*pair)
                on_sent(found.sent + unread.refused - done)
                done = found.sent + unread.refused
    found.refused += unread.refused
    found.reasons = [*unread.reasons, *found.reasons][:_REASONS]
    found.seconds = time.perf_counter() - began
    return found


def _batches(rows: Iterable[Transaction], schema: Schema) -> Iterator[list[Transaction]]:
    """Transactions in requests that are well within the limits of the desk."""
    limits = schema.limits
    most = max(1, min(_BATCH, limits.batch, limits.rate or _BATCH))
    batch: list[Transaction] = []
    length = 0
    for row in rows:
        if batch and (len(batch) >= most or length + len(row.body) > limits.body // 2):
            yield batch
            batch, length = [], 0
        batch.append(row)
        length += len(row.body)
    if batch:
        yield batch


class _Shift:
    """Moves all times of transactions by as much as the first one's."""

    def __init__(self, schema: Schema, to: datetime | None) -> None:
        self._time = schema.transaction.time
        self._times = [name for name, kind in schema.columns.items() if kind == "time"]
        self._to = to
        self._by: timedelta | None = None

    def bodies(self, transactions: list[Transaction]) -> list[dict[str, Any]]:
        """What is sent of transactions; what is missing in them is left out."""
        found: list[dict[str, Any]] = [
            {name: value for name, value in each.values.items() if value is not None}
            for each in transactions
        ]
        if self._to is not None:
            if self._by is None:
                self._by = self._to - found[0][self._time]
            for each in found:
                for name in self._times:
                    if name in each:
                        each[name] = each[name].astimezone(UTC) + self._by
        return found

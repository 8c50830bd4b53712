"""Requests at times that were fixed before: a desk that is slow does not slow its senders down."""

from __future__ import annotations

import gc
import selectors
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from rarefind._core.types import Floats
from rarefind.desk.torture.connection import Connection

#: So many requests are on their way at a time; later ones wait, and their wait is counted.
_CONNECTIONS = 64
#: A request that is so many seconds late for its answer has failed.
_PATIENCE = 10.0
#: A connection that was not used for so many seconds is not used again: the desk may close it.
_STALE = 2.0
#: Between the start of the process that sends and the first request.
_LEAD = 0.2


@dataclass(frozen=True)
class LoadPlan:
    """What is sent, where to, and when.

    Parameters
    ----------
    address : tuple of str and int
    token : str
    lines : Path
        A transaction a line, as JSON; the file has enough of them.
    rate : float
        A second.
    seconds : float
    poisson : bool
        Whether the times between two are drawn, as those of people who do not know of each other;
        else they are all the same.
    seed : int
    """

    address: tuple[str, int]
    token: str
    lines: Path
    rate: float
    seconds: float
    poisson: bool = True
    seed: int = 0

    @property
    def count(self) -> int:
        """How many transactions are sent."""
        return max(1, round(self.rate * self.seconds))

    def due(self) -> Floats:
        """When each one is due, in seconds after the first."""
        if self.poisson:
            gaps = np.random.default_rng(self.seed).exponential(1 / self.rate, self.count)
        else:
            gaps = np.full(self.count, 1 / self.rate)
        return np.asarray(np.cumsum(gaps) - gaps[0])


@dataclass(frozen=True)
class LoadResult:
    """What was measured.

    Attributes
    ----------
    latencies : array
        Seconds from when each transaction was due to when it was answered with 200.
    statuses : dict of int to int
        How often each status was answered; 0 for no answer.
    seconds : float
        From the first to the last.
    sender_seconds : float
        Processor time of the process that sent: well below ``seconds``, or it was too slow itself.
    """

    latencies: Floats
    statuses: dict[int, int]
    seconds: float
    sender_seconds: float

    @property
    def answered(self) -> int:
        """Transactions that were decided."""
        return len(self.latencies)

    @property
    def failed(self) -> int:
        """Transactions that were refused or not answered."""
        return sum(count for status, count in self.statuses.items() if status != 200)

    def milliseconds(self, percent: float) -> float:
        """A percentile of the latencies; 100 for the longest."""
        if not self.answered:
            return float("inf")
        return float(np.percentile(self.latencies, percent)) * 1e3


def send_at_rate(plan: LoadPlan) -> LoadResult:
    """Send transactions from a process of their own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(send_here, plan).result(timeout=plan.seconds + 120)


def send_here(plan: LoadPlan) -> LoadResult:
    """Send transactions from this process, which does nothing else."""
    gc.freeze()
    gc.disable()
    try:
        with plan.lines.open("rb") as lines:
            return _OpenLoop(plan, lambda: lines.readline().rstrip(b"\n")).run()
    finally:
        gc.enable()


class _OpenLoop:
    """The requests of a plan, and the connections that they are sent through."""

    def __init__(self, plan: LoadPlan, next_body: Callable[[], bytes]) -> None:
        self._plan, self._next_body = plan, next_body
        # Waits of microseconds, which other ways to wait round up to whole milliseconds.
        self._selector = selectors.SelectSelector()
        self._idle: list[tuple[Connection, float]] = []
        self._busy: dict[Connection, float] = {}
        self._latencies: list[float] = []
        self._statuses: Counter[int] = Counter()

    def run(self) -> LoadResult:
        due, now = self._plan.due(), time.perf_counter
        self._idle += [(self._open(), now()) for _ in range(4)]
        processor, begin = time.process_time(), now() + _LEAD
        waiting: deque[float] = deque()
        coming: Iterator[float] = iter((due + begin).tolist())
        following = next(coming, None)
        end = begin + float(due[-1]) + _PATIENCE
        while following is not None or waiting or self._busy:
            while following is not None and following <= now():
                waiting.append(following)
                following = next(coming, None)
            while waiting and self._send(waiting[0]):
                waiting.popleft()
            if now() > end:
                break
            self._receive(None if following is None else following - now())
        self._statuses[0] += len(waiting) + len(self._busy) + sum(1 for _ in coming)
        self._statuses[0] += following is not None
        seconds = now() - begin
        for connection in (*(each for each, _ in self._idle), *self._busy):
            connection.close()
        return LoadResult(
            np.array(self._latencies),
            {status: count for status, count in sorted(self._statuses.items()) if count},
            seconds,
            time.process_time() - processor,
        )

    def _open(self) -> Connection:
        return Connection(self._plan.address, self._plan.token, _PATIENCE)

    def _take(self) -> Connection:
        """The connection that was used last; the others have waited longer."""
        if self._idle:
            connection, since = self._idle.pop()
            if time.perf_counter() - since < _STALE:
                return connection
            for each, _ in self._idle:
                each.close()
            self._idle.clear()
            connection.close()
        return self._open()

    def _send(self, due: float) -> bool:
        """Send the next transaction, if there is a connection for it."""
        if len(self._busy) >= _CONNECTIONS:
            return False
        body = self._next_body()
        try:
            connection = self._take()
            connection.send(body)
        except OSError:
            self._statuses[0] += 1
            return True
        self._busy[connection] = due
        self._selector.register(connection, selectors.EVENT_READ)
        return True

    def _receive(self, wait: float | None) -> None:
        """Read answers until the next transaction is due."""
        longest = 1.0 if wait is None else min(max(wait, 0.0), 1.0)
        if not self._busy:
            time.sleep(longest)
            return
        for key, _ in self._selector.select(longest):
            connection = key.fileobj
            assert isinstance(connection, Connection)
            try:
                received = connection.receive()
            except OSError:
                self._end(connection, 0)
                connection.close()
                continue
            if received is not None:
                self._end(connection, received.status)
                self._idle.append((connection, time.perf_counter()))

    def _end(self, connection: Connection, status: int) -> None:
        self._selector.unregister(connection)
        due = self._busy.pop(connection)
        self._statuses[status] += 1
        if status == 200:
            self._latencies.append(time.perf_counter() - due)

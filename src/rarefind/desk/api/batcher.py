"""Transactions of all waiting requests are decided and committed together, group by group."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.api.metrics import Metrics
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.ledger import LedgerUnavailable, LedgerUnknown
from rarefind.desk.records import Transaction

Prepared = TypeVar("Prepared")
Decided = TypeVar("Decided", covariant=True)
Returned = TypeVar("Returned")

#: So many transactions are decided at once: a long group would keep all others waiting.
AT_ONCE = 32
#: Seconds after which a request that found no room may be sent again.
RETRY_AFTER = 1
_UNKNOWN = (
    "The ledger was lost while it stored this: it may be stored, or not. "
    f"Send it again in {RETRY_AFTER} s: what is stored is answered, and not counted twice."
)
_FAILED = (
    "The desk has failed and must be started again. Send it again then: what is stored is "
    "answered, and not counted twice."
)


class Decides(Protocol[Prepared, Decided]):
    """What decides: nothing has changed until ``commit`` has returned and ``finish`` was called."""

    def prepare(self, batch: Sequence[Transaction]) -> Prepared:
        """Decide, and remember how to undo it."""

    def commit(self, prepared: Prepared) -> None:
        """Store what was decided, for good.

        LedgerUnavailable: nothing was stored. LedgerUnknown: nobody knows; it is neither finished
        nor aborted, and the next ``prepare`` finds out.
        """

    def finish(self, prepared: Prepared) -> Sequence[Decided]:
        """Say what was decided, in the order of the batch."""

    def abort(self, prepared: Prepared) -> None:
        """Undo what was prepared."""

    def needs_rest(self, waiting: int) -> bool:
        """Whether ``rest`` should be called before the next batch, while so many wait for it."""

    def rest(self) -> None:
        """Do a little of what would take long later."""


class _Request:
    """Transactions that came together, and those of them that are decided."""

    __slots__ = ("decided", "future", "transactions")

    def __init__(self, transactions: Sequence[Transaction], future: asyncio.Future[Any]) -> None:
        self.transactions, self.future = transactions, future
        self.decided: list[Any] = []

    @property
    def left(self) -> int:
        return len(self.transactions) - len(self.decided)


class Batcher(Generic[Prepared, Decided]):
    """Decides the transactions of many requests, in groups that are committed together.

    A request with one transaction comes before those with many, of which a part is decided in each
    group: somebody who sends a file does not delay a payment at a till.

    Parameters
    ----------
    decider : Decides
    threaded : bool
        Commit in a thread: where it waits for the disk or the network, requests are read meanwhile.
    room : int
        So many transactions may wait; a request beyond them is told to come again.
    """

    def __init__(
        self,
        decider: Decides[Prepared, Decided],
        *,
        threaded: bool,
        room: int,
        metrics: Metrics,
        log: Log,
    ) -> None:
        self.decider = decider
        self._threaded, self._room = threaded, room
        self._metrics, self._log = metrics, log
        self._single: deque[_Request] = deque()
        self._many: deque[_Request] = deque()
        self._jobs: deque[tuple[Callable[[], Any], bool, asyncio.Future[Any]]] = deque()
        self._waiting = 0
        self._last_request = monotonic()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        #: Set when it decides no more: it was stopped, or has failed.
        self.ended = asyncio.Event()
        self.has_failed = False

    @property
    def waiting(self) -> int:
        """Transactions that are not decided yet."""
        return self._waiting

    @property
    def quiet_for(self) -> float:
        """Seconds since transactions were sent."""
        return monotonic() - self._last_request

    def start(self) -> None:
        """Begin to decide."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Decide what waits, and then nothing more."""
        self._stopping = True
        self._wake.set()
        if self._task is not None:
            await self._task

    def check(self) -> None:
        """Raise a problem if it has failed: what it knows may differ from what is stored."""
        if self.has_failed:
            raise ProblemError("unavailable", _FAILED, retry_after=RETRY_AFTER)

    async def decide(self, transactions: Sequence[Transaction]) -> list[Decided]:
        """Decide the transactions of a request; they are stored when this returns."""
        self.check()
        if not transactions:
            return []
        if self._stopping or self._waiting + len(transactions) > self._room:
            raise ProblemError(
                "unavailable",
                "The desk is stopping."
                if self._stopping
                else f"{self._waiting:,} transactions wait, and there is room for {self._room:,}. "
                f"Send it again in {RETRY_AFTER} s: nothing of it was stored.",
                retry_after=RETRY_AFTER,
            )
        future = asyncio.get_running_loop().create_future()
        request = _Request(transactions, future)
        (self._single if len(transactions) == 1 else self._many).append(request)
        self._waiting += len(transactions)
        self._last_request = monotonic()
        self._wake.set()
        decided: list[Decided] = await future
        return decided

    async def alone(self, job: Callable[[], Returned], *, threaded: bool = False) -> Returned:
        """Run a job between two groups, when nothing is half decided."""
        self.check()
        if self._stopping:
            raise ProblemError("unavailable", "The desk is stopping.", retry_after=RETRY_AFTER)
        future = asyncio.get_running_loop().create_future()
        self._jobs.append((job, threaded, future))
        self._wake.set()
        returned: Returned = await future
        return returned

    async def _run(self) -> None:
        try:
            await self._decide_all()
        except Exception as error:
            self._log.error("ended", error=type(error).__name__, at=place_of(error))
            self._give_up()
        finally:
            self.ended.set()

    def _give_up(self) -> None:
        """Tell all who wait that nothing more is decided."""
        self.has_failed = True
        problem = ProblemError("unavailable", _FAILED, retry_after=RETRY_AFTER)
        for request in (*self._single, *self._many):
            self._fail(request, problem)
        for _, _, future in self._jobs:
            if not future.done():
                future.set_exception(problem)
        self._single.clear()
        self._many.clear()
        self._jobs.clear()

    async def _decide_all(self) -> None:
        while not (self._stopping and not self._waiting and not self._jobs):
            await self._wake.wait()
            self._wake.clear()
            while self._waiting or self._jobs:
                if self._jobs:
                    await self._run_job()
                if self._waiting:
                    await self._decide_group()
                    # Answers go out, and new requests come in, before the next group.
                    await asyncio.sleep(0)
                    if self.decider.needs_rest(self._waiting):
                        await self._rest()

    async def _rest(self) -> None:
        try:
            await asyncio.to_thread(self.decider.rest)
        except LedgerUnavailable as error:
            self._log.seldom("unavailable", detail=str(error))

    async def _run_job(self) -> None:
        job, threaded, future = self._jobs.popleft()
        try:
            returned = await asyncio.to_thread(job) if threaded else job()
        except Exception as error:
            if not future.done():
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(returned)

    async def _decide_group(self) -> None:
        parts = self._next_group()
        group = [transaction for _, part in parts for transaction in part]
        try:
            decided = await self._decide_and_store(group)
        except ProblemError as error:
            for request, _ in parts:
                self._fail(request, error)
            return
        except BaseException:
            self._many.extend(request for request, _ in parts)
            raise
        begin = 0
        for request, part in parts:
            request.decided.extend(decided[begin : begin + len(part)])
            begin += len(part)
            self._waiting -= len(part)
            if request.left:
                self._many.appendleft(request)
            elif not request.future.done():
                request.future.set_result(request.decided)

    def _next_group(self) -> list[tuple[_Request, Sequence[Transaction]]]:
        """The next transactions to decide, with the requests they are of."""
        parts: list[tuple[_Request, Sequence[Transaction]]] = []
        room = AT_ONCE
        while self._single and room:
            request = self._single.popleft()
            parts.append((request, request.transactions))
            room -= 1
        # Of a file there is always a part, however many tills send.
        if self._many:
            request = self._many.popleft()
            begin = len(request.decided)
            parts.append((request, request.transactions[begin : begin + max(room, AT_ONCE // 4)]))
        return parts

    async def _decide_and_store(self, group: Sequence[Transaction]) -> Sequence[Decided]:
        prepared: Prepared | None = None
        try:
            prepared = self.decider.prepare(group)
            if self._threaded:
                await asyncio.to_thread(self.decider.commit, prepared)
            else:
                self.decider.commit(prepared)
        except LedgerUnknown as error:
            self._log.error("unknown", detail=str(error))
            raise ProblemError("unavailable", _UNKNOWN, retry_after=RETRY_AFTER) from error
        except LedgerUnavailable as error:
            if prepared is not None:
                self.decider.abort(prepared)
            self._log.seldom("unavailable", detail=str(error))
            raise ProblemError(
                "unavailable",
                "The ledger cannot be written to, and nothing was stored. "
                f"Send it again in {RETRY_AFTER} s.",
                retry_after=RETRY_AFTER,
            ) from error
        except Exception as error:
            if prepared is not None:
                self.decider.abort(prepared)
            self._log.error("failed", error=type(error).__name__, at=place_of(error))
            raise ProblemError(
                "internal", "The decision could not be made, and nothing was stored."
            ) from error
        self._metrics.batch.observe(len(group))
        return self.decider.finish(prepared)

    def _fail(self, request: _Request, error: ProblemError) -> None:
        """Answer a request with a problem: what is left of it is not decided."""
        self._waiting -= request.left
        if not request.future.done():
            request.future.set_exception(error)

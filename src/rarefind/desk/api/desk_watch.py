"""What people change while a desk decides: read in a thread, and used between two groups."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from rarefind.desk.api.batcher import Batcher
from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.control import Control, InForce, Order, revision
from rarefind.desk.database import Database, DatabaseUnavailable
from rarefind.desk.decision import Decider
from rarefind.desk.decision.upkeep import Upkeep
from rarefind.desk.erasure import end_order, forget_transactions
from rarefind.desk.features.snapshots import delete_snapshots
from rarefind.desk.labels import Label, LabelHistory
from rarefind.desk.measures import delete_pieces_with

__all__ = ["DeskWatch"]

Returned = TypeVar("Returned")

#: Seconds between two looks, and before a model file that could not be used is tried again.
EVERY, _AGAIN = 0.5, 10.0
#: So many labels are learnt while payments wait, and so many are read at once.
_LABELS, _LABEL_PAGE = 50, 1_000


class DeskWatch:
    """Follows the desk's own database: tokens, settings, labels and orders.

    The database may be away, or busy: what is known stays in force, and no payment waits for it.

    Parameters
    ----------
    database : Database
        The desk's own; nobody else in this process uses this connection.
    control : Control
    labels : LabelHistory
    tokens : Tokens
    decider : Decider
    snapshots : Path
        The folder of snapshots, which may have who was erased.
    history : Path
        The folder of the ledger as columns, which may have it, too.
    log : Log
    also : callable
        Called at each look, in the thread that has the database.
    when_used : callable
        Called with what is in force, whenever that is something else.

    Attributes
    ----------
    in_force : InForce
    labels_waiting : int
        Labels that were found and are not learnt yet.
    trouble : dict of str to str
        What could not be read or done at the last look, as sentences.
    """

    def __init__(
        self,
        database: Database,
        control: Control,
        labels: LabelHistory,
        tokens: Tokens,
        decider: Decider,
        snapshots: Path,
        history: Path,
        log: Log,
        also: Callable[[], None] = lambda: None,
        when_used: Callable[[InForce], None] = lambda _: None,
    ) -> None:
        self._database, self._control, self._labels = database, control, labels
        self._tokens, self._decider, self._snapshots, self._log = tokens, decider, snapshots, log
        self._history, self._when_used = history, when_used
        self.upkeep, self._also = Upkeep(decider), also
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="desk-watch")
        self._labels_read: int | None = None
        self._next_try = 0.0
        self.in_force: InForce | None = None
        self.labels_waiting = 0
        self.trouble: dict[str, str] = {}

    def start(self) -> None:
        """Read the settings for the first time, before anything is decided."""
        self._use(self._control.in_force())

    async def run(self, batcher: Batcher[Any, Any]) -> None:
        """Look again and again, until nothing more is decided."""
        try:
            while not batcher.ended.is_set():
                await self.look(batcher)
                try:
                    await asyncio.wait_for(batcher.ended.wait(), EVERY)
                except TimeoutError:
                    continue
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    async def look(self, batcher: Batcher[Any, Any]) -> None:
        """Look once at everything; what fails leaves the rest as it is, and is tried again."""
        await self._try("tokens", self._look_at_tokens)
        await self._try("settings", partial(self._look_at_settings, batcher))
        await self._try("labels", partial(self._look_at_labels, batcher))
        await self._try("orders", partial(self._look_at_orders, batcher))
        await self._try("figures", partial(self._read, self._also))

    async def _try(self, what: str, look: Callable[[], Awaitable[None]]) -> None:
        try:
            await look()
        except ProblemError:
            return  # it stops, or has failed
        except DatabaseUnavailable as error:
            self.trouble[what] = f"The {what} of the desk cannot be followed now: {error}"
            self._log.seldom(what, detail=str(error))
        except Exception as error:
            self.trouble[what] = f"The {what} of the desk cannot be followed now: see the log."
            self._log.seldom(what, error=type(error).__name__, at=place_of(error))
        else:
            self.trouble.pop(what, None)

    async def _read(self, function: Callable[[], Returned]) -> Returned:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    async def _look_at_tokens(self) -> None:
        await self._read(self._tokens.reload)

    async def _look_at_settings(self, batcher: Batcher[Any, Any]) -> None:
        found = await self._read(self._changed_settings)
        if found is not None:
            await batcher.alone(partial(self._use, found))
            self._log.info("settings", revision=found.revision, notes=len(found.notes))

    def _use(self, found: InForce) -> None:
        self._decider.use(found)
        self.in_force = found
        self._when_used(found)

    def _changed_settings(self) -> InForce | None:
        before = self.in_force
        if before is None:
            return self._control.in_force()
        if not before.is_complete:
            is_new = revision(self._database) != before.revision
            if not is_new and monotonic() < self._next_try:
                return None
            self._next_try = monotonic() + _AGAIN
        return self._control.changed(before)

    async def _look_at_labels(self, batcher: Batcher[Any, Any]) -> None:
        if self._labels_read is None:
            self._labels_read = await batcher.alone(self._ask_labels_read, threaded=True)
        found = await self._read(partial(self._labels.after, self._labels_read, _LABEL_PAGE))
        self.labels_waiting = len(found)
        for begin in range(0, len(found), _LABELS):
            part = found[begin : begin + _LABELS]
            # Whether they were stored is asked again if this fails.
            self._labels_read = None
            learnt = await batcher.alone(partial(self._learn, part), threaded=True)
            self._labels_read = part[-1].number
            self.labels_waiting -= len(part)
            self._log.info("labels", read_up_to=part[-1].number, learnt=learnt, of=len(part))

    def _ask_labels_read(self) -> int:
        self._decider.settle()
        return self._decider.ledger.labels_read

    def _learn(self, labels: list[Label]) -> int:
        return self._decider.add_labels(
            [(each.transaction, each.fraud, each.source) for each in labels],
            labels_read=labels[-1].number,
        )

    async def _look_at_orders(self, batcher: Batcher[Any, Any]) -> None:
        for order in await self._read(self._control.orders.to_do):
            await self._carry_out(batcher, order)

    async def _carry_out(self, batcher: Batcher[Any, Any], order: Order) -> None:
        """Erase an entity, from wherever an earlier attempt has ended."""
        names = list(self._decider.state.schema.entities)
        if order.kind != "erase" or order.entity not in names:
            reason = f"This version of the desk cannot {order.kind} a {order.entity}."
            await self._read(partial(self._control.orders.failed, order.id, reason))
            return
        entity = names.index(order.entity)
        by = order.answered_by or order.asked_by
        look = partial(self.upkeep.to_erase, entity, order.key)
        step = partial(self.upkeep.erase, entity, order.key, by=by, order=order.id)
        erased = 1
        while erased:
            going = await batcher.alone(look, threaded=True)
            await self._read(partial(forget_transactions, self._database, going))
            erased = await batcher.alone(step, threaded=True)
        await self._read(partial(delete_snapshots, self._snapshots))
        rows = await batcher.alone(
            partial(self._decider.ledger.erased_rows, order.id), threaded=True
        )
        await self._read(partial(delete_pieces_with, self._history, rows))
        if not await batcher.alone(self._decider.ledger.clean, threaded=True):
            return  # a reader holds the log: at the next look
        erased = await batcher.alone(
            partial(self._decider.ledger.erased_by, order.id), threaded=True
        )
        schema = self._decider.state.schema
        await self._read(partial(end_order, self._control, self._database, schema, order, erased))
        self._log.info("erased", order=order.id, transactions=erased)

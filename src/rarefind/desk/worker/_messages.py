"""The thread that sends messages: one that waits for a server does not keep cases waiting."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, DatabaseUnavailable
from rarefind.desk.webhooks import Deliverer, Outbox, Sender

__all__ = ["MessageThread"]

#: Seconds between two looks into the outbox, and after one that failed.
_IDLE, _AFTER_ERROR = 0.5, 5.0


class MessageThread(threading.Thread):
    """Sends what is in the outbox until it is stopped.

    Parameters
    ----------
    database : Database
        That of the desk, opened for this thread alone.
    secret : bytes
        The desk's own.
    allow_private : bool
        Whether messages may go to addresses of private networks.
    clock : DeskClock
    log : Log
    """

    def __init__(
        self, database: Database, secret: bytes, clock: DeskClock, log: Log, *, allow_private: bool
    ) -> None:
        super().__init__(name="messages", daemon=True)
        self._database, self._secret, self._clock, self._log = database, secret, clock, log
        self._allow_private = allow_private
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def run(self) -> None:
        """Send until stopped."""
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._main())
        self._loop.close()

    def stop(self) -> None:
        """Stop at once: a message on its way is sent again at the next start."""
        self._stopped = True
        with suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(self._cancel)
        self.join()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _main(self) -> None:
        self._task = asyncio.current_task()
        outbox = Outbox(self._database, self._clock)
        async with Sender(allow_private=self._allow_private) as sender:
            deliverer = Deliverer(outbox, sender, self._secret, self._clock)
            while not self._stopped:
                await asyncio.sleep(await self._deliver(deliverer))

    async def _deliver(self, deliverer: Deliverer) -> float:
        """Send what is due; returns for how long to wait then."""
        failed, dead = deliverer.failed, deliverer.dead
        try:
            came = await deliverer.deliver()
        except DatabaseUnavailable as error:
            self._log.seldom("messages-wait", detail=str(error))
            return _AFTER_ERROR
        except Exception as error:
            self._log.error("messages-failed", error=type(error).__name__, at=place_of(error))
            return _AFTER_ERROR
        if deliverer.failed > failed:
            self._log.warning(
                "messages", came=came, failed=deliverer.failed - failed, dead=deliverer.dead - dead
            )
        elif came:
            self._log.info("messages", came=came)
        return 0.0 if came else _IDLE

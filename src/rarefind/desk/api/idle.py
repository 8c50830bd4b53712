"""What the decision process does when nobody waits: checkpoints, retention, forgetting."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from typing import Any

from rarefind.desk.api.batcher import Batcher
from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.decision.upkeep import Upkeep
from rarefind.desk.features.snapshots import delete_snapshots
from rarefind.desk.ledger import Ledger

__all__ = ["IdleWork"]

#: Seconds without a payment that are an idle time; and after so many it cannot wait for one.
_QUIET, _OVERDUE = 0.2, 5.0
#: Seconds between two turns, and between two when there is more to do.
_EVERY, _MORE = 1.0, 0.02


class IdleWork:
    """Takes small steps between two groups of transactions, when there are none.

    Parameters
    ----------
    ledger : Ledger
    upkeep : Upkeep
    snapshots : Path
    log : Log
    """

    def __init__(self, ledger: Ledger, upkeep: Upkeep, snapshots: Path, log: Log) -> None:
        self._ledger, self._upkeep, self._snapshots, self._log = ledger, upkeep, snapshots, log
        self._last = monotonic()

    async def run(self, batcher: Batcher[Any, Any]) -> None:
        """Work in idle times, until nothing more is decided."""
        pause = _EVERY
        while not batcher.ended.is_set():
            try:
                await asyncio.wait_for(batcher.ended.wait(), pause)
            except TimeoutError:
                pause = await self.turn(batcher)

    async def turn(self, batcher: Batcher[Any, Any]) -> float:
        """Take a step if nobody waits; returns the seconds until the next one."""
        is_quiet = batcher.quiet_for >= _QUIET
        if batcher.waiting or not (is_quiet or monotonic() - self._last > _OVERDUE):
            return _QUIET
        self._last = monotonic()
        try:
            deleted = await batcher.alone(lambda: self.step(is_quiet=is_quiet), threaded=True)
        except ProblemError:
            return _EVERY  # it stops, or has failed
        except DatabaseUnavailable as error:
            self._log.seldom("upkeep", detail=str(error))
            return _EVERY
        except Exception as error:
            # It is tried again: payments go on meanwhile.
            self._log.seldom("upkeep", error=type(error).__name__, at=place_of(error))
            return _OVERDUE
        return _MORE if deleted else _EVERY

    def step(self, *, is_quiet: bool) -> int:
        """Delete and forget a little, and empty the log; returns how many rows were deleted."""
        deleted = self._upkeep.delete_old()
        self._upkeep.forget()
        if deleted:
            self._log.seldom("retention", deleted=deleted)
            # What is deleted for good must not be in an old snapshot either.
            delete_snapshots(self._snapshots, before=self._ledger.deleted().sequence)
        elif is_quiet:
            self._ledger.idle()
            self._ledger.clean()
        return deleted

"""Rules are proposed in a process of its own: learning takes a core for a while, and memory."""

from __future__ import annotations

import time
from pathlib import Path

from rarefind.desk.api.logs import Log
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder
from rarefind.desk.measures import History, Proposals
from rarefind.desk.processes import ChildSpec, Life, give_way
from rarefind.desk.processes.child import Child
from rarefind.desk.worker import _children

__all__ = ["ProposalJob", "propose_now"]

#: Seconds after which the process is ended, and until a request is tried again that has failed.
_LONGEST, _AGAIN = 900.0, 300.0
_DAY = 86_400 * 10**9
#: Seconds to stop in: it gives way to all others, and may not hear of it;
#: nothing is stored before the end.
_GRACE = 1.0


class ProposalJob:
    """Starts the making of proposals when somebody has asked for them, and once a day.

    Parameters
    ----------
    folder : DeskFolder
    proposals : Proposals
    clock : DeskClock
    log : Log
    """

    def __init__(
        self, folder: DeskFolder, proposals: Proposals, clock: DeskClock, log: Log
    ) -> None:
        self._proposals, self._clock, self._log = proposals, clock, log
        self._child = Child(
            ChildSpec(
                "proposals", _make, (folder.path.resolve(), folder.database_url), grace=_GRACE
            )
        )
        self._begun = self._not_before = 0.0

    def run(self) -> bool:
        """Start it if it is wanted, and notice its end; there is never more to do."""
        child, now = self._child, time.monotonic()
        if child.process is None:
            if now >= self._not_before and self.is_due():
                self._begun = now
                child.start()
        elif not child.is_alive:
            if _children.bury(child, self._log):
                self._not_before = now + _AGAIN
        elif now - self._begun > _LONGEST:
            self.stop()
            note = f"It took longer than {_LONGEST / 60:g} minutes, and was ended."
            self._proposals.store({}, self._clock.now(), note)
        return False

    def is_due(self) -> bool:
        """Whether somebody has asked, or the last ones are a day old."""
        state, made, _ = self._proposals.state
        return state == "asked" or (made is not None and self._clock.now() - made > _DAY)

    def stop(self) -> None:
        """End the process; what is there stays."""
        _children.stop(self._child)


def _make(_life: Life, path: Path, database: str | None) -> None:
    give_way()
    with DeskFolder(path, database) as folder:
        propose_now(folder, DeskClock(), Log("proposals"))


def propose_now(folder: DeskFolder, clock: DeskClock, log: Log) -> None:
    """Learn rules from the history, and store those that are worth something."""
    from rarefind.desk.measures.proposing import TooFewFrauds, propose

    begin = time.monotonic()
    control, proposals = Control.of(folder, clock), Proposals(folder.open_desk())
    try:
        found = propose(History.of(folder, clock, memory=0), folder.schema, control)
    except TooFewFrauds as error:
        proposals.store({}, clock.now(), str(error))
        return
    proposals.store(found, clock.now())
    log.info("proposals", made=len(found), seconds=round(time.monotonic() - begin, 1))

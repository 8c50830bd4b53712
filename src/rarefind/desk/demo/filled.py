"""A desk with some weeks behind it and a queue to work, made in a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rarefind.desk.api.logs import Log
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock, ManualClock
from rarefind.desk.control import Audit
from rarefind.desk.demo.past import PastWeeks
from rarefind.desk.demo.staff import INVESTIGATORS, SignInLink, invite_staff, links
from rarefind.desk.demo.world import DAY, DemoSize, simulate_world
from rarefind.desk.folder import DeskFolder
from rarefind.desk.measures import Proposals
from rarefind.desk.people import People
from rarefind.desk.worker import catch_up, make_jobs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DemoDesk", "make_demo_desk"]

#: The file in the folder for what its processes log.
LOG: Final = "desk.log"
#: A queue of so many cases is still one after some of them are taken.
_ENOUGH: Final = 4


@dataclass(frozen=True)
class DemoDesk:
    """A desk that is ready to be served.

    Attributes
    ----------
    path : Path
    token : str
        For whoever sends payments.
    links : list of SignInLink
        One for each role.
    coming : DataFrame
        Payments that have not been made yet.
    days, payments, waiting : int
        For how long and how many payments were decided, and how many cases there are to check
        today.
    """

    path: Path
    token: str
    links: list[SignInLink]
    coming: pd.DataFrame
    days: int
    payments: int
    waiting: int

    @property
    def log(self) -> Path:
        """The file for what its processes log."""
        return self.path / LOG


def make_demo_desk(
    path: Path,
    size: DemoSize | None = None,
    say: Callable[[str], object] = lambda what: None,
    clock: DeskClock | None = None,
) -> DemoDesk:
    """Make a desk in a new folder, and let the weeks before now happen to it.

    Parameters
    ----------
    path : Path
        A folder that is empty or not there.
    size : DemoSize, optional
    say : callable
        Is told what comes next.
    clock : DeskClock, optional
        Says when now is.
    """
    size, now = size or DemoSize(), (clock or DeskClock()).now()
    say(f"Simulating the payments of {size.cards:,} cards in {size.days} days")
    world = simulate_world(size, now)
    with (
        DeskFolder.create(path, size.schema) as folder,
        (path / LOG).open("a", encoding="utf-8") as stream,
        tempfile.TemporaryDirectory() as scratch,
    ):
        database, time = folder.open_desk(), ManualClock(world.begin)
        # What a loss of power would undo can be made again.
        database.read("PRAGMA synchronous = OFF")
        log = Log("demo", stream)
        people = People(database, Audit(database, time), time)
        invite_staff(people)
        token = Tokens(database, Audit(database, time)).make("payments", "ingest", time.now())
        past = PastWeeks(folder, database, world, time, Path(scratch), say, log, size.seed)
        past.run()
        say("Counting what rules and models are worth, and writing reasons")
        _open_today(past)
        catch_up(make_jobs(folder, time, log, database=database, sparingly=False))
        Proposals(database).ask(now)
        return DemoDesk(
            path,
            token,
            links(people),
            world.coming,
            size.days,
            len(world.past),
            len(past.queue.today().cases),
        )


def _open_today(past: PastWeeks) -> None:
    """Let today have begun: some checks are done, a case is held, one put aside, one has a note."""
    past.follow()
    past.check(past.done_today)
    cases, now = past.cases, past.clock.now()
    waiting = [case.id for case in past.queue.today().cases if not case.holder]
    if len(waiting) < _ENOUGH:
        return
    cases.notes.add(waiting[0], INVESTIGATORS[1], "The bank calls back; do not wait for it.")
    cases.take(waiting[1], INVESTIGATORS[1])
    cases.take(waiting[-1], INVESTIGATORS[0])
    cases.snooze(waiting[-1], INVESTIGATORS[0], now + DAY)

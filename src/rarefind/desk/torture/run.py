"""All trials, one after another, each with a desk of its own in a temporary folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rarefind.desk.database import Durability
from rarefind.desk.torture.clock import findings_of_clock
from rarefind.desk.torture.findings import Finding
from rarefind.desk.torture.full_disk import findings_of_full_disk
from rarefind.desk.torture.kills import findings_of_kills, kill_often
from rarefind.desk.torture.load import FsyncTimes, finding_of_load, fsync_times, load_desk
from rarefind.desk.torture.trial_desk import make_trial_desk

#: Of the time that there is, what killing takes; what the short trials leave is for the load.
_KILLS = 0.4
_MOST_KILLS = 1_000
#: Seconds of each load at least, and what it takes to start a desk for it and to warm it up.
_SHORTEST, _START = 5.0, 15.0
_DURABILITIES: Final[tuple[Durability, Durability]] = ("process", "disk")

Say = Callable[[str], None]


class Torture(NamedTuple):
    """What was found on this machine."""

    findings: list[Finding]
    fsync: FsyncTimes

    @property
    def holds(self) -> bool:
        """Whether all that could be tried holds."""
        return all(each.holds is not False for each in self.findings)


def torture(
    like: Path | None = None,
    *,
    minutes: float = 5.0,
    rate: float = 800.0,
    say: Say = lambda step: None,
    on_finding: Callable[[Finding], None] = lambda finding: None,
) -> Torture:
    """Try on this machine what a desk must stand.

    Parameters
    ----------
    like : Path, optional
        The folder of a desk whose columns, rules and model are used; it is only read.
    minutes : float
        About how long it may take in all.
    rate : float
        Transactions a second of the load.
    say, on_finding : callable
        Are told the next step, and each thing that was found.
    """
    found = []
    with tempfile.TemporaryDirectory(prefix="rarefind-torture-") as name:
        folder = Path(name)
        fsync = fsync_times(folder)
        for finding in _trials(folder, like, 60 * minutes, rate, say):
            found.append(finding)
            on_finding(finding)
    return Torture(found, fsync)


def _trials(
    folder: Path, like: Path | None, seconds: float, rate: float, say: Say
) -> Iterator[Finding]:
    end = time.monotonic() + seconds

    def step(name: Literal["kills", "full disk", "clock", "load"], what: str) -> Path:
        say(what)
        return folder / name.replace(" ", "-")

    desk = make_trial_desk(step("kills", "Killing a desk again and again"), like)
    killed = kill_often(desk, "process", kills=_MOST_KILLS, seconds=_KILLS * seconds)
    yield from findings_of_kills(killed)
    desk = make_trial_desk(step("full disk", "Filling its disk"), like)
    yield from findings_of_full_disk(desk)
    desk = make_trial_desk(step("clock", "Setting its clock forward and back by a day"), like)
    yield from findings_of_clock(desk)
    desk = make_trial_desk(step("load", f"Sending {rate:g} transactions a second"), like)
    for number, durability in enumerate(_DURABILITIES):
        say(f"Sending {rate:g} transactions a second, durability {durability}")
        left = (end - time.monotonic()) / (len(_DURABILITIES) - number)
        length = max(_SHORTEST, left - _START)
        result = load_desk(desk, durability, rate=rate, seconds=length, seed=number)
        yield finding_of_load(result, durability, rate)

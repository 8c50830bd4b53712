"""Jobs that take turns: each does a piece, and a job that fails waits while others go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.database import DatabaseUnavailable

__all__ = ["Job", "catch_up", "run_jobs"]

#: Seconds between two pieces of work, in which the decision process has the machine to itself.
_PAUSE = 0.005
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0


@dataclass
class Job:
    """Something that is done again and again.

    Parameters
    ----------
    name : str
        What logs call it.
    run : callable
        Does a piece, and returns whether there is more to do at once.
    every : float
        Seconds until it is asked again when there is nothing to do.
    """

    name: str
    run: Callable[[], bool]
    every: float
    due: float = field(default=0.0, init=False)
    failures: int = field(default=0, init=False)


def run_jobs(
    jobs: Sequence[Job],
    stop: threading.Event,
    log: Log,
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Run jobs in turns until told to stop, or until they have ended it themselves."""
    while not (stop.is_set() or ended()):
        now = time.monotonic()
        for job in jobs:
            if job.due <= now and not (stop.is_set() or ended()):
                _run(job, log)
                stop.wait(_PAUSE)
        stop.wait(max(min(job.due for job in jobs) - time.monotonic(), 0.0))


def catch_up(jobs: Sequence[Job]) -> None:
    """Run each job until it has nothing more to do; one that fails ends it."""
    for job in jobs:
        while job.run():
            continue


def _run(job: Job, log: Log) -> None:
    try:
        wait = 0.0 if job.run() else job.every
        job.failures = 0
    except Exception as error:
        job.failures += 1
        wait = min(_FIRST_WAIT * 2 ** min(job.failures - 1, 20), _LONGEST_WAIT)
        if isinstance(error, DatabaseUnavailable):
            log.seldom(f"{job.name}-waits", detail=str(error))
        else:
            log.error(f"{job.name}-failed", error=type(error).__name__, at=place_of(error))
    job.due = time.monotonic() + wait

"""Trial: as many transactions a second as a card processor has, answered in time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rarefind.desk.database import Durability
from rarefind.desk.torture.findings import Finding
from rarefind.desk.torture.made_up import MadeUpTransactions
from rarefind.desk.torture.open_loop import LoadPlan, LoadResult, send_at_rate
from rarefind.desk.torture.served import ServedDesk
from rarefind.desk.torture.trial_desk import TrialDesk

#: Milliseconds in which 99 of 100 transactions are answered.
LIMIT = 10.0
_WARM_UP = 5.0
_FSYNCS = 200
_PAGE = 4_096


class FsyncTimes(NamedTuple):
    """Milliseconds until what was written is on the disk."""

    median: float
    p99: float
    longest: float

    def __str__(self) -> str:
        return f"p50 {self.median:.2f} ms, p99 {self.p99:.2f} ms, longest {self.longest:.2f} ms"


def fsync_times(folder: Path) -> FsyncTimes:
    """Measure how long the disk of a folder takes to keep a page."""
    path, times = folder / "fsync", []
    with path.open("wb") as file:
        for _ in range(_FSYNCS):
            file.write(bytes(_PAGE))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(1e3 * (time.perf_counter() - began))
    path.unlink()
    median, p99, longest = np.percentile(times, (50, 99, 100))
    return FsyncTimes(float(median), float(p99), float(longest))


def load_desk(
    desk: TrialDesk, durability: Durability, *, rate: float, seconds: float, seed: int = 0
) -> LoadResult:
    """Send transactions at a rate to a desk that has warmed up."""
    with ServedDesk(desk.path, durability, whole=True) as served:
        assert served.address is not None
        for number, length in enumerate((min(_WARM_UP, seconds), seconds)):
            lines = desk.path.parent / "lines.json"
            plan = LoadPlan(served.address, desk.token, lines, rate, length, seed=seed)
            write_lines(plan, MadeUpTransactions(desk.schema, seed=1_000 + 2 * seed + number))
            result = send_at_rate(plan)
    return result


def write_lines(plan: LoadPlan, made_up: MadeUpTransactions) -> None:
    """Write the transactions of a plan, with the times at which they will be sent."""
    begin = time.time_ns()
    times = (begin + (plan.due() * 1e9).astype(np.int64)).tolist()
    with plan.lines.open("wb") as file:
        file.writelines(body + b"\n" for body in made_up.bodies(times))


def finding_of_load(result: LoadResult, durability: Durability, rate: float) -> Finding:
    """Whether transactions were answered in time."""
    p50, p99, p999, longest = map(result.milliseconds, (50, 99, 99.9, 100))
    detail = f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, p99.9 {p999:.1f} ms, longest {longest:.1f} ms"
    if result.failed:
        others = {status: count for status, count in result.statuses.items() if status != 200}
        detail += "; " + ", ".join(
            f"{count:,} × {status or 'no answer'}" for status, count in others.items()
        )
    return Finding(
        "load",
        f"With durability `{durability}`, {rate:g} transactions a second are decided, 99 of 100 "
        f"within {LIMIT:g} ms.",
        p99 < LIMIT and not result.failed,
        detail,
    )

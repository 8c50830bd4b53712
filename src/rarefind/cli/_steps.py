"""Progress of a command, on standard error."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def steps(
    *, quiet: bool = False, verbose: bool = False, end: float = math.inf
) -> Iterator[Callable[[str], None]]:
    """Yield the function that names the next step; each ends with the seconds it took.

    Steps go to standard error, so that what a command prints can be piped, and are shown in a
    terminal or with ``verbose``. The time left is shown for work that reports its progress, or up
    to ``end`` (in seconds of ``time.monotonic``).
    """
    if quiet or not (verbose or sys.stderr.isatty()):
        yield lambda what: None
        return
    from rich.console import Console

    from rarefind._core.progress import COMPILING, Compiled, listen_to_progress, watch_compiling

    console = Console(stderr=True)
    now: list[_Step] = []
    compiling: list[Compiled] = []  # the last report, once it takes long

    def finish() -> None:
        if now:
            step = now.pop()
            console.print(f"[green]✓[/] {step.what} [dim]({step.taken():.1f} s)[/]")

    def on_progress(done: int, total: int | None) -> None:
        if now and total:
            now[0].share_done = min(1.0, done / total)

    def count(compiled: Compiled) -> None:
        if compiled.takes_long:
            if not compiling:
                console.print(COMPILING)
            compiling[:] = [compiled]
        if now and compiling:
            now[0].compiled = compiled.functions

    with console.status("") as status, listen_to_progress(on_progress), watch_compiling(count):

        def say(what: str) -> None:
            finish()
            now.append(_Step(what, end))
            status.update(now[0])

        yield say
        finish()


class _Step:
    """The current step, drawn again while it lasts."""

    def __init__(self, what: str, end: float) -> None:
        from rich.markup import escape

        self.what, self._end = escape(what), end
        self.share_done = 0.0
        self.compiled = 0
        self._start = time.monotonic()

    def taken(self) -> float:
        return time.monotonic() - self._start

    def __rich__(self) -> str:
        taken, left = self.taken(), self._end - time.monotonic()
        text = f"{self.what} … [dim]{taken:.0f} s"
        if self.share_done:
            own = taken * (1 / self.share_done - 1)
            text += f", about {max(0.0, min(own, left)):.0f} s left"
        elif left < math.inf:
            text += f", at most {max(0.0, left):.0f} s left"
        if self.compiled:
            text += f", {self.compiled} functions compiled"
        return f"{text}[/]"


@contextmanager
def rows_bar(
    total: int | None, *, what: str = "Ranking", quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with the number of rows done; a bar with the time left.

    Nothing is shown if standard error is not a terminal, or in the first two seconds.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    began, task = time.perf_counter(), bar.add_task(what, total=total)

    def advance(rows: int) -> None:
        bar.advance(task, rows)
        if not bar.live.is_started and time.perf_counter() - began > _PATIENCE:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()


_PATIENCE = 2.0  # seconds

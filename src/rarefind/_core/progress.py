"""Progress of long work: a bar on the terminal, a listener, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Listener", "listen_to_progress", "progress_bar"]

#: Called with the number of steps done, and of all where that is known.
Listener = Callable[[int, int | None], None]

_LISTENER: ContextVar[Listener | None] = ContextVar("rarefind_listener", default=None)


@contextmanager
def listen_to_progress(listener: Listener | None) -> Iterator[None]:
    """Report the outermost work inside to the listener; that of threads is not seen."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def progress_bar(
    description: str, total: int | None, verbose: int = 1
) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with the number of steps done; silent when not verbose."""
    listener = _LISTENER.get()
    done = 0

    def report(steps: int) -> None:
        nonlocal done
        done += steps
        if listener is not None:
            listener(done, total)

    with listen_to_progress(None):  # parts of this work are not reported
        if not verbose:
            yield report
            return
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as bar:
            task = bar.add_task(description, total=total)

            def advance(steps: int) -> None:
                report(steps)
                bar.advance(task, steps)

            yield advance

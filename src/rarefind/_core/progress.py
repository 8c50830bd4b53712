"""Progress of long work: a bar on the terminal, a listener, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import NamedTuple

__all__ = [
    "COMPILING",
    "Compiled",
    "Listener",
    "listen_to_progress",
    "progress_bar",
    "tell_compiled",
    "watch_compiling",
]

#: What is said when compiling takes long.
COMPILING = "Compiling once for this machine …"
# Seconds of compiling that nobody minds.
_PATIENCE = 1.0

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

    with listen_to_progress(None), ExitStack() as stack:  # parts of this work are not reported
        if not verbose:
            yield report
            return
        stack.enter_context(watch_compiling(_say_once))
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


class Compiled(NamedTuple):
    """What this process has compiled so far."""

    functions: int
    seconds: float

    @property
    def takes_long(self) -> bool:
        """Whether it is time to say so."""
        return self.seconds > _PATIENCE


_COMPILE_LISTENERS: list[Callable[[Compiled], None]] = []


@contextmanager
def watch_compiling(listener: Callable[[Compiled], None]) -> Iterator[None]:
    """Call the listener, again and again, while kernels are compiled inside, by any thread."""
    _COMPILE_LISTENERS.append(listener)
    try:
        yield
    finally:
        _COMPILE_LISTENERS.remove(listener)


def tell_compiled(compiled: Compiled) -> None:
    """Report to all listeners; called by the compiler."""
    for listener in _COMPILE_LISTENERS:
        listener(compiled)


_said: list[str] = []


def _say_once(compiled: Compiled) -> None:
    if compiled.takes_long and not _said:
        _said.append(COMPILING)
        print(COMPILING, file=sys.stderr)

"""A process that was started, and is started again when it ends by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from rarefind.desk.processes._life import Said, run_child

__all__ = ["Child", "ChildSpec"]

#: Seconds: waits between two starts grow up to the longest, and begin anew after a quiet time.
_FIRST_WAIT, _LONGEST_WAIT, _QUIET = 0.25, 30.0, 60.0


@dataclass(frozen=True)
class ChildSpec:
    """What a child process does.

    Parameters
    ----------
    name : str
    work : callable
        A function of a module, called as ``work(life, *arguments)`` in the new process.
    arguments : tuple
    ask : callable, optional
        Asks from outside whether the process is ready; None if it says so itself.
    grace : float
        Seconds that it has to stop.
    """

    name: str
    work: Callable[..., object]
    arguments: tuple[Any, ...]
    ask: Callable[[], bool] | None = None
    grace: float = 10.0


class Child:
    """A child process, through all its starts."""

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self.process: BaseProcess | None = None
        self.line: Connection[Any, Any] | None = None
        self.is_ready = False
        self.refusal = ""
        #: Ends that nobody asked for, one after the other.
        self.failures = 0
        self.due = 0.0
        self._began = 0.0

    def start(self) -> None:
        """Start it; by spawn, so that it shares nothing with this process but what it is given."""
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(
            target=run_child,
            args=(self.spec.name, theirs, self.spec.work, self.spec.arguments),
            name=self.spec.name,
        )
        self.process.start()
        theirs.close()
        self._began, self.is_ready, self.refusal = time.monotonic(), False, ""

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.is_alive()

    def hear(self) -> None:
        """Read what it has said, and ask whether it is ready."""
        while self.line is not None and self.line.poll():
            try:
                said: Said = self.line.recv()
            except (EOFError, OSError):
                self.line.close()
                self.line = None
                break
            if said[0] == "ready":
                self.is_ready = True
            else:
                self.refusal = said[1]
        if not self.is_ready and self.spec.ask is not None and self.is_alive:
            self.is_ready = self.spec.ask()

    def bury(self) -> int | None:
        """Put away a process that has ended; returns its exit code, and sets when to start anew."""
        assert self.process is not None
        self.process.join()
        code = self.process.exitcode
        if time.monotonic() - self._began > _QUIET:
            self.failures = 0
        self.failures += 1
        wait = 0.0
        if self.failures > 1:  # once may happen, and somebody waits for an answer
            wait = min(_FIRST_WAIT * 2 ** min(self.failures - 2, 20), _LONGEST_WAIT)
        self.due = time.monotonic() + wait
        self._forget()
        return code

    def ask_to_stop(self) -> None:
        """Tell it to stop, and wait for nothing."""
        if self.line is not None:
            try:
                self.line.send("stop")
            except OSError:
                return

    def wait(self) -> bool:
        """Wait until it has ended, and end it after its time; False if that was needed."""
        if self.process is None:
            return True
        self.process.join(self.spec.grace)
        in_time = not self.process.is_alive()
        if not in_time:
            self.process.kill()
            self.process.join()
        self._forget()
        return in_time

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()

    def _forget(self) -> None:
        if self.line is not None:
            self.line.close()
        if self.process is not None:
            self.process.close()
        self.process = self.line = None

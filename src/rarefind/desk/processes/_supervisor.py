"""Starts the processes of a desk, starts those again that end by themselves, and stops all."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import wait
from types import FrameType
from typing import Any

from rarefind.desk.api.logs import Log
from rarefind.desk.processes.child import Child, ChildSpec

__all__ = ["Supervisor"]

#: Seconds between two looks at children that are not ready, or wait to be started.
_LOOK = 0.1
#: A process that ends so often before all are ready does not start by being started again.
_MOST_STARTS = 3


class Supervisor:
    """Keeps processes running until it is told to stop.

    Parameters
    ----------
    specs : sequence of ChildSpec
        The first is started first, and stopped after all others have ended.
    log : Log
    """

    def __init__(self, specs: Sequence[ChildSpec], log: Log) -> None:
        self._children = [Child(spec) for spec in specs]
        self._log = log
        self._wake, self._waker = Pipe(duplex=False)
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Have all processes stopped; said twice, they are ended at once."""
        if self._stopping.is_set():
            for child in self._children:
                child.kill()
        self._stopping.set()
        self._waker.send_bytes(b"stop")

    def run(self, on_ready: Callable[[], object]) -> None:
        """Start all, call ``on_ready`` when they are, and keep them running until ``stop``.

        SIGTERM, SIGHUP and Ctrl-C stop it, in the main thread.

        Raises
        ------
        ValueError
            If a process cannot start: its own sentence.
        """
        before = self._take_signals()
        try:
            for child in self._children:
                child.start()
            self._wait_until_ready()
            if not self._stopping.is_set():
                self._log.info("ready")
                on_ready()
            while not self._stopping.is_set():
                self._sleep()
                self._look_after()
        finally:
            self._stop_all()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _wait_until_ready(self) -> None:
        while not self._stopping.is_set() and not all(each.is_ready for each in self._children):
            self._sleep()
            for child in self._children:
                child.hear()
                if not child.is_alive and child.refusal:
                    raise ValueError(child.refusal)
                if child.failures >= _MOST_STARTS:
                    raise ValueError(
                        f"The {child.spec.name} process ends at every start: its log says why."
                    )
            self._look_after()

    def _look_after(self) -> None:
        """Start again what has ended, the first children first."""
        for child in self._children:
            if self._stopping.is_set():
                return
            child.hear()
            if child.process is not None and not child.is_alive:
                self._bury(child)
            if child.process is None and child.due <= time.monotonic():
                child.start()
                self._log.info("started", child=child.spec.name)

    def _bury(self, child: Child) -> None:
        refusal, code = child.refusal, child.bury()
        self._log.error(
            "ended",
            child=child.spec.name,
            code=code,
            detail=refusal,
            again_in=round(max(child.due - time.monotonic(), 0.0), 2),
        )

    def _sleep(self) -> None:
        """Wait until a child ends or says something, or somebody tells us to stop."""
        seconds = None
        if not all(child.is_ready and child.process for child in self._children):
            seconds = _LOOK
        things: list[Any] = [self._wake]
        for child in self._children:
            things += [] if child.process is None else [child.process.sentinel]
            things += [] if child.line is None else [child.line]
        if self._wake in wait(things, seconds):
            self._wake.recv_bytes()

    def _stop_all(self) -> None:
        """Stop the first child last: what others still ask of it is answered."""
        first, *others = self._children
        for group in (others, [first]):
            for child in group:
                child.ask_to_stop()
            for child in group:
                if not child.wait():
                    self._log.warning("killed", child=child.spec.name, after=child.spec.grace)
        self._log.info("stopped")

    def _take_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def stop(_number: int, _frame: FrameType | None) -> None:
            self.stop()

        numbers = [signal.SIGINT, signal.SIGTERM]
        numbers += [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
        return {number: signal.signal(number, stop) for number in numbers}

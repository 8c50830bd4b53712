"""The life of a process that another one has started: it ends when that one says so, or is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Literal, TypeAlias

from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.database import DatabaseUnavailable

__all__ = ["READY", "Life", "Said", "give_way", "run_child"]

#: What a process tells the one that has started it: it is ready, or cannot start, and why.
Said: TypeAlias = tuple[Literal["ready", "refused"], str]
READY: Said = ("ready", "")
#: What ends a start with a sentence instead of a traceback.
_TOLD = (ValueError, DatabaseUnavailable, OSError)
#: Seconds after which a process whose parent is gone ends, whatever it is doing.
_ORPHAN = 20.0


class Life:
    """The line between a process and the one that has started it.

    Parameters
    ----------
    line : Connection
        Any word on it means stop; so does its end, which comes when the other process is killed.
    """

    def __init__(self, line: Connection[Any, Any]) -> None:
        self._line = line
        self._stop: Callable[[], object] = _signal_ourselves
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="life", daemon=True).start()

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Say how this process is stopped; by default as by SIGTERM."""
        self._stop = stop

    def say(self, said: Said) -> None:
        """Tell the other process something; nobody may be there to hear it."""
        with self._lock:
            try:
                self._line.send(said)
            except OSError:
                return

    def _watch(self) -> None:
        try:
            self._line.recv()
            is_orphan = False
        except (EOFError, OSError):
            is_orphan = True
        self._stop()
        if is_orphan:
            time.sleep(_ORPHAN)
            os._exit(1)


def run_child(
    name: str, line: Connection[Any, Any], work: Callable[..., object], arguments: tuple[Any, ...]
) -> None:
    """Run the work of a child process: ``work(life, *arguments)``; True or None is a good end."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C is for the process that has started us, which stops all in order
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    life = Life(line)
    try:
        ended = work(life, *arguments)
    except _TOLD as error:
        life.say(("refused", str(error) or type(error).__name__))
        Log(name).error("refused", detail=str(error), at=place_of(error))
        sys.exit(2)
    sys.exit(0 if ended in (None, True) else 1)


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def _signal_ourselves() -> None:
    """Have the main thread told, whatever it is doing."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGTERM)
    else:
        os.kill(os.getpid(), signal.SIGTERM)


def give_way() -> None:
    """Let every process that wants a core go first, on Linux: this one may need it for minutes."""
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

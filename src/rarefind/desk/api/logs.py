"""Logs for machines: one JSON object a line, with identifiers and no other personal data."""

from __future__ import annotations

import sys
import threading
import time
from datetime import UTC, datetime
from typing import IO, Any

import msgspec

#: An event that repeats is written once in so many seconds, with how often it came.
_QUIET = 1.0


def place_of(error: BaseException) -> str:
    """Where an error was raised: its own words may quote what somebody sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f"{trace.tb_frame.f_globals.get('__name__', '')}:{trace.tb_lineno}"


class Log:
    """Writes events as JSON lines.

    Parameters
    ----------
    process : str
        Which process of the desk writes.
    stream : file, optional
        Where to; by default standard error.
    """

    def __init__(self, process: str, stream: IO[str] | None = None) -> None:
        self.process = process
        self.stream = stream
        self._lock = threading.Lock()
        self._written: dict[str, float] = {}
        self._skipped: dict[str, int] = {}

    def info(self, event: str, **fields: Any) -> None:
        """Write what happened."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Write what somebody should know."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Write what somebody should mend."""
        self._write("error", event, fields)

    def seldom(self, event: str, **fields: Any) -> None:
        """Write a warning that may come thousands of times a second, once a second at most."""
        now = time.monotonic()
        with self._lock:
            if now - self._written.get(event, -_QUIET) < _QUIET:
                self._skipped[event] = self._skipped.get(event, 0) + 1
                return
            self._written[event] = now
            skipped = self._skipped.pop(event, 0)
        self._write("warning", event, fields | ({"repeated": skipped} if skipped else {}))

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        head = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": level,
            "process": self.process,
            "event": event,
        }
        line = msgspec.json.encode(head | fields, enc_hook=str).decode("utf-8", "replace")
        with self._lock:
            stream = self.stream or sys.stderr
            stream.write(line + "\n")
            stream.flush()

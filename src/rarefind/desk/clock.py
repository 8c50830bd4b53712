"""What time it is, from one place, so that tests and torture can set it."""

from __future__ import annotations

import time

from rarefind.data.clock import nanoseconds

__all__ = ["DeskClock", "ManualClock"]


class DeskClock:
    """The clock of this machine, in nanoseconds since 1970 in UTC."""

    def now(self) -> int:
        """Return the time."""
        return time.time_ns()


class ManualClock(DeskClock):
    """A clock that stands still until it is set, forward or back.

    Examples
    --------
    >>> clock = ManualClock(1_000)
    >>> clock.advance("1h")
    >>> clock.now()
    3600000001000
    """

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        """Return the time it was set to."""
        return self._now

    def set(self, now: int) -> None:
        """Jump to a time."""
        self._now = now

    def advance(self, length: str | int) -> None:
        """Go on by a length such as ``"1h"``, or by nanoseconds, which may be negative."""
        self._now += length if isinstance(length, int) else nanoseconds("length", length)

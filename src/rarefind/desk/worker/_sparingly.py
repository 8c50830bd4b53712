"""Work that is long and not urgent: done a small share of the time, so that decisions go first."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["WAIT", "Sparingly"]

#: The share of the time that is worked, and seconds until it is asked again when nothing is left.
_SHARE, WAIT = 0.2, 30.0


class Sparingly:
    """A job whose steps are followed by a pause several times as long.

    Parameters
    ----------
    step : callable
        Does a piece, and returns whether there is more to do.
    wait : float
        Seconds until it is asked again when there is nothing more.
    """

    def __init__(self, step: Callable[[], bool], *, wait: float = WAIT) -> None:
        self._step, self._wait, self._not_before = step, wait, 0.0

    def run(self) -> bool:
        """Do a piece if it is time to; what is left waits for the next time."""
        begin = time.monotonic()
        if begin >= self._not_before:
            is_more = self._step()
            end = time.monotonic()
            self._not_before = end + ((end - begin) * (1 / _SHARE - 1) if is_more else self._wait)
        return False

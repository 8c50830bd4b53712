"""How long a search may take, and how long a fit will."""

from __future__ import annotations

import math
import time

# Kept for what comes after the last fit.
_SHARE_TO_FINISH, _MOST_TO_FINISH = 0.15, 10.0
# The power of the rows that the time of a fit grows by, at most.
_MOST_GROWTH = 2.5
_MARGIN = 1.5


class TimeLimit:
    """The time of a search, from now on."""

    def __init__(self, limit: float) -> None:
        self.start = time.monotonic()
        self.end = self.start + limit
        #: When the last fit must be over.
        self.last = self.end - min(_SHARE_TO_FINISH * limit, _MOST_TO_FINISH)

    def left(self) -> float:
        """Seconds until the last fit must be over."""
        return self.last - time.monotonic()


class FitTime:
    """How long fits of a candidate take: measured on few rows, predicted for more.

    The time grows by a power of the rows: at least by ``least``, and by ``usual`` where nothing
    else is known. The prediction is ``margin`` times as long.
    """

    def __init__(self, least: float, usual: float, margin: float = _MARGIN) -> None:
        self._least, self._usual, self._margin = least, usual, margin
        self._measured: dict[int, float] = {}

    def measure(self, rows: int, seconds: float) -> None:
        """Note the seconds of a fit; of fits to as many rows the last counts."""
        self._measured[rows] = seconds

    def predict_seconds(self, rows: int) -> float | None:
        """Seconds that a fit to so many rows will take at most; None before the first one."""
        if not self._measured:
            return None
        if rows in self._measured:
            return self._margin * self._measured[rows]
        most = max(self._measured)
        growth = self._usual
        if len(self._measured) > 1:
            before = sorted(self._measured)[-2]
            longer = self._measured[most] / self._measured[before]
            growth = math.log(max(longer, 1e-9)) / math.log(most / before)
        growth = min(max(growth, self._least), _MOST_GROWTH)
        return self._margin * self._measured[most] * max(1.0, rows / most) ** growth

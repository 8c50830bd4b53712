"""How long decisions took, added to the figures of the day now and then, never on their way."""

from __future__ import annotations

from datetime import datetime
from math import inf
from time import monotonic
from zoneinfo import ZoneInfo

from prometheus_client import Histogram

from rarefind.desk.clock import DeskClock
from rarefind.desk.latency import LatencyDays

__all__ = ["LatencyCount"]

#: Seconds between two times that it is stored.
_EVERY = 30.0
_SECOND = 10**9


class LatencyCount:
    """Stores what a histogram has counted since the last time.

    Parameters
    ----------
    days : LatencyDays
    seconds : Histogram
        Of a process, counted from its start.
    zone : str
        The time zone of the desk.
    clock : DeskClock
    """

    def __init__(self, days: LatencyDays, seconds: Histogram, zone: str, clock: DeskClock) -> None:
        self._days, self._seconds, self._clock = days, seconds, clock
        self._zone = ZoneInfo(zone)
        self._stored: dict[float, int] = {}
        self._not_before = 0.0

    def look(self) -> None:
        """Store what is new, if it is time to."""
        if monotonic() >= self._not_before:
            self._not_before = monotonic() + _EVERY
            self.store()

    def store(self) -> None:
        """Store what is new."""
        within = self._within()
        bounds = sorted(within)
        new = [within[bound] - self._stored.get(bound, 0) for bound in bounds]
        # The histogram counts all up to a bound.
        counts = [here - before for here, before in zip(new, [0, *new], strict=False)]
        if any(counts):
            now = self._clock.now() // _SECOND
            day = datetime.fromtimestamp(now, self._zone).date().isoformat()
            self._days.add(day, [bound for bound in bounds if bound < inf], counts)
            self._stored = within

    def _within(self) -> dict[float, int]:
        """How many answers were within each bound."""
        return {
            float(sample.labels["le"]): int(sample.value)
            for metric in self._seconds.collect()
            for sample in metric.samples
            if sample.name.endswith("_bucket")
        }

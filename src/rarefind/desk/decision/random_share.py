"""The share of the budget that is drawn at random, each with a probability that is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b

import numpy as np

from rarefind._core.types import Array
from rarefind.data.history_arrays import taken
from rarefind.desk.schema import AlertSchema

_HOUR = 3_600 * 10**9
#: All periods have whole hours, and begin with one.
_HOURS_A_DAY = 24


class RandomShare:
    """Draws transactions by their identifiers, so that a repeated one is drawn again.

    The probability is the random part of the budget over the transactions of the period before, by
    their own times in UTC; in the first period over those so far, and never fewer than the budget.
    """

    def __init__(self, alerts: AlertSchema, secret: bytes) -> None:
        self._secret = secret
        #: By the hour, so that the period can be another one; and by the period that counts.
        self._hours: Counter[int] = Counter()
        self.use(alerts)

    def use(self, alerts: AlertSchema) -> None:
        """Draw by another budget, share or period from now on."""
        self._wanted = alerts.random_share * alerts.budget
        self._least = max(alerts.budget, 1)
        self._length = alerts.period // _HOUR
        self._counts: Counter[int] = Counter()
        for hour, count in self._hours.items():
            self._counts[hour // self._length] += count

    def add(self, time: int) -> None:
        """Count a transaction."""
        self._count(time // _HOUR, 1)

    def extend(self, time: Array) -> None:
        """Count many transactions."""
        for hour, count in zip(*np.unique(time // _HOUR, return_counts=True), strict=True):
            self._count(int(hour), int(count))

    def add_days(self, days: Mapping[int, int]) -> None:
        """Count transactions that are gone, of which only the days are known."""
        for day, count in days.items():
            self._count(day * _HOURS_A_DAY, count)

    def to_arrays(self) -> dict[str, Array]:
        """All that was counted as plain arrays, for :meth:`load`."""
        return {
            "share_hours": np.array(list(self._hours), dtype=np.int64),
            "share_counts": np.array(list(self._hours.values()), dtype=np.int64),
        }

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Have counted what was saved, and nothing else."""
        hours = taken(arrays, "share_hours", np.int64, (-1,))
        counts = taken(arrays, "share_counts", np.int64, (len(hours),))
        if np.any(counts < 0):
            raise ValueError("a count is negative")
        self._hours, self._counts = Counter(), Counter()
        for hour, count in zip(hours.tolist(), counts.tolist(), strict=True):
            self._count(hour, count)

    def undo(self, time: int) -> None:
        """Take a transaction back."""
        self._count(time // _HOUR, -1)

    def _count(self, hour: int, count: int) -> None:
        self._hours[hour] += count
        self._counts[hour // self._length] += count

    def propensity(self, time: int) -> float:
        """Return the probability of being drawn at a time."""
        period = time // (self._length * _HOUR)
        known = self._counts[period - 1] or self._counts[period]
        return min(1.0, self._wanted / max(known, self._least))

    def is_drawn(self, id: str, propensity: float) -> bool:
        """Return whether a transaction is drawn with a probability."""
        digest = blake2b(id.encode(), digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, "big") < propensity * 2**64

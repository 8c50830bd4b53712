"""The share of the budget that is drawn at random, each with a probability that is kept."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from rarefind.data.clock import nanoseconds
from rarefind.desk.schema import AlertSchema

_LENGTHS = {"hour": "1h", "day": "1D", "week": "7D", "month": "30D", "quarter": "91D"}


class RandomShare:
    """Draws transactions by their identifiers, so that a repeated one is drawn again.

    The probability is the random part of the budget over the transactions of the period before, by
    their own times in UTC; in the first period over those so far, and never fewer than the budget.
    """

    def __init__(self, alerts: AlertSchema, secret: bytes) -> None:
        self._wanted = alerts.random_share * alerts.budget
        self._least = max(alerts.budget, 1)
        self._length = nanoseconds("alerts.per", _LENGTHS[alerts.per])
        self._secret = secret
        self._counts: Counter[int] = Counter()

    def add(self, time: int) -> None:
        """Count a transaction."""
        self._counts[time // self._length] += 1

    def undo(self, time: int) -> None:
        """Take a transaction back."""
        self._counts[time // self._length] -= 1

    def propensity(self, time: int) -> float:
        """Return the probability of being drawn at a time."""
        period = time // self._length
        known = self._counts[period - 1] or self._counts[period]
        return min(1.0, self._wanted / max(known, self._least))

    def is_drawn(self, id: str, propensity: float) -> bool:
        """Return whether a transaction is drawn with a probability."""
        digest = blake2b(id.encode(), digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, "big") < propensity * 2**64

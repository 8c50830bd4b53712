"""How many of some cases are fraud, if each is with its own probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Expected", "expected_hits"]

# The probability that the interval misses the number, on each side.
_TAIL = (1 - 0.95) / 2


class Expected(NamedTuple):
    """The expected number of hits, and a 95 % interval of the number.

    ``known`` is the number of cases that have a probability; others are not counted.
    """

    hits: float
    low: int
    high: int
    known: int


def expected_hits(probability: Sequence[float]) -> Expected:
    """Add up independent cases with these probabilities; the distribution is exact.

    Examples
    --------
    >>> expected_hits([0.5, 0.5, 1.0])
    Expected(hits=2.0, low=1, high=3, known=3)
    """
    distribution = np.ones(1)
    for each in probability:
        distribution = np.convolve(distribution, [1 - each, each])
    below = np.cumsum(distribution)
    low = int(np.searchsorted(below, _TAIL, side="right"))
    high = int(np.searchsorted(below, 1 - _TAIL, side="left"))
    return Expected(float(sum(probability)), low, high, len(probability))

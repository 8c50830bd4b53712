"""How many of some cases are fraud, and how much money that is, by their own probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

__all__ = ["Expected", "ExpectedAmount", "expected_amount", "expected_hits"]

# The probability that the interval misses the number, on each side.
_TAIL = (1 - 0.95) / 2
# Beyond so many cases the normal distribution is as good, and much faster.
_EXACT = 500
# An amount is one of so many equal steps up to the sum of all.
_STEPS = 2_000


class Expected(NamedTuple):
    """The expected number of hits, and a 95 % interval of the number.

    ``known`` is the number of cases that have a probability; others are not counted.
    """

    hits: float
    low: int
    high: int
    known: int


class ExpectedAmount(NamedTuple):
    """The expected amount of frauds, and a 95 % interval of it, in minor units."""

    amount: float
    low: int
    high: int


def expected_hits(probability: Sequence[float]) -> Expected:
    """Add up independent cases with these probabilities; exact for up to 500 of them.

    Examples
    --------
    >>> expected_hits([0.5, 0.5, 1.0])
    Expected(hits=2.0, low=1, high=3, known=3)
    """
    count, hits = len(probability), float(sum(probability))
    if count > _EXACT:
        margin = _margin(sum(each * (1 - each) for each in probability)) + 0.5
        return Expected(hits, max(round(hits - margin), 0), min(round(hits + margin), count), count)
    distribution = np.ones(1)
    for each in probability:
        distribution = np.convolve(distribution, [1 - each, each])
    below = np.cumsum(distribution)
    low = int(np.searchsorted(below, _TAIL, side="right"))
    high = int(np.searchsorted(below, 1 - _TAIL, side="left"))
    return Expected(hits, low, high, count)


def expected_amount(probability: Sequence[float], amount: Sequence[int]) -> ExpectedAmount:
    """Add up what independent cases lose, each its amount with its probability or nothing.

    Up to 500 cases the interval is right to a two-thousandth of the sum of all amounts.

    Examples
    --------
    >>> expected_amount([0.5, 1.0], [10_000, 10_000])
    ExpectedAmount(amount=15000.0, low=10000, high=20000)
    """
    lost = [max(each, 0) for each in amount]
    total = sum(lost)
    pairs = list(zip(probability, lost, strict=True))
    mean = float(sum(p * each for p, each in pairs))
    if len(pairs) > _EXACT or not total:
        margin = _margin(float(sum(p * (1 - p) * each**2 for p, each in pairs)))
        return ExpectedAmount(mean, max(round(mean - margin), 0), min(round(mean + margin), total))
    # One cell a step, and some at the end for what rounding up adds.
    distribution = np.zeros(_STEPS + len(pairs) + 1)
    distribution[0] = 1.0
    for p, each in pairs:
        cells = round(each / total * _STEPS)
        moved = np.zeros_like(distribution)
        moved[cells:] = distribution[: distribution.size - cells]
        distribution = (1 - p) * distribution + p * moved
    below = np.cumsum(distribution)
    low = int(np.searchsorted(below, _TAIL, side="right"))
    high = int(np.searchsorted(below, 1 - _TAIL, side="left"))
    step = total / _STEPS
    return ExpectedAmount(mean, round(min(low * step, mean)), round(min(high * step, total)))


def _margin(variance: float) -> float:
    return NormalDist().inv_cdf(1 - _TAIL) * sqrt(variance)

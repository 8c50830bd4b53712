"""Thresholds with no more digits than they need, and conditions turned round."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rarefind._core.types import Bools, Floats
from rarefind.rules.branches import Branch, Test


def shorten(branch: Branch, X: Floats, has_missing: Bools) -> Branch:
    """The same branch for the rows of ``X``, with round thresholds.

    A threshold may stand anywhere between the two values that it parts. Of levels, those that pass
    are named or those that do not, whichever are fewer. A test says nothing of
    missing values in a column without any.
    """
    found = {}
    for column, test in branch.items():
        values = X[:, column]
        if test.levels is not None:
            short = _fewer_levels(test, values)
        else:
            low, high = (_between(limit, values) for limit in (test.low, test.high))
            short = replace(test, low=low, high=high)
        found[column] = replace(short, missing=test.missing and bool(has_missing[column]))
    return found


def _fewer_levels(test: Test, values: Floats) -> Test:
    known = np.unique(values[~np.isnan(values)]).tolist()
    passing = frozenset(level for level in known if test.holds(level))
    failing = frozenset(known) - passing
    if len(passing) <= len(failing):
        return replace(test, levels=passing, negated=False)
    return replace(test, levels=failing, negated=True)


def opposite(branch: Branch, has_missing: Bools) -> Branch | None:
    """The branch that holds where this one does not, if there is one such."""
    if len(branch) != 1:
        return None
    ((column, test),) = branch.items()
    missing = not test.missing and bool(has_missing[column])
    if test.levels is not None:
        return {column: replace(test, negated=not test.negated, missing=missing)}
    if test.low == -np.inf and test.high < np.inf:
        return {column: Test(low=test.high, missing=missing)}
    if test.high == np.inf and test.low > -np.inf:
        return {column: Test(high=test.low, missing=missing)}
    return None


def _between(limit: float, values: Floats) -> float:
    """The threshold moved to a round number that parts the values as it does."""
    if not np.isfinite(limit):
        return limit
    below, above = values[values <= limit], values[values > limit]
    if not below.size or not above.size:
        return limit
    return roundest(float(below.max()), float(above.min()), limit)


def round_threshold(threshold: float, score: Floats) -> float:
    """A round threshold that the same scores reach."""
    # What reaches it is what is not below: seen from the other side, the bounds change places.
    return 0.0 - _between(-threshold, -score)


def roundest(low: float, high: float, otherwise: float) -> float:
    """A number ``low <= x < high`` with few digits, near the middle."""
    middle = low / 2 + high / 2
    largest = max(abs(low), abs(high))
    exponent = math.floor(math.log10(largest)) + 1 if largest > 0 else 0
    for digits in range(-exponent, 18 - exponent):
        tried = round(middle, digits) + 0.0
        if low <= tried < high:
            return tried
    return otherwise

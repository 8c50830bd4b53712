"""How many frauds are found, estimated from checks that were drawn at random.

Of what raised an alert and was checked the frauds are known. Of all other transactions each was
drawn with a probability that the ledger keeps: a fraud that was found so stands for one over its
probability of such frauds (Horvitz and Thompson).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from scipy.stats import gamma

__all__ = ["RandomChecks", "RecallEstimate", "estimate_recall", "weighted_count_interval"]

# The probability that the interval misses, on each side.
_TAIL = (1 - 0.95) / 2


@dataclass(frozen=True, slots=True)
class RandomChecks:
    """What was found on one day, or on several.

    Attributes
    ----------
    found : int
        Frauds among transactions that raised an alert and were checked.
    drawn, checked, hits : int
        Transactions that were drawn at random, those of them that a person checked, and those that
        were fraud.
    weight, squares : float
        The sum of one over the probability of being drawn, over the hits; and of its squares.
    least : float
        The least probability with which a transaction could be drawn; 0 if nothing could.
    cannot_be_drawn : int
        Transactions that raised no alert and could not be drawn: nothing is known of them.
    """

    found: int
    drawn: int
    checked: int
    hits: int
    weight: float
    squares: float
    least: float
    cannot_be_drawn: int = 0


class RecallEstimate(NamedTuple):
    """The share of frauds that alerts have found, with a 95 % interval.

    ``value`` is None where no random check has found anything: then ``low`` is what can be said.
    Alerts beyond the budget, which nobody has checked, count on neither side.
    """

    value: float | None
    low: float
    high: float
    checked: int
    hits: int


def weighted_count_interval(total: float, squares: float, largest: float) -> tuple[float, float]:
    """The 95 % interval of a sum of weighted Poisson counts (Fay and Feuer 1997).

    Parameters
    ----------
    total, squares : float
        The sum of the weights of what was counted, and of their squares.
    largest : float
        The largest weight that could have been counted.
    """
    low = 0.0
    if total > 0:
        low = float(gamma.ppf(_TAIL, total**2 / squares, scale=squares / total))
    above, spread = total + largest, squares + largest**2
    return low, float(gamma.ppf(1 - _TAIL, above**2 / spread, scale=spread / above))


def estimate_recall(days: Iterable[RandomChecks]) -> RecallEstimate | None:
    """Estimate the share of frauds that were found over some days; None where nothing can be said.

    Days on which transactions could not be drawn are left out. Of the drawn ones that nobody has
    checked it is taken that they are like those that were.
    """
    own = [day for day in days if day.least > 0 and not day.cannot_be_drawn]
    drawn, checked = sum(day.drawn for day in own), sum(day.checked for day in own)
    found, hits = sum(day.found for day in own), sum(day.hits for day in own)
    if not own or (drawn and not checked) or not (found or hits):
        return None
    unchecked = drawn / checked if checked else 1.0
    missed = unchecked * sum(day.weight for day in own)
    squares = unchecked**2 * sum(day.squares for day in own)
    low, high = weighted_count_interval(missed, squares, unchecked / min(day.least for day in own))
    # A fraud that was found by chance was missed by the alerts: so many are certain.
    low = max(low, float(hits))
    return RecallEstimate(
        found / (found + missed) if hits else None,
        found / (found + max(high, low)),
        found / (found + low) if found or low else 1.0,
        checked,
        hits,
    )

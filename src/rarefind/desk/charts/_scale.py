"""From values to places in a plot, and the round numbers beside it."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, isfinite, log10

from rarefind.desk.charts._chart import HEIGHT, WIDTH

__all__ = ["PlotHeights", "spread_labels"]

#: Room at the edges of a plot, so that no mark is cut off.
_MARGIN = 8.0
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class PlotHeights:
    """Heights of values: from zero, or what is below it, to a round number above all of them.

    Beside whole numbers there are only whole ones.

    Parameters
    ----------
    values : iterable of float or None
    top : float, optional
        The highest value that there can be, such as 1 for shares.

    Examples
    --------
    >>> PlotHeights([3, 61, 18]).ticks
    [80.0, 60.0, 40.0, 20.0, 0.0]
    >>> PlotHeights([1, 0]).ticks
    [1.0, 0.0]
    >>> PlotHeights([]).ticks
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """

    def __init__(self, values: Iterable[float | None], top: float | None = None) -> None:
        known = [each for each in values if each is not None and isfinite(each)]
        highest, lowest = max([0.0, *known]), min([0.0, *known])
        if highest == lowest == 0:
            highest = top or 1.0
        step = _round_step((highest - lowest) / 4)
        if known and all(isinstance(each, int) for each in known):
            step = float(max(ceil(step), 1))
        first, last = floor(lowest / step), -floor(-highest / step)
        if top is not None:
            last = min(last, max(floor(top / step + 1e-9), 1))
        #: The round numbers, the highest first.
        self.ticks = [each * step for each in range(last, first - 1, -1)]
        self._low, self._high = self.ticks[-1], self.ticks[0]

    def y(self, value: float) -> float:
        """How far below the upper edge a value is."""
        share = (value - self._low) / (self._high - self._low)
        return HEIGHT - share * HEIGHT


class PlotPlaces:
    """PlotPlaces from left to right of times or of numbered things, between two ends."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._span = low, high - low

    def x(self, value: float) -> float:
        """How far from the left edge a value is; in the middle where there is only one."""
        share = (value - self._low) / self._span if self._span else 0.5
        return _MARGIN + share * (WIDTH - 2 * _MARGIN)


def spread_labels(labels: list[str], most: int = 4) -> list[str]:
    """The first, the last, and a few between them at equal distances.

    Examples
    --------
    >>> spread_labels(list("abcdefg"))
    ['a', 'c', 'e', 'g']
    """
    last = len(labels) - 1
    if last < 1:
        return labels
    count = next((n for n in range(min(most, last + 1), 2, -1) if last % (n - 1) == 0), 2)
    return [labels[each * last // (count - 1)] for each in range(count)]


def _round_step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(each * power for each in _STEPS if each * power >= least * (1 - 1e-9))

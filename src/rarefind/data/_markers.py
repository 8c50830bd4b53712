"""Conditions on one column that hold for many positives and for no other row: suspected leaks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats, Ints

# A condition is worth a word from this share of the positives on, if so many of its rows are.
_LARGE_SHARE, _PURE = 1 / 3, 0.99
_TRIES_A_COLUMN = 20_000
# One of a smaller share has to be so much more likely of a positive, at least, which few negatives
# do not show.
_SMALL_SHARE, _TIMES_AS_LIKELY, _RULE_OF_THREE = 1 / 4, 150.0, 3.0
# A value beyond those of all negatives may be honest: a very large amount. It needs a larger share
# besides.
_LARGER_SHARE = 0.42
# Where most negatives have one value, a value beyond theirs is a mark like any other.
_SET_ASIDE = 0.9


class Marker(NamedTuple):
    """A condition on a column.

    Attributes
    ----------
    share : float
        Share of the positives that it holds for.
    what : {"missing", "present", "equal", "other", "levels", "above", "below"}
        What it says of a value: other than the commonest, one of several levels, beyond all others.
    value : float
        The number, or the number of the level, where it says one.
    pure : bool
        Whether it holds for no negative at all.
    """

    share: float
    what: str
    value: float
    pure: bool


class MarkerSearch:
    """Looks for such conditions in the columns of one table.

    Parameters
    ----------
    positive : ndarray of bool
        Which rows are positive.
    half : ndarray of bool
        One half of the rows of each class: sets of levels are learned on it for the other.
    columns : int
        How many columns there are: of many, one may have a mark by chance.
    """

    def __init__(self, positive: Bools, half: Bools, columns: int) -> None:
        self._positive, self._half = positive, half
        self._positives = int(positive.sum())
        self._negatives = positive.size - self._positives
        self._tries = math.log(_TRIES_A_COLUMN * max(1, columns))

    def numbers(self, values: Floats) -> Marker | None:
        """The best mark in a column of numbers, NaN where missing."""
        known = ~np.isnan(values)
        different, place = np.unique(values[known], return_inverse=True)
        counts = _counts(place, self._positive[known], different.size)
        return _best([*self._of_counts(*counts, different), *self._beyond(*counts, different)])

    def levels(self, codes: Ints, missing: int) -> Marker | None:
        """The same for numbers of levels; ``missing`` is that of no level."""
        hits, misses = _counts(codes, self._positive, missing + 1)
        names = np.arange(missing, dtype=float)
        found = self._of_counts(hits[:missing], misses[:missing], names)
        return _best([*found, self._sets(codes, missing + 1)])

    def _of_counts(self, hits: Floats, misses: Floats, values: Floats) -> list[Marker | None]:
        """Conditions on a value, on all but the commonest of the negatives, and on missing ones."""
        known, known_negative = float(hits.sum()), float(misses.sum())
        found = [
            self._marker("missing", self._positives - known, self._negatives - known_negative),
            self._marker("present", known, known_negative),
        ]
        if not values.size:
            return found
        pure = np.where(hits >= _PURE * (hits + misses), hits, 0.0)
        one, usual = int(pure.argmax()), int(misses.argmax())
        found.append(self._marker("equal", hits[one], misses[one], values[one], values.size))
        rest = known - hits[usual], known_negative - misses[usual]
        found.append(self._marker("other", *rest, values[usual], values.size))
        return found

    def _beyond(self, hits: Floats, misses: Floats, values: Floats) -> list[Marker | None]:
        """Values above and below those of all negatives."""
        of_negatives = np.flatnonzero(misses)
        if not of_negatives.size:
            return []
        first, last = of_negatives[0], of_negatives[-1]
        found = [
            self._marker("above", hits[last + 1 :].sum(), 0.0, values[last]),
            self._marker("below", hits[:first].sum(), 0.0, values[first]),
        ]
        if misses.max() >= _SET_ASIDE * self._negatives:
            return list(found)
        likely = max(_LARGER_SHARE, self._likely_share(0.0))
        return [mark for mark in found if mark is not None and mark.share >= likely]

    def _sets(self, codes: Ints, size: int) -> Marker | None:
        """Levels that only positives of one half have, in the other half."""
        held_hits = held_misses = 0.0
        for learned in (self._half, ~self._half):
            hits, misses = _counts(codes[learned], self._positive[learned], size)
            marks = ((hits > 0) & (misses == 0))[codes] & ~learned
            held_hits += float((marks & self._positive).sum())
            held_misses += float((marks & ~self._positive).sum())
        return self._marker("levels", held_hits, held_misses)

    def _marker(
        self, what: str, hits: float, misses: float, value: float = math.nan, tried: int = 1
    ) -> Marker | None:
        needed = min(_LARGE_SHARE, max(_SMALL_SHARE, self._likely_share(misses)))
        if not self._positives or hits < needed * self._positives:
            return None
        if hits < _PURE * (hits + misses):
            return None
        # Drawn at random, so many rows would all be positive with about this probability.
        by_chance = hits * math.log(self._positives / self._positive.size)
        if -by_chance <= self._tries + math.log(tried):
            return None
        return Marker(hits / self._positives, what, float(value), misses == 0)

    def _likely_share(self, misses: float) -> float:
        """The share of positives that so many negatives leave that many times as likely."""
        return _TIMES_AS_LIKELY * (misses + _RULE_OF_THREE) / max(1, self._negatives)


def _counts(codes: Ints, positive: Bools, size: int) -> tuple[Floats, Floats]:
    """Positives and negatives of each code."""
    hits, misses = (
        np.bincount(codes[rows], minlength=size).astype(np.float64)
        for rows in (positive, ~positive)
    )
    return hits, misses


def _best(found: list[Marker | None]) -> Marker | None:
    """The one that holds for most positives; of equals the simplest, which stands first."""
    return max((mark for mark in found if mark is not None), key=lambda m: m.share, default=None)

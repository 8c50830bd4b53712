"""Columns that alone give the positives away: suspected leaks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.data._markers import Marker, MarkerSearch

#: A column that alone gives this average precision is suspected.
SUSPECTED = 0.95

_FEWEST_POSITIVES = 5
# At first a column is judged by a sample, and leniently; what passes is judged by all rows.
_MOST_OF_A_CLASS, _PASSES, _HEAVIEST = 20_000, 0.9, 5.0
_QUANTILES = 32
# LeakRows of the common share of positives that a bin's or level's rate is mixed with.
_SMOOTHED_BY = 2.0
_TRIES_A_COLUMN = 20_000


@dataclass(frozen=True)
class LeakRows:
    """LeakRows to judge columns by, and how much a negative weighs that stands for many."""

    at: Ints
    positive: Bools
    half: Bools
    weight: float = 1.0


class Suspicion(NamedTuple):
    """Why a column may be a leak: it ranks the rows by itself, or marks many positives."""

    average_precision: float
    marker: Marker | None


class LeakSearch:
    """Judges the columns of one table, each by itself.

    Parameters
    ----------
    positive : ndarray of bool
        Which rows are positive.
    columns : int
        How many columns are judged: of many, one may rank few positives first by chance.
    """

    def __init__(self, positive: Bools, columns: int) -> None:
        rng = np.random.default_rng(0)
        classes = [np.flatnonzero(positive), np.flatnonzero(~positive)]
        self.possible = _is_beyond_chance(positive.size, classes[0].size, columns)
        if not self.possible:
            return
        half = np.zeros(positive.size, dtype=bool)
        for of_class in classes:
            half[rng.permutation(of_class)[::2]] = True
        self._markers = MarkerSearch(positive, half, columns)
        self._whole = LeakRows(np.arange(positive.size), positive, half)
        drawn = [np.sort(rng.permutation(rows)[:_MOST_OF_A_CLASS]) for rows in classes]
        lost = [len(rows) / max(1, len(kept)) for rows, kept in zip(classes, drawn, strict=True)]
        at = np.sort(np.concatenate(drawn))
        weight = min(_HEAVIEST, lost[1] / lost[0])
        self._sample = LeakRows(at, positive[at], half[at], weight)

    def numbers(self, values: Floats) -> Suspicion | None:
        """Why a column of numbers is suspected, NaN where missing; None where it is not."""
        if not self.possible:
            return None
        return self._judge(values, _ap_of_numbers, self._markers.numbers(values))

    def levels(self, codes: Ints, missing: int) -> Suspicion | None:
        """The same for numbers of levels, where a missing one has the number ``missing``."""
        if not self.possible:
            return None
        return self._judge(codes, _ap_of_levels, self._markers.levels(codes, missing))

    def _judge(
        self,
        values: Array,
        ap_of: Callable[[Array, LeakRows], float],
        marker: Marker | None,
    ) -> Suspicion | None:
        if marker is None and ap_of(values[self._sample.at], self._sample) < _PASSES:
            return None
        found = ap_of(values, self._whole)
        share = float(self._whole.positive.mean())
        is_far_above = found - share >= 0.9 * (1 - share)
        if found >= SUSPECTED and is_far_above:
            return Suspicion(found, None)
        return None if marker is None else Suspicion(found, marker)


def _is_beyond_chance(rows: int, positives: int, columns: int) -> bool:
    """Whether so few orders of the rows are near perfect that no column is one by chance."""
    if positives < _FEWEST_POSITIVES or positives == rows:
        return False
    orders = math.lgamma(rows + 1) - math.lgamma(positives + 1) - math.lgamma(rows - positives + 1)
    return orders > math.log(_TRIES_A_COLUMN * max(1, columns))


def _ap_of_numbers(values: Floats, rows: LeakRows) -> float:
    """The best of: high values first, low values first, and bins by their share of positives."""
    order = np.argsort(values, kind="stable")  # missing values come last
    values, positive, half = values[order], rows.positive[order], rows.half[order]
    known = int(np.searchsorted(values, np.nan))
    new = np.append(values[1:known] != values[: max(known - 1, 0)], True)[:known]
    tied = np.append(0, np.cumsum(new))[:-1] if known else np.empty(0, dtype=np.intp)
    tied = np.append(tied, np.full(values.size - known, new.sum()))
    hits = np.bincount(tied, weights=positive)
    misses = np.bincount(tied, weights=~positive * rows.weight)
    groups = int(new.sum())
    low_first, high_first = np.arange(hits.size), np.arange(hits.size)
    high_first[:groups] = high_first[:groups][::-1]
    found = [_average_precision(hits[o], misses[o]) for o in (low_first, high_first)]
    binned = [
        _ap_of_half(_bins(values, known, positive, half == learn), positive, half, learn, rows)
        for learn in (False, True)
    ]
    return max(*found, sum(binned) / 2)


def _ap_of_levels(codes: Ints, rows: LeakRows) -> float:
    """Levels by their share of positives in the other half."""
    halves = (_ap_of_half(codes, rows.positive, rows.half, learn, rows) for learn in (False, True))
    return sum(halves) / 2


def _bins(values: Floats, known: int, positive: Bools, learned: Bools) -> Ints:
    """Bins of sorted values, cut by both classes; a last one for missing values."""
    wanted = []
    for of_class in (positive, ~positive):
        seen = values[:known][(of_class & learned)[:known]]
        if seen.size:
            at = np.linspace(0, seen.size - 1, min(_QUANTILES, seen.size)).astype(np.intp)
            # A value that many rows have gets a bin of its own.
            wanted += [seen[at], np.nextafter(seen[at], np.inf)]
    cuts = np.unique(np.concatenate(wanted)) if wanted else np.empty(0)
    starts = np.append(0, np.searchsorted(values[:known], cuts, side="left"))
    sizes = np.diff(np.append(starts, [known, values.size]))
    return np.repeat(np.arange(sizes.size), sizes)


def _ap_of_half(codes: Ints, positive: Bools, half: Bools, learn: bool, rows: LeakRows) -> float:
    """Average precision of groups ranked by the other half, in a half."""
    groups = int(codes.max()) + 1
    counts = np.bincount(codes * 4 + half * 2 + positive, minlength=4 * groups)
    misses, hits = np.moveaxis(counts.reshape(groups, 2, 2), 2, 0) * [[[rows.weight]], [[1.0]]]
    learned, judged = int(learn), int(not learn)
    total = hits[:, learned] + misses[:, learned]
    share = hits[:, learned].sum() / total.sum()
    rate = (hits[:, learned] + _SMOOTHED_BY * share) / (total + _SMOOTHED_BY)
    place = np.unique(-rate, return_inverse=True)[1]
    return _average_precision(
        np.bincount(place, weights=hits[:, judged]), np.bincount(place, weights=misses[:, judged])
    )


def _average_precision(hits: Array, misses: Array) -> float:
    """Average precision of groups of tied rows, the first at the top."""
    found = np.cumsum(hits)
    precision = found / np.maximum(found + np.cumsum(misses), 1e-300)
    return float((hits * precision).sum() / found[-1])

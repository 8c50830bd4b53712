"""Rows to learn from and rows to judge by: folds, parts in time, and samples of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, Self

import numpy as np

from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints
from rarefind.selection import folds

# Rows that models are judged by, of a fold; of the positives among them at most so many.
_MOST_JUDGED, _MOST_POSITIVES_JUDGED = 20_000, 4_000
# Of a sample at most this share is positive: the others must still show what they are like.
_MOST_POSITIVE = 0.25
# Parts in time that are judged, each by a model of all that was before.
_PARTS_IN_TIME = 4
# Positives held out inside a fit, to stop by and to set its threshold; and most folds for that.
_HELD_OUT_INSIDE, _MOST_INSIDE, _FOLDS_INSIDE = 60, 3, 4


class Fold(NamedTuple):
    """Rows to learn from, and rows to judge by with what each stands for."""

    train: Ints
    judged: Ints
    weight: Floats


class Known(NamedTuple):
    """The labelled rows."""

    X: Floats
    positive: Bools
    groups: Array | None
    times: Array | None

    def take(self, rows: Ints) -> Self:
        """Some of the rows."""
        return type(self)(
            self.X[rows],
            self.positive[rows],
            None if self.groups is None else self.groups[rows],
            None if self.times is None else self.times[rows],
        )

    def folds(self, cv: Any, seed: int) -> list[Fold]:
        """Parts to judge by: with times what comes later, otherwise folds."""
        if self.times is not None:
            pairs = in_time(self.times, self.positive, _PARTS_IN_TIME)
        else:
            labels = self.positive.astype(int)
            pairs = folds(self.positive[:, None], labels, cv, groups=self.groups, random_state=seed)
            pairs = [pair for pair in pairs if self.positive[pair[1]].any()]
            if not pairs:
                raise ValueError("No positive is held out by cv, so nothing can be judged by it.")
        rng = np.random.default_rng(seed)
        return [Fold(np.sort(train), *self._judged(np.sort(held), rng)) for train, held in pairs]

    def inner(self, rows: Ints, seed: int) -> list[tuple[Ints, Ints]]:
        """Parts of these rows for a fit to hold out inside, by their place among them."""
        own = self.positive[rows]
        times = None if self.times is None else self.times[rows]
        if times is not None:
            with suppress(ValueError):  # of a small sample all positives may have one time
                return in_time(times, own, _FOLDS_INSIDE)[-1:]
        groups = None if self.groups is None else self.groups[rows]
        pairs = folds(
            own[:, None], own.astype(int), _FOLDS_INSIDE, groups=groups, random_state=seed
        )
        pairs = [pair for pair in pairs if own[pair[1]].any()]
        enough = np.cumsum([own[held].sum() for _, held in pairs]) >= _HELD_OUT_INSIDE
        wanted = int(enough.argmax()) + 1 if enough.any() else _MOST_INSIDE
        return pairs[: min(wanted, _MOST_INSIDE)]

    def sample(self, rows: Ints, size: int, seed: Any) -> Ints:
        """So many of the rows: all positives as far as they fit in, others at random."""
        if size >= rows.size:
            return rows
        rng = np.random.default_rng(seed)
        return np.sort(np.concatenate([part for part, _ in self._drawn(rows, size, rng)]))

    def _judged(self, held: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Rows to judge by; one that was drawn for several stands for all of them."""
        if held.size <= _MOST_JUDGED:
            return held, np.ones(held.size)
        drawn = self._drawn(held, _MOST_JUDGED, rng, _MOST_POSITIVES_JUDGED)
        rows = np.concatenate([part for part, _ in drawn])
        weight = np.concatenate([np.full(part.size, stands_for) for part, stands_for in drawn])
        order = np.argsort(rows, kind="stable")
        return rows[order], weight[order]

    def _drawn(
        self, rows: Ints, size: int, rng: np.random.Generator, most: int | None = None
    ) -> list[tuple[Ints, float]]:
        """Rows of each class, and how many rows each stands for."""
        own = self.positive[rows]
        wanted = min(int(own.sum()), max(2, int(_MOST_POSITIVE * size)) if most is None else most)
        found = []
        for part, number in ((rows[own], wanted), (rows[~own], max(2, size - wanted))):
            number = min(number, part.size)
            found.append((rng.choice(part, number, replace=False), part.size / max(number, 1)))
        return found


def in_time(times: Array, positive: Bools, parts: int) -> list[tuple[Ints, Ints]]:
    """Pairs of all rows before a time, and the rows from then on up to the next one.

    The times leave as many positives in each of the parts, so that the first part is only learned
    from; rows of one time stay together. Fewer parts where positives are few.
    """
    different = np.unique(times[positive]).size
    for wanted in range(min(parts, different), 1, -1):
        at = np.quantile(np.arange(int(positive.sum())), np.arange(1, wanted) / wanted)
        cuts = np.unique(np.sort(times[positive])[np.ceil(at).astype(int)])
        pairs = []
        for cut, end in zip(cuts, [*cuts[1:], None], strict=True):
            train = times < cut
            held = ~train if end is None else ~train & (times < end)
            if _two_classes(positive[train]) and _two_classes(positive[held]):
                pairs.append((np.flatnonzero(train), np.flatnonzero(held)))
        if pairs:
            return pairs
    raise ValueError(
        "There are no positives to learn from before other positives in time: give rows of more "
        "times, or do not give times."
    )


def _two_classes(positive: Bools) -> bool:
    return bool(positive.any() and not positive.all())


def check_times(times: ArrayLike | None, n: int) -> Array | None:
    """Times that can be compared, one a row; an error for others."""
    if times is None:
        return None
    found = np.asarray(times)
    if found.shape != (n,):
        raise ValueError(f"There are {found.size} times for {n} rows.")
    if found.dtype.kind not in "iufM":
        raise ValueError(f"times are numbers or dates (datetime64), not {found.dtype}.")
    missing = int((np.isnat(found) if found.dtype.kind == "M" else np.isnan(found)).sum())
    if missing:
        raise ValueError(f"times is missing in {missing} rows: leave them out, or fill them in.")
    return found

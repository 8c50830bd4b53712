"""The rungs of successive halving: from few rows to all, from few folds to enough.

Optuna's ``SuccessiveHalvingPruner`` and ``HyperbandPruner`` do not fit: they stop single trials
that a sampler draws, by one value a step. Here a few given candidates climb together: the better
half of those judged on the same folds stays, of different families where positives are few, and
what is left of a time limit decides how many rows and folds a candidate gets.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rarefind.auto._rows import Fold, Known

# Rows of the first rung, also for each column, how many times more the next one has, and the rows
# up to which there is only one.
_FIRST, _FIRST_A_COLUMN, _TIMES_MORE = 1000, 10, 3
FEW_ROWS = 3000
# Positives to judge by on the way, and in the end.
_ENOUGH_ON_THE_WAY = 50
ENOUGH_POSITIVES = 300
# Folds of a first rung that has all rows.
_FOLDS_FIRST = 2
# What is kept from rung to rung: a half, but not fewer.
_FEWEST_KEPT = 3


class Rung(NamedTuple):
    """Rows to fit to, and the number of folds to be judged by."""

    size: int
    folds: int


def rungs(known: Known, folds: list[Fold]) -> list[Rung]:
    """From few rows to all, from few folds to enough."""
    held = np.cumsum([known.positive[fold.judged].sum() for fold in folds])
    on_the_way, at_last = (
        min(len(folds), int(np.searchsorted(held, enough)) + 1)
        for enough in (_ENOUGH_ON_THE_WAY, ENOUGH_POSITIVES)
    )
    n = max(fold.train.size for fold in folds)
    sizes = []
    size = max(_FIRST, _FIRST_A_COLUMN * known.X.shape[1])
    while n > FEW_ROWS and size * _TIMES_MORE / 2 < n:
        sizes.append(Rung(size, on_the_way))
        size *= _TIMES_MORE
    if not sizes and at_last > _FOLDS_FIRST:
        sizes.append(Rung(n, min(on_the_way, _FOLDS_FIRST)))
    return [*sizes, Rung(n, at_last)]


def n_kept(n: int, trials: float = math.inf) -> int:
    """How many of n candidates go on to the next rung."""
    return max(min(_FEWEST_KEPT, n), -(-n // 2)) if trials == math.inf else max(1, -(-n // 2))


def first_of(trials: float, most_rungs: int, n: int) -> tuple[int, int]:
    """How many candidates can begin, and on how many rungs, so that halving ends in the trials.

    Rungs are left out from below where they would leave fewer than half of the trials, or than two,
    for different candidates.
    """
    wanted = min(n, max(min(2.0, trials), trials / 2))
    for n_rungs in range(most_rungs, 0, -1):
        first = max((c for c in range(1, n + 1) if _used(c, n_rungs) <= trials), default=0)
        if first >= wanted:
            break
    return first, n_rungs


def _used(first: int, n_rungs: int) -> int:
    """Trials of a search that begins with so many candidates."""
    used = 0
    for _ in range(n_rungs):
        used, first = used + first, n_kept(first, 1)
    return used

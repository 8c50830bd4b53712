"""What a ranking of held-out rows is worth, beside another one and beside a random one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats, Ints
from rarefind.metrics import average_precision, precision_at_k

# To be taken, a mean of ranks is worth more than the best model by at least this much, and ahead in
# this share of the resamples.
_MARGIN, _OFTEN = 0.005, 0.9
_RESAMPLES, _SHUFFLES = 100, 499
_SIGNIFICANCE = 0.02
# Negatives of a fold beyond these hardly change the comparison with shuffled scores.
_ENOUGH_NEGATIVES = 4000


class Quality(NamedTuple):
    """What the ranking of a fold is worth."""

    precision: float
    average_precision: float
    #: Mean of average precision and of precision@k as a share of the best that there can be.
    worth: float


class Held(NamedTuple):
    """Held-out rows of a fold: their labels, scores, and the rows that each stands for."""

    positive: Bools
    score: Floats
    weight: Floats


def judge(held: Held, share: float) -> Quality:
    """See what a ranking is worth to whom checks this share of the rows."""
    positive, score, weight = held
    checks = max(1, round(share * weight.sum()))
    precision = precision_at_k(positive, score, checks, sample_weight=weight)
    average = average_precision(positive, score, sample_weight=weight)
    best = min(1.0, float(weight[positive].sum()) / checks)
    return Quality(precision, average, (average + precision / best) / 2)


def is_clearly_better(new: list[Held], old: list[Held], gained: float, seed: int) -> bool:
    """Whether one ranking of the same rows is worth more than another, beyond noise.

    ``gained`` is by how much; resamples of the rows measure the noise.
    """
    if gained < _MARGIN:
        return False
    rng = np.random.default_rng(seed)
    orders = [(np.argsort(-n.score), np.argsort(-o.score)) for n, o in zip(new, old, strict=True)]
    ahead = 0
    for _ in range(_RESAMPLES):
        difference = 0.0
        for held, (by_new, by_old) in zip(new, orders, strict=True):
            weight = held.weight * rng.poisson(1.0, held.weight.size)
            difference += _in_order(held.positive, weight, by_new)
            difference -= _in_order(held.positive, weight, by_old)
        ahead += difference > 0
    return ahead >= _OFTEN * _RESAMPLES


def beats_chance(parts: list[Held], tried: int, seed: int) -> bool:
    """Whether the best of so many models ranks held-out rows better than shuffled scores do."""
    rng = np.random.default_rng(seed)
    parts = [_thin(part, rng) for part in parts]
    own = sum(average_precision(p, s, sample_weight=w) for p, s, w in parts)
    as_good = 1
    for _ in range(_SHUFFLES):
        shuffled = (_in_order(p, w, rng.permutation(p.size)) for p, _, w in parts)
        as_good += sum(shuffled) >= own
    return bool(as_good / (_SHUFFLES + 1) * tried < _SIGNIFICANCE or as_good == 1)


def _thin(held: Held, rng: np.random.Generator) -> Held:
    """All positives, and as many of the others as are enough."""
    others = np.flatnonzero(~held.positive)
    if others.size <= _ENOUGH_NEGATIVES:
        return held
    kept = rng.choice(others, _ENOUGH_NEGATIVES, replace=False)
    weight = held.weight.copy()
    weight[kept] *= others.size / kept.size
    rows = np.sort(np.concatenate([np.flatnonzero(held.positive), kept]))
    return Held(held.positive[rows], held.score[rows], weight[rows])


def _in_order(positive: Bools, weight: Floats, order: Ints) -> float:
    """Average precision of rows in an order, by which ties are broken."""
    hits = np.where(positive[order], weight[order], 0.0)
    found, seen = np.cumsum(hits), np.cumsum(weight[order])
    if not found[-1]:
        return 0.0
    precision = np.divide(found, seen, out=np.zeros(seen.size), where=seen > 0)
    return float(hits @ precision / found[-1])

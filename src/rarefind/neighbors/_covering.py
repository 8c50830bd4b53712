"""The ellipsoids of all positives together: scores of rows, settings chosen on them, reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from rarefind._core.pairs import nearest_on_all_cores, nearest_squared
from rarefind._core.threads import limit_threads
from rarefind._core.types import Bools, Floats, Ints
from rarefind.metrics import CountMetric
from rarefind.neighbors._classifier import THRESHOLDS
from rarefind.neighbors._reasons import conditions
from rarefind.neighbors.ellipsoids import Ellipsoid, EllipsoidRows
from rarefind.rules import Reason, Similar
from rarefind.selection import best_threshold
from rarefind.selection.cross_validation import check_positives_held_out
from rarefind.selection.thresholds import bounds_at, evaluate

_NEGATIVES_COMPARED = 3


class EllipsoidScores(NamedTuple):
    """Scores of queries in several layers of ellipsoids."""

    score: Floats  # (layers, queries)
    nearest: Ints  # (queries,) place of the nearest positive among the positives
    deciding: Ints  # (layers, queries) place of the positive whose ellipsoid gave the score


def _no_step() -> None:
    """Report nothing."""


def in_threads(
    task: Callable[[int], None],
    places: Ints,
    n_jobs: int | None,
    step: Callable[[], None] = _no_step,
) -> None:
    """Run the task of each place, the places shared among threads; ``step`` after each."""
    jobs = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), places.size)
    # Tasks write to arrays that they share, so a process of their own would not do. None of them
    # takes threads of its own.
    work = Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")
    with limit_threads(1):
        for _ in work(delayed(task)(int(j)) for j in places):
            step()


def score_rows(
    rows: EllipsoidRows,
    ellipsoids_of: Callable[[int], Iterable[Ellipsoid]],
    layers: int,
    queries: Floats,
    *,
    union: bool,
    n_jobs: int | None,
    step: Callable[[], None] = _no_step,
) -> EllipsoidScores:
    """Score queries by the ellipsoid of their nearest positive, or by the best of all.

    ``ellipsoids_of`` gives the ellipsoids of the j-th positive, one a layer; it is asked once for
    every positive that decides, and what it gives is not kept. ``step`` is called once for every
    positive and layer, by the thread that scored it.
    """
    _, at = nearest_on_all_cores(queries, rows.X[rows.positives], 1, n_jobs)
    nearest = at[:, 0]
    score = np.zeros((layers, len(queries)))
    deciding = np.tile(nearest, (layers, 1))
    order = np.argsort(nearest, kind="stable")
    ends = np.cumsum(np.bincount(nearest, minlength=rows.positives.size))
    starts = np.append(0, ends[:-1])
    lock, step_lock = Lock(), Lock()

    def count_step() -> None:
        with step_lock:
            step()

    def nearest_only(j: int) -> None:
        mine = order[starts[j] : ends[j]]
        for layer, ellipsoid in enumerate(ellipsoids_of(j)):
            score[layer, mine] = ellipsoid.score(rows.X, queries, mine, np.zeros(mine.size))
            count_step()

    def best_of_all(j: int) -> None:
        every = np.arange(len(queries))
        for layer, ellipsoid in enumerate(ellipsoids_of(j)):
            # Another thread may raise the floor meanwhile, which changes the work, not the maximum.
            found = ellipsoid.score(rows.X, queries, every, score[layer])
            with lock:
                better = np.flatnonzero(found > score[layer])
                score[layer, better] = found[better]
                deciding[layer, better] = j
            count_step()

    if union:
        in_threads(best_of_all, np.arange(rows.positives.size), n_jobs)
    else:
        asked = np.flatnonzero(ends > starts)
        in_threads(nearest_only, asked, n_jobs)
        for _ in range(layers * (rows.positives.size - asked.size)):
            step()
    return EllipsoidScores(score, nearest, deciding)


class Layers(NamedTuple):
    """Held-out rows of all folds, scored in several layers."""

    score: Floats  # (layers, rows)
    owner: Ints  # (rows,) row number of the nearest training positive
    positive: Bools  # (rows,)
    weight: Floats  # (rows,)


class LayerChoice(NamedTuple):
    """Which layer each positive takes."""

    layer: Ints  # (positives,)
    own: Bools  # (positives,) whether it is chosen on the rows that fall to this positive


def choose_layers(
    held: Layers, positives: Ints, metric: CountMetric, fixed: float | None, *, local: bool
) -> LayerChoice:
    """The best layer for all positives, or for each on the held-out rows nearest to it.

    A positive that no held-out positive falls to takes the layer of all.
    """
    if fixed is None:
        check_positives_held_out(held.positive)
    bounds = THRESHOLDS if fixed is None else bounds_at(fixed)
    found = [
        best_threshold(held.positive, score, metric, sample_weight=held.weight, bounds=bounds)
        for score in held.score
    ]
    values = np.array([best.value for best in found])
    # The first among equals, but for rounding: the smallest quantile, the roundest ellipsoid.
    best = int(np.argmax(np.isclose(values, values.max(), rtol=1e-12, atol=1e-15)))
    layer = np.full(positives.size, best)
    own = np.zeros(positives.size, dtype=bool)
    if local:
        alert = held.score >= found[best].threshold
        for j, row in enumerate(positives):
            mine = held.owner == row
            if not (mine & held.positive).any():
                continue
            sides = mine & held.positive, mine & ~held.positive
            tp, fp = (alert[:, side] @ held.weight[side] for side in sides)
            p, n = (float(held.weight[side].sum()) for side in sides)
            here = np.round(evaluate(metric, tp, fp, p - tp, n - fp), 12)
            # Among layers that are worth the same here, the one that is worth most everywhere.
            layer[j] = np.lexsort((values, here))[-1] if here[best] < here.max() else best
            own[j] = True
    return LayerChoice(layer, own)


def explain_inside(
    X: Floats,
    rows: EllipsoidRows,
    ellipsoids: Sequence[Ellipsoid],
    scored: EllipsoidScores,
    ranks: Sequence[float | None],
    names: Sequence[str],
) -> list[Reason]:
    """Give the reasons of rows: the positive whose ellipsoid decides, the features alike."""
    negatives = rows.X[rows.negatives]
    count = min(_NEGATIVES_COMPARED, len(negatives))
    _, unlike = nearest_squared(X, negatives, count)
    reasons = []
    for i, (score, rank) in enumerate(zip(scored.score[0], ranks, strict=True)):
        ellipsoid = ellipsoids[scored.deciding[0, i]]
        distance = float(np.sqrt(ellipsoid.squared_distances(X[i : i + 1])[0]))
        reasons.append(
            Reason(
                float(score),
                rank,
                conditions(
                    X[i],
                    ellipsoid.centre[None],
                    _closer(X[i], ellipsoid, negatives[unlike[i]]),
                    names,
                ),
                [Similar(ellipsoid.row, distance)],
            )
        )
    return reasons


def _closer(x: Floats, ellipsoid: Ellipsoid, unlike: Floats) -> Floats:
    """By how much each feature brings a row closer to the centre than to negatives next to it."""
    toward = _shares(x - ellipsoid.centre[None], ellipsoid.matrix)[0]
    away = _shares(x - unlike, ellipsoid.matrix).mean(axis=0)
    return np.asarray(away - toward)


def _shares(offsets: Floats, matrix: Floats) -> Floats:
    """What each feature adds to vᵀMv; negative where it makes up for another."""
    return np.asarray(offsets * np.einsum("ij,kj->ki", matrix, offsets))

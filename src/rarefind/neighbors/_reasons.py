"""Reasons from neighbours: the known positives a row is like, and the features that make it so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rarefind._core.types import Array, Floats, Ints
from rarefind.neighbors._held_out import PointSet
from rarefind.rules import Condition, Reason, Similar
from rarefind.rules.reasons import short
from rarefind.search import feature_differences

_CONDITIONS_SHOWN = 5


class _Neighbour(NamedTuple):
    distance: float
    scaled: float
    row: int
    point: Array


def explain(
    X: Floats,
    scores: Floats,
    ranks: Sequence[float | None],
    sets: Sequence[PointSet],
    found: Sequence[tuple[Floats, Ints]],
    relative_scale: float,
    names: Sequence[str] | None,
) -> list[Reason]:
    """Give the reasons of rows.

    ``sets`` are the real positives, synthetic ones if any, and the negatives, with what each query
    ``found`` there; synthetic ones count ``relative_scale`` times as far. Without the ``names`` of
    features there are only distances to speak of.
    """
    scales = (1.0, relative_scale)[: len(sets) - 1]
    positives = list(zip(sets[:-1], found[:-1], scales, strict=True))
    negatives = sets[-1]
    reasons = []
    for i, (score, rank) in enumerate(zip(scores, ranks, strict=True)):
        near = [
            _Neighbour(float(d), float(d * scale), int(s.rows[j]), s.search.points[j])
            for s, (distance, at), scale in positives
            for d, j in zip(distance[i], at[i], strict=True)
            if j >= 0
        ]
        near = sorted(near, key=lambda n: n.scaled)[: sets[0].k]
        far = found[-1][1][i]
        unlike = negatives.search.points[far[far >= 0]]
        because: list[Condition] = []
        if names is not None and near and len(unlike):
            like = np.array([n.point for n in near])
            toward = _differences(X[i], like, sets[0])
            away = _differences(X[i], unlike, negatives)
            because = conditions(X[i], like, away - toward, names)
        similar = [Similar(n.row, n.distance) for n in near]
        reasons.append(Reason(float(score), rank, because, similar))
    return reasons


def _differences(x: Floats, points: Floats, measure: PointSet) -> Floats:
    """What each feature adds to the distance from the points, on average."""
    search = measure.search
    terms = feature_differences(x, points, search.distance, search.p, search.components)
    return np.asarray(terms.mean(axis=0))


def conditions(x: Floats, like: Floats, closer: Floats, names: Sequence[str]) -> list[Condition]:
    """The features that bring a row ``closer`` to the positives it is ``like``."""
    gain = np.maximum(closer, 0.0)
    top = [j for j in np.argsort(-gain, kind="stable")[:_CONDITIONS_SHOWN] if gain[j] > 0]
    # Of the positives it is like, the one that is most like it in the feature.
    known = like[np.abs(like - x).argmin(axis=0), np.arange(x.size)]
    return [
        Condition(
            feature=names[j],
            op="≈",
            value=float(known[j]),
            raw_unit_text=f"{names[j]} {short(float(x[j]))} ≈ {short(float(known[j]))}",
            weight=float(gain[j] / gain.sum()),
        )
        for j in top
    ]

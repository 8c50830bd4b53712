"""A γ for each region of the space: k-means regions, their scales, and how many there should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans

from rarefind._core.fields import BoolArray, FloatArray, StateError
from rarefind._core.pairs import nearest_squared
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.metrics import CountMetric
from rarefind.neighbors._ratio import scale_ratios
from rarefind.selection import best_threshold, folds
from rarefind.selection.thresholds import bounds_at

# From so many rows on, k-means goes through samples of them.
_MANY_ROWS = 20_000
# How many regions are tried.
_NUMBERS = (1, 2, 4, 8)


class HeldOutRatios(NamedTuple):
    """Held-out rows: where they are, their ratios, which are positive, what each stands for."""

    X: Floats
    score: Floats
    positive: Bools
    weight: Floats
    group: Array | None = None

    def of(self, rows: Ints | Bools) -> HeldOutRatios:
        """Only these rows."""
        group = None if self.group is None else self.group[rows]
        return HeldOutRatios(
            self.X[rows], self.score[rows], self.positive[rows], self.weight[rows], group
        )

    def folds(self, wanted: int, seed: int) -> list[tuple[Ints, Ints]]:
        """Folds of whole groups; none where a class has one row, or one group, only."""
        for own in (self.positive, ~self.positive):
            if (own.sum() if self.group is None else len(set(self.group[own].tolist()))) < 2:
                return []
        return folds(self.X, self.positive, wanted, groups=self.group, random_state=seed)


def _check_some(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if not sizes["n"]:
        raise StateError("there is no region")


@saved(
    "regions",
    state=State(
        {
            "centres": FloatArray("n", "d"),
            "gammas": FloatArray("n", above=0),
            "fell_back": BoolArray("n"),
        },
        _check_some,
    ),
)
class Regions(NamedTuple):
    """Centres of the regions, the γ of each, and whether it is the global one for want of rows."""

    centres: Floats
    gammas: Floats
    fell_back: Bools

    def scale(self, X: Floats, score: Floats) -> Floats:
        """Ratios over the γ of the region of each row: positive from 1 on."""
        return scale_ratios(score, self.gammas[nearest_centre(X, self.centres)])


class LocalScales(NamedTuple):
    """How regions get their γ: what it maximises, and what it is where too few rows tell.

    Without ``n_clusterings`` it is tuned inside each region, version 1; with them, version 2, it is
    the mean over the rows of a region of the mean of their values in that many clusterings.
    """

    metric: CountMetric
    min_positives: int
    global_gamma: float
    n_clusterings: int | None

    def regions(self, rows: HeldOutRatios, n_regions: int, seed: int) -> Regions:
        """So many regions and their scales."""
        tuned = self._tune(cluster(rows, n_regions, seed), rows)
        if self.n_clusterings is None:
            return tuned
        gamma = self._mean_gammas(rows, n_regions, self.n_clusterings, seed)
        at = nearest_centre(rows.X, tuned.centres)
        weight = np.bincount(at, rows.weight, minlength=len(tuned.centres))
        mean = np.bincount(at, rows.weight * gamma, minlength=len(tuned.centres)) / weight
        return tuned._replace(gammas=np.where(tuned.fell_back, self.global_gamma, mean))

    def chosen(self, rows: HeldOutRatios, seed: int) -> Regions:
        """As many regions as are best on folds that their scales were not tuned on."""
        pairs = rows.folds(3, seed)
        values = [self._value(rows, n, pairs, seed) for n in _NUMBERS] if pairs else [0.0]
        return self.regions(rows, _NUMBERS[int(np.argmax(values))], seed)

    def _value(
        self, rows: HeldOutRatios, n: int, pairs: list[tuple[Ints, Ints]], seed: int
    ) -> float:
        """The metric on pooled held-out decisions."""
        score = scale_ratios(rows.score, np.full(rows.score.size, self.global_gamma))
        for inside, outside in pairs:
            found = self.regions(rows.of(inside), n, seed)
            score[outside] = found.scale(rows.X[outside], rows.score[outside])
        return best_threshold(
            rows.positive, score, self.metric, sample_weight=rows.weight, bounds=bounds_at(1.0)
        ).value

    def _tune(self, centres: Floats, rows: HeldOutRatios) -> Regions:
        """The best γ of the rows that fall into each region."""
        at = nearest_centre(rows.X, centres)
        gammas = np.full(len(centres), self.global_gamma)
        silent = np.bincount(at, rows.positive, minlength=len(centres)) < self.min_positives
        for j in np.flatnonzero(~silent):
            gammas[j] = best_gamma(rows.of(at == j), self.metric)
        return Regions(centres, gammas, silent)

    def _mean_gammas(
        self, rows: HeldOutRatios, n_regions: int, n_clusterings: int, seed: int
    ) -> Floats:
        """Mean γ of each row over the clusterings it is in, each of all folds but one."""
        total, times = np.zeros(rows.score.size), np.zeros(rows.score.size)
        for number, (inside, _) in enumerate(rows.folds(n_clusterings, seed)):
            part = rows.of(inside)
            found = self._tune(cluster(part, n_regions, seed + number), part)
            total[inside] += found.gammas[nearest_centre(part.X, found.centres)]
            times[inside] += 1
        # A row that no clustering saw has no value of its own.
        return np.where(times > 0, total / np.maximum(times, 1), self.global_gamma)


def best_gamma(rows: HeldOutRatios, metric: CountMetric) -> float:
    """The exact best γ in (0, 1] for these rows."""
    return best_threshold(
        rows.positive, rows.score, metric, sample_weight=rows.weight, bounds=(0.0, 1.0)
    ).threshold


def cluster(rows: HeldOutRatios, n_regions: int, seed: int) -> Floats:
    """Centres of k-means; fewer than asked for where there are fewer different rows."""
    if n_regions == 1:
        return np.average(rows.X, axis=0, weights=rows.weight)[None]
    n_regions = min(n_regions, len(np.unique(rows.X, axis=0)))
    kind = MiniBatchKMeans if len(rows.X) > _MANY_ROWS else KMeans
    found = kind(n_regions, n_init=1, random_state=seed)
    found.fit(rows.X, sample_weight=rows.weight)
    centres = np.ascontiguousarray(found.cluster_centers_, dtype=np.float64)
    # A region that no row falls into has nothing to say.
    return centres[np.unique(nearest_centre(rows.X, centres))]


def nearest_centre(X: Floats, centres: Floats) -> Ints:
    """The region of each row, whatever the other rows are."""
    return nearest_squared(np.ascontiguousarray(X), centres, 1)[1][:, 0]

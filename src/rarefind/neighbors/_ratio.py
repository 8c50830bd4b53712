"""γk-NN as one ratio of two distances, to the positives and to the negatives.

With q = ⌈k/2⌉ and r = k − q + 1, at least q of the k nearest rows (distances to positives times γ)
are positive if and only if γ·D⁺₍q₎ ≤ D⁻₍r₎: the q-th positive comes before the r-th negative. So
s = D⁻₍r₎ / D⁺₍q₎ ranks the rows, and γ is the threshold on it.

A row that is a copy of n⁺ positives and of n⁻ negatives, enough of one kind to decide the vote,
has a ratio of two zeros, or 0, or infinity, whatever the two numbers are. They decide: were the
copies spread evenly in a small ball, of d dimensions, the ratio would be near
((n⁺/q)/(n⁻/r))^(1/d). Half a row is added to each number, and as columns follow from one another d
is taken as the square root of their number, which is between one column and all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats
from rarefind.metrics import CountMetric
from rarefind.selection import best_threshold
from rarefind.selection.thresholds import bounds_at

# Ratios are kept below this, and infinite ones between two and three times it: finite and in order.
_LARGEST = 1e100

# γ_synthetic / γ is searched over all ratios of the papers' grids (0.1, … 2 over 0.1, … 1): with
# the exact γ for each, the result is never worse than theirs on the counts it is tuned on.
_RELATIVE_SCALES = np.unique([i / j for i in range(1, 21) for j in range(1, 11)])


def voters(k: int) -> tuple[int, int]:
    """Which positive and which negative neighbour decide the vote of ``k``: (q, r)."""
    q = (k + 1) // 2
    return q, k - q + 1


def ratio(d_pos: Floats, d_neg: Floats) -> Floats:
    """The score D⁻/D⁺, with infinite distances standing for neighbours that do not exist.

    Too few positives give 0. Else too few negatives, or a positive at distance 0, give "infinite"
    scores: finite numbers above every other, larger where the negatives are further away. Rows that
    are copies of both classes have :func:`ratio_of_copies` instead.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        score = np.minimum(d_neg / d_pos, _LARGEST)
        beyond = np.where(np.isinf(d_neg), 1.0, d_neg / (1.0 + d_neg))
    score = np.where((d_pos == 0) | np.isinf(d_neg), _LARGEST * (2.0 + beyond), score)
    return np.where(np.isinf(d_pos), 0.0, score)


def ratio_of_copies(
    copies_pos: Floats, copies_neg: Floats, asked: tuple[int, int], n_columns: int | None
) -> Floats:
    """The score of rows that are copies of so many positives and negatives.

    ``asked`` is (q, r). Where distances are given and no columns, there is one dimension.
    """
    q, r = asked
    odds = (copies_pos + 0.5) * r / ((copies_neg + 0.5) * q)
    return np.asarray(odds ** (1 / np.sqrt(n_columns or 1)))


def scale_ratios(score: Floats, gamma: Floats) -> Floats:
    """Ratios over a γ of their own; the "infinite" ones stay where they are, above all others."""
    return np.where(score > _LARGEST, score, np.minimum(score / gamma, _LARGEST))


class TwoDistances(NamedTuple):
    """Distances of rows to their nearest positives and to the r-th negative."""

    real: Floats  # (n, q), nearest first, inf where there is none
    synthetic: Floats | None  # (n, q) likewise, None without a sampler
    negative: Floats  # (n,)
    r: int = 1
    #: Real positives and negatives that each row is a copy of, of shape (n, 2); None for no copies.
    copies: Floats | None = None
    #: Columns that the distances compare; None where distances were given.
    n_columns: int | None = None
    #: Synthetic positives for each real one.
    synthetic_share: float = 0.0

    def score(self, relative_scale: float = 1.0) -> Floats:
        """The ratio when synthetic positives are ``relative_scale`` times as far as they are."""
        d_pos = self.positive(relative_scale)
        score = ratio(d_pos, self.negative)
        if self.copies is None:
            return score
        pos, neg = self.copies.T
        # A copy of both classes, and of enough rows of one to decide the vote.
        mixed = (neg > 0) & ((d_pos == 0) | ((pos > 0) & (neg >= self.r)))
        mixed &= np.isfinite(d_pos) & np.isfinite(self.negative)
        if not mixed.any():
            return score
        by_number = ratio_of_copies(pos, neg, (self.real.shape[1], self.r), self.n_columns)
        return np.where(mixed, by_number * self._denser(relative_scale), score)

    def positive(self, relative_scale: float = 1.0) -> Floats:
        """Distance to the q-th positive."""
        q = self.real.shape[1]
        if self.synthetic is None:
            return self.real[:, q - 1]
        merged = np.concatenate([self.real, relative_scale * self.synthetic], axis=1)
        return np.asarray(np.partition(merged, q - 1, axis=1)[:, q - 1])

    def _denser(self, relative_scale: float) -> float:
        """By how much synthetic positives raise the ratios around, which copies are ranked among.

        They make the positives denser, the less the further away they count.
        """
        if not self.synthetic_share:
            return 1.0
        d = np.sqrt(self.n_columns or 1)
        dense = np.logaddexp(0.0, np.log(self.synthetic_share) - d * np.log(relative_scale))
        return float(np.exp(dense / d))


class Scales(NamedTuple):
    """The chosen γ, γ_synthetic relative to it, and what they are worth on the pooled counts."""

    gamma: float
    relative: float
    value: float


def best_scales(
    distances: TwoDistances,
    positive: Bools,
    weight: Floats,
    metric: CountMetric,
    gamma: float | None = None,
    gamma_synthetic: float | None = None,
) -> Scales:
    """The best γ in (0, 1] and γ_synthetic in (0, 2]; those given are kept.

    γ is exact; with synthetic positives it is so inside a one-dimensional search over the ratio of
    the two.
    """

    def at(relative: float) -> Scales | None:
        wanted = gamma
        if wanted is None and gamma_synthetic is not None:
            wanted = gamma_synthetic / relative
        bounds = (0.0, 1.0) if wanted is None else bounds_at(wanted)
        if distances.synthetic is not None and gamma_synthetic is None:
            bounds = (bounds[0], min(bounds[1], 2.0 / relative))
        if not bounds[0] < bounds[1] or (gamma is None and bounds[1] > 1.0):
            return None
        score = distances.score(relative)
        best = best_threshold(positive, score, metric, sample_weight=weight, bounds=bounds)
        return Scales(best.threshold, relative, best.value)

    if distances.synthetic is None:
        gamma_synthetic = None
        grid = np.ones(1)
    elif gamma is not None and gamma_synthetic is not None:
        grid = np.array([gamma_synthetic / gamma])
    else:
        grid = _RELATIVE_SCALES
    found = [scales for scales in map(at, grid) if scales is not None]
    if found and grid.size > 1:
        best = max(found, key=lambda scales: scales.value)
        nearby = best.relative * np.geomspace(1 / 1.05, 1.05, 11)
        found += [scales for scales in map(at, nearby) if scales is not None]
    if not found:
        raise ValueError(
            f"With gamma={gamma} and gamma_synthetic={gamma_synthetic} no scale of the other kind "
            "of positives is in its range: up to 1 for real, 2 for synthetic ones."
        )
    return _nearest_to_equal(found)


def _nearest_to_equal(found: list[Scales]) -> Scales:
    """The best scales; among equals those that treat synthetic positives most like real ones."""
    best = max(scales.value for scales in found)
    equal = [s for s in found if np.isclose(s.value, best, rtol=1e-12, atol=1e-15)]
    return min(equal, key=lambda scales: abs(np.log(scales.relative)))

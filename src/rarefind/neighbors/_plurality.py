"""γk-NN for more than two classes: one scale a class, votes by plurality, by the definition.

Classes are counted from the rarest (0) to the most frequent (K - 1), whose scale stays 1. The k
nearest rows vote after the distances to class c are multiplied by its scale; ties of the vote, and
of distances, go to the rarer class, as they go to the positive one of two.
"""

from __future__ import annotations

import numpy as np

from rarefind._core.types import Bools, Floats, Ints
from rarefind.metrics import CountMetric
from rarefind.selection.thresholds import evaluate, place_cut

# Times that all scales are gone through.
_MOST_SWEEPS = 10


def share_votes(found: list[Floats]) -> Floats:
    """Distances of shape (K, n, k) in which copies vote in the proportion that they are there.

    ``found`` has the distances to each class and, of shape (n, K), how many rows of it each row is
    a copy of. Where these are more than k, the k votes are shared out among them by their numbers,
    what is left of a vote to the largest remainder; the rows that do not vote are infinitely far.
    """
    *by_class, copies = found
    distances = np.stack(by_class)
    k = distances.shape[2]
    total = copies.sum(axis=1)
    many = np.flatnonzero(total > k)
    if many.size:
        exact = copies[many] * (k / total[many])[:, None]
        # Exact thirds and fifths may come out a little below a whole number.
        seats = np.floor(exact + 1e-9)
        left = (k - seats.sum(axis=1)).astype(np.intp)
        order = np.argsort(-(exact - seats), axis=1, kind="stable")  # the rarer of equals first
        rank = np.argsort(order, axis=1, kind="stable")
        seats += rank < left[:, None]
        silent = np.arange(k) >= seats.T[:, :, None]
        distances[:, many] = np.where(silent, np.inf, distances[:, many])
    return distances


def votes(distances: Floats, scales: Floats) -> Ints:
    """Votes of each class among the k nearest rows, from distances of shape (K, n, k)."""
    n_classes, n, k = distances.shape
    _, voter = _merge(distances * scales[:, None, None], k)
    counts = np.zeros((n, n_classes), dtype=np.intp)
    for j in range(k):
        there = voter[:, j] >= 0
        counts[np.flatnonzero(there), voter[there, j]] += 1
    return counts


def best_class_scales(
    distances: Floats, codes: Ints, weight: Floats, metric: CountMetric
) -> tuple[Floats, float]:
    """Scales in (0, 1] that maximise the mean of ``metric`` over the classes.

    One scale at a time is set to its exact best value, the others held, until none improves: a
    local optimum of a function that has no better one along any single class.
    """
    n_classes = distances.shape[0]
    scales = np.ones(n_classes)
    value = -np.inf
    for _ in range(_MOST_SWEEPS):
        before = value
        for c in range(n_classes - 1):
            candidate, reached = _best_scale(c, distances, scales, codes, weight, metric)
            # More than rounding, or two classes could go on trading places.
            if reached > value + 1e-12:
                scales[c], value = candidate, reached
        if not value > before:
            break
    return scales, float(value)


def _best_scale(
    c: int, distances: Floats, scales: Floats, codes: Ints, weight: Floats, metric: CountMetric
) -> tuple[float, float]:
    """The exact best scale of class ``c``: go down through every value where a vote changes."""
    n_classes, _, k = distances.shape
    others = [j for j in range(n_classes) if j != c]
    rival, voter = _merge(distances[others] * scales[others][:, None, None], k)
    # Class c has m of the k votes while its m-th row comes before the (k-m+1)-th of the others.
    rival_class = np.asarray(others)[voter]
    with np.errstate(divide="ignore", invalid="ignore"):
        turning = rival[:, ::-1] / distances[c]
    # At distance 0 no scale helps: the row comes first, but for a rarer rival at distance 0 too.
    comes_first = (rival[:, ::-1] > 0) | (rival_class[:, ::-1] > c)
    turning = np.where(distances[c] == 0, np.where(comes_first, np.inf, 0.0), turning)
    turning = np.where(np.isinf(distances[c]), 0.0, turning)
    winner = _winner_by_votes_of(c, rival_class, voter >= 0, n_classes)

    row, m = np.nonzero((turning > 0) & (winner[:, 1:] != winner[:, :-1]))
    at = turning[row, m]
    order = np.argsort(-at, kind="stable")
    row, m, at = row[order], m[order], at[order]
    last = np.flatnonzero(np.append(at[1:] != at[:-1], True)) if at.size else np.empty(0, np.intp)

    start = winner[:, 0]
    values = np.zeros(last.size + 1)
    for j in range(n_classes):
        gain = (winner[row, m + 1] == j).astype(float) - (winner[row, m] == j)
        gain *= weight[row]
        own = codes[row] == j
        chosen, hit = weight * (start == j), codes == j
        tp = np.cumsum(np.append(chosen[hit].sum(), (gain * own)))
        alerts = np.cumsum(np.append(chosen.sum(), gain))
        tp, alerts = (np.append(a[0], a[1:][last]) for a in (tp, alerts))
        positives = weight[hit].sum()
        fp, fn = alerts - tp, positives - tp
        values += evaluate(metric, tp, fp, fn, weight.sum() - positives - fp) / n_classes
    cut, scale = place_cut(at[last], values, (0.0, 1.0))
    return scale, float(values[cut])


def _merge(scaled: Floats, k: int) -> tuple[Floats, Ints]:
    """The k nearest over all classes: distances and the class of each (-1 where there is none)."""
    n_classes, n, _ = scaled.shape
    flat = scaled.transpose(1, 0, 2).reshape(n, -1)
    voter = np.repeat(np.arange(n_classes), scaled.shape[2])
    order = np.argsort(flat, axis=1, kind="stable")[:, :k]
    nearest = np.take_along_axis(flat, order, 1)
    return nearest, np.where(np.isinf(nearest), -1, voter[order])


def _winner_by_votes_of(c: int, voter: Ints, there: Bools, n_classes: int) -> Ints:
    """Winner when class ``c`` has 0, 1, … k votes and the nearest of the others the rest."""
    n, k = voter.shape
    counts = np.zeros((n, n_classes), dtype=np.intp)
    winner = np.empty((n, k + 1), dtype=np.intp)
    for m in range(k, -1, -1):
        counts[:, c] = m
        winner[:, m] = counts.argmax(axis=1)  # the first of equals is the rarest
        if m:
            joined = there[:, k - m]
            counts[np.flatnonzero(joined), voter[joined, k - m]] += 1
    return winner

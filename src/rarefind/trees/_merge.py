"""How the leaves of a tree are put in order and merged into two sides."""

from __future__ import annotations

import numpy as np

from rarefind._core.types import Array, Bools, Floats


def shrunk(positive: Floats, weight: Floats, shrinkage: float) -> Floats:
    """Positives if the precision of each leaf were drawn to that of all by so many rows."""
    base = positive.sum() / weight.sum()
    return np.asarray(weight * (positive + shrinkage * base) / (weight + shrinkage))


def rank_leaves(positive: Floats, weight: Floats, order: str) -> Array:
    """Leaves from the first to the last.

    By ``"precision"``, of equal ones that with more positives first: of all sets of leaves the one
    with the best average precision is then a prefix. Or by the published ``"ratio"``,
    (1 - precision) / recall, where leaves without positives come last.
    """
    precision = positive / weight
    key = -precision
    if order == "ratio":
        with np.errstate(divide="ignore"):
            key = (1 - precision) / (positive / positive.sum())
    return np.lexsort((-weight, -positive, key))


def two_level_ap(p: Floats, w: Floats, P: float, W: float) -> Floats:
    """Average precision of ranking weight ``w`` with positives ``p`` first, and then the rest."""
    return np.asarray(p * (p / w) / P + (P - p) / W)


def two_level_auc(p: Floats, w: Floats, P: float, W: float) -> Floats:
    """Area under the ROC curve of the same."""
    return np.asarray(0.5 + 0.5 * (p / P - (w - p) / (W - P)))


def two_level_precision(p: Floats, w: Floats, P: float, W: float, k: float) -> Floats:
    """Precision of the first ``k`` of the same, ties in expectation."""
    within = p + (k - w) * (P - p) / (W - w)
    return np.asarray(np.where(w >= k, p / w, within / k))


def best_cut(
    positive: Floats, weight: Floats, order: str, target: str, k: float | None = None
) -> Bools:
    """Which leaves go left: those before the cut that is worth most.

    ``target``, ``"average_precision"`` or ``"roc_auc"``, is what ranking the left before the right
    is worth; with ``k`` the precision of the first k comes before it. A cut leaves leaves on both
    sides.
    """
    ranked = rank_leaves(positive, weight, order)
    p, w = np.cumsum(positive[ranked])[:-1], np.cumsum(weight[ranked])[:-1]
    P, W = positive.sum(), weight.sum()
    value = two_level_auc(p, w, P, W) if target == "roc_auc" else two_level_ap(p, w, P, W)
    if k is not None:
        # The budget first; the target only among equals.
        value = np.round(two_level_precision(p, w, P, W, k), 9) + 1e-10 * value
    left = np.zeros(ranked.size, dtype=bool)
    left[ranked[: int(np.argmax(value)) + 1]] = True
    return left

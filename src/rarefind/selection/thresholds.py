"""The exact best threshold for any function of the counts, in one sort."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rarefind._core.types import ArrayLike, Bools, Floats, Label
from rarefind.metrics import Cost, CountMetric, count_metric
from rarefind.metrics.inputs import RankedRows, check_rows, cumulate

#: Bounds that leave every threshold.
ANY_THRESHOLD = (-np.inf, np.inf)


class BestThreshold(NamedTuple):
    """A threshold, what it is worth, and the counts of ``score >= threshold``."""

    threshold: float
    value: float
    tp: float
    fp: float
    fn: float
    tn: float


def best_threshold(
    y: ArrayLike,
    score: ArrayLike,
    metric: str | CountMetric = "f1",
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    **params: Any,
) -> BestThreshold:
    """Find the threshold that maximises a measure of the decisions ``score >= threshold``.

    All thresholds are tried: one sort, running counts, one vectorised call of the measure. Scores
    of several folds are pooled by putting them one after the other.

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels.
    score : array-like of shape (n,)
        Scores of rows that were not used to fit; higher for positives, infinities allowed.
    metric : str or callable, default="f1"
        A name that :func:`rarefind.metrics.count_metric` knows, with its parameters as keywords, or
        any function of ``(tp, fp, fn, tn)``; larger is better. ``"f_beta", beta=2``;
        ``"recall_at_least", recall=0.9``; ``"alerts_at_most", k=200``; ``"cost", c_fp=1,
        c_fn=amounts``, where each cost is a number or an array with one entry a row.
    pos_label : label, default=None
        The positive label; 1 among {0, 1} and {-1, 1}, else it must be given.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows in the counts; amounts give the measure in money.
    bounds : (float, float), default=(-inf, inf)
        Only thresholds with ``bounds[0] < threshold <= bounds[1]`` are tried.
    **params
        Parameters of a metric given by name.

    Returns
    -------
    BestThreshold
        The threshold lies between two scores, so rounding cannot move a row across it. Where
        neighbouring thresholds are worth the same they form a plateau: the widest plateau is
        taken, and the gap between two scores that holds its middle. Beyond the extreme scores a
        plateau reaches as far as the scores are spread.

    Examples
    --------
    >>> from rarefind.selection import best_threshold
    >>> best_threshold([0, 0, 1, 0, 1], [0.1, 0.2, 0.5, 0.6, 0.9], "f1").threshold
    0.35
    >>> best_threshold([0, 0, 1, 0, 1], [0.1, 0.2, 0.5, 0.6, 0.9], "alerts_at_most", k=1).threshold
    0.75
    """
    rows = check_rows(y, score, pos_label, sample_weight)
    chosen = count_metric(metric, **params)
    scores, tp, fp = _counts_going_down(rows)
    fn, tn = tp[-1] - tp, fp[-1] - fp
    if isinstance(chosen, Cost):
        values = -_running_cost(chosen, rows)
    else:
        values = evaluate(chosen, tp, fp, fn, tn)

    j, threshold = place_cut(scores, values, bounds)
    return BestThreshold(threshold, *map(float, (values[j], tp[j], fp[j], fn[j], tn[j])))


def check_count_metric(metric: Any) -> CountMetric:
    """The metric that an estimator's threshold maximises, which cannot have a cost for each row."""
    chosen = count_metric(metric)
    if isinstance(chosen, Cost) and chosen.per_row:
        raise ValueError(
            "The metric of an estimator has costs for each row: give one number for each cost, or "
            "find the threshold with best_threshold."
        )
    return chosen


def bounds_at(threshold: float) -> tuple[float, float]:
    """Bounds that leave one threshold, to ask :func:`best_threshold` what it is worth."""
    return float(np.nextafter(threshold, -np.inf)), float(threshold)


def place_cut(scores: Floats, values: Floats, bounds: tuple[float, float]) -> tuple[int, float]:
    """Choose among the cuts below none, the first, the first two… of the falling ``scores``.

    Returns the cut with the best of ``values``, by the rules of :func:`best_threshold`, and the
    threshold that makes it.
    """
    # Cut j alerts the rows of the first j distinct scores: low[j] < threshold <= high[j].
    low = np.maximum(np.append(scores, -np.inf), bounds[0])
    high = np.minimum(np.append(np.inf, scores), bounds[1])
    possible = low < high
    if not possible.any():
        raise ValueError(f"No threshold lies in ({bounds[0]}, {bounds[1]}].")
    best = values[possible].max()
    if best == -np.inf:
        raise ValueError("The metric is not a number at any threshold.")
    optimal = possible & np.isclose(values, best, rtol=1e-12, atol=1e-15)
    low, high = _draw_in(low, high, scores)
    j = _middle_of_widest_run(optimal, low, high)
    threshold = low[j] / 2 + high[j] / 2
    return j, float(threshold if low[j] < threshold <= high[j] else high[j])


def _counts_going_down(rows: RankedRows) -> tuple[Floats, Floats, Floats]:
    """Distinct scores from the top, and (tp, fp) of alerting none, the first, the first two…"""
    # Not the difference to all: a rounding error below 0 is not a count.
    positive, negative = rows.positive * rows.weight, ~rows.positive * rows.weight
    scores, tp, fp = cumulate(rows.score, positive, negative)
    return scores, np.append(0.0, tp), np.append(0.0, fp)


def _running_cost(cost: Cost, rows: RankedRows) -> Floats:
    """Total cost at each cut: all rows left alone, plus what each alerted row changes."""
    n = rows.positive.size
    for name in ("c_fp", "c_fn", "c_tp", "c_tn"):
        if np.shape(getattr(cost, name)) not in ((), (n,)):
            raise ValueError(f"{name} must be a number or hold one for each of the {n} rows.")
        if not np.all(np.isfinite(np.asarray(getattr(cost, name), dtype=float))):
            raise ValueError(f"{name} must be finite.")
    alerted = np.where(rows.positive, cost.c_tp, cost.c_fp) * rows.weight
    passed = np.where(rows.positive, cost.c_fn, cost.c_tn) * rows.weight
    _, change = cumulate(rows.score, alerted - passed)
    return passed.sum() + np.append(0.0, change)


def evaluate(metric: CountMetric, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Values at all cuts; a function written for single numbers is called cut by cut."""
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(metric(tp, fp, fn, tn), dtype=float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != tp.shape:
            values = np.array(
                [_one_value(metric, *cut) for cut in zip(tp, fp, fn, tn, strict=True)]
            )
    return np.where(np.isnan(values), -np.inf, values)


def _one_value(metric: CountMetric, *counts: Any) -> float:
    try:
        return float(metric(*map(float, counts)))  # type: ignore[arg-type]
    except ZeroDivisionError:
        return float("nan")


def _draw_in(low: Floats, high: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Give infinite ends the spread of the scores, so that every gap has a width and a middle."""
    finite = scores[np.isfinite(scores)]
    size = float(np.abs(finite).max(initial=0.0))
    largest = np.finfo(float).max
    # Halved, the widest spread there can be is still a number.
    spread = 2 * min(float(np.ptp(finite / 2)), largest / 8) if finite.size else 0.0
    margin = max(spread or 1.0, size * 1e-6)
    below, above = np.isneginf(low), np.isposinf(high)
    with np.errstate(over="ignore", invalid="ignore"):
        drawn_low = np.where(above, -margin, np.maximum(high - margin, -largest))
        drawn_high = np.where(below, margin, np.minimum(low + margin, largest))
    return np.where(below, drawn_low, low), np.where(above, drawn_high, high)


def _middle_of_widest_run(optimal: Bools, low: Floats, high: Floats) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], optimal, [False]]).astype(np.int8)))
    first, last = edges[::2], edges[1::2] - 1
    widest = int(np.argmax(high[first] / 2 - low[last] / 2))
    start, stop = first[widest], last[widest]
    middle = low[stop] / 2 + high[start] / 2
    # The cuts of a run go down in score: the first whose lower end is below the middle holds it.
    return int(start + np.argmax(low[start : stop + 1] < middle))

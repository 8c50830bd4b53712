"""How sure a measured value is: percentile bootstrap intervals."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_random_state

from rarefind._core.types import ArrayLike


class Interval(NamedTuple):
    """A measured value with the interval that its sampling leaves open."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap_interval(
    metric: Callable[..., float],
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: Any = None,
    **arguments: Any,
) -> Interval:
    """Percentile bootstrap interval of any measure in :mod:`rarefind.metrics`.

    Rows are drawn with replacement, which is the same as drawing integer weights: the measure is
    computed with those as ``sample_weight``. For ``entity_precision_at_k`` whole entities are
    drawn, since the rows of one entity stand or fall together.

    Parameters
    ----------
    metric : callable
        A measure of this package, called as ``metric(y_true, score, **arguments)``.
    y_true, score : array-like of shape (n,)
        Labels, and scores or predicted labels, whichever ``metric`` takes.
    n_resamples : int, default=1000
        Number of resamples.
    level : float, default=0.95
        Share of the resamples inside the interval.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples.
    **arguments
        Further arguments of ``metric``, such as ``k`` or ``amount``.

    Returns
    -------
    Interval
        ``value``, ``low``, ``high``. Resamples in which the measure is undefined, as average
        precision is without a positive, are left out.

    Examples
    --------
    >>> from rarefind.metrics import bootstrap_interval, precision_at_k
    >>> y, score = [1, 0, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1]
    >>> print(bootstrap_interval(precision_at_k, y, score, k=2, random_state=0))
    0.500 [0.000, 1.000]
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}.")
    rng = check_random_state(random_state)
    labels, scores = np.asarray(y_true), np.asarray(score)
    value = metric(labels, scores, **arguments)
    resamples = _by_entity if "entity" in arguments else _by_weight
    if resamples is _by_weight and "sample_weight" not in inspect.signature(metric).parameters:
        raise ValueError(f"{metric.__name__} takes no sample_weight, so its rows cannot be drawn.")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        drawn = list(resamples(metric, labels, scores, n_resamples, rng, dict(arguments)))
    if not drawn:
        raise ValueError("No resample holds a positive row: there is nothing to measure.")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(value), float(low), float(high))


def _by_weight(
    metric: Callable[..., float],
    y: Any,
    score: Any,
    n_resamples: int,
    rng: np.random.RandomState,
    arguments: dict[str, Any],
) -> Iterator[float]:
    if np.issubdtype(score.dtype, np.number):
        # Sorted once, the rows are sorted again in linear time by every resample.
        order = np.argsort(-score.astype(float), kind="stable")
        y, score = y[order], score[order]
        arguments = {
            name: np.asarray(a)[order] if np.ndim(a) == 1 and len(a) == len(y) else a
            for name, a in arguments.items()
        }
    given = arguments.pop("sample_weight", None)
    base = np.ones(len(y)) if given is None else np.asarray(given, float)
    for _ in range(n_resamples):
        weight = base * np.bincount(rng.randint(len(y), size=len(y)), minlength=len(y))
        try:
            yield metric(y, score, sample_weight=weight, **arguments)
        except UndefinedMetricWarning:
            continue


def _by_entity(
    metric: Callable[..., float],
    y: Any,
    score: Any,
    n_resamples: int,
    rng: np.random.RandomState,
    arguments: dict[str, Any],
) -> Iterator[float]:
    entity, day = np.asarray(arguments.pop("entity")), np.asarray(arguments.pop("day"))
    codes = np.unique(entity, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    sizes = np.diff(starts)
    for _ in range(n_resamples):
        chosen = rng.randint(sizes.size, size=sizes.size)
        lengths = sizes[chosen]
        first = np.cumsum(lengths) - lengths
        rows = order[np.repeat(starts[chosen] - first, lengths) + np.arange(lengths.sum())]
        # An entity drawn twice is two entities.
        renamed = np.repeat(np.arange(chosen.size), lengths)
        yield metric(y[rows], score[rows], entity=renamed, day=day[rows], **arguments)

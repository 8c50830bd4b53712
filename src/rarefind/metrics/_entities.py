"""What a day's alerts are worth when people check entities (cards, firms), not rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length, column_or_1d

from rarefind._core.types import ArrayLike, Floats, Label
from rarefind.metrics.inputs import as_scores, budget, is_positive


def entity_precision_at_k(
    y_true: ArrayLike,
    score: ArrayLike,
    entity: ArrayLike,
    day: ArrayLike,
    k: int,
    *,
    pos_label: Label = None,
) -> float:
    """Mean over days of the share of positives among the ``k`` entities alerted that day.

    An entity is alerted by its best score of the day and is a hit when one of its rows of that day
    is positive. An entity once found is known, and neither alerted nor counted on later days.
    A day with fewer than ``k`` entities left is measured on those it has.

    Equal scores are ordered by the entity's own identifier: who is found today changes who can be
    found tomorrow, so an expectation over ties, as in :func:`precision_at_k`, is not one number a
    day. The result does not depend on the order of the rows.

    Parameters
    ----------
    y_true, score, pos_label
        As in :func:`average_precision`.
    entity : array-like of shape (n,)
        The entity of each row.
    day : array-like of shape (n,)
        The day of each row: any value that sorts in time, such as a date or a day number.
    k : int
        Entities that can be checked in a day.

    Examples
    --------
    >>> from rarefind.metrics import entity_precision_at_k
    >>> entity_precision_at_k(
    ...     y_true=[1, 1, 0, 1, 0], score=[0.9, 0.8, 0.3, 0.9, 0.2],
    ...     entity=["a", "a", "b", "a", "b"], day=[1, 1, 1, 2, 2], k=1)
    0.5
    """
    return float(
        np.mean(entity_precision_by_day(y_true, score, entity, day, k, pos_label=pos_label))
    )


def entity_precision_by_day(
    y_true: ArrayLike,
    score: ArrayLike,
    entity: ArrayLike,
    day: ArrayLike,
    k: int,
    *,
    pos_label: Label = None,
) -> Floats:
    """The daily values behind :func:`entity_precision_at_k`, in the order of the days."""
    alerts = entity_alerts(y_true, score, entity, day, k, pos_label=pos_label)
    return alerts.groupby("day", sort=True)["hit"].mean().to_numpy(dtype=np.float64)


def entity_alerts(
    y_true: ArrayLike,
    score: ArrayLike,
    entity: ArrayLike,
    day: ArrayLike,
    k: int,
    *,
    pos_label: Label = None,
) -> pd.DataFrame:
    """The alerts of each day, by the rules of :func:`entity_precision_at_k`.

    Returns
    -------
    DataFrame
        ``day``, ``entity``, ``score`` (its best of the day) and ``hit``, in the order of the lists.
        A day on which everybody seen is known already has no alerts.

    Examples
    --------
    >>> from rarefind.metrics import entity_alerts
    >>> alerts = entity_alerts([1, 0, 1], [0.9, 0.3, 0.2], ["a", "b", "a"], [1, 1, 2], k=2)
    >>> alerts[["day", "entity", "hit"]].values.tolist()
    [[1, 'a', True], [1, 'b', False]]
    """
    positive, scores = is_positive(y_true, pos_label), as_scores(score)
    entities, names = pd.factorize(column_or_1d(entity), sort=True)
    days, day_names = pd.factorize(column_or_1d(day), sort=True)
    check_consistent_length(positive, scores, entities, days)
    if not positive.size:
        raise ValueError("There are no rows to measure.")
    if np.any(entities < 0) or np.any(days < 0):
        raise ValueError("entity and day must not be missing in any row.")
    rows = pd.DataFrame({"day": days, "entity": entities, "score": scores, "hit": positive})
    best = rows.groupby(["day", "entity"], as_index=False).max()
    best = best.sort_values(["day", "score", "entity"], ascending=[True, False, True])

    starts = np.searchsorted(best["day"].to_numpy(), np.arange(len(day_names) + 1))
    cases, hits = best["entity"].to_numpy(), best["hit"].to_numpy()
    known = np.zeros(len(names), dtype=bool)
    alerted = []
    for start, stop in pairwise(starts):
        left = np.flatnonzero(~known[cases[start:stop]]) + start
        today = left[: int(budget(k, left.size))] if left.size else left
        known[cases[today[hits[today]]]] = True
        alerted.append(today)
    alerts = best.iloc[np.concatenate(alerted)].reset_index(drop=True)
    return alerts.assign(
        day=np.asarray(day_names)[alerts["day"]], entity=np.asarray(names)[alerts["entity"]]
    )

"""Whether what a reason names is what holds a row at the top of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from rarefind._core.checks import feature_names
from rarefind._core.types import Bools, Floats, Ints, Table
from rarefind.data.frames import as_frame, has_names
from rarefind.metrics.intervals import share_interval

# Rows that are scored at once.
_BLOCK = 20_000
# A fall of less than this share of the priority may be one of the last bits only.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Faithfulness:
    """How priorities fall when what the reasons name is replaced."""

    #: Share of the alerts whose priority falls, on average over the draws.
    share_lowered: float
    #: The 95 % interval of that share, by Clopper and Pearson.
    low: float
    high: float
    #: Mean fall of the rank among the rows, as a share of them.
    rank_drop: float
    #: The same when as many other columns are replaced, drawn at random among those that the reason
    #: does not name, or all of them where they are fewer; of the alerts where there are such
    #: columns, and NaN where there are none.
    against_random: float
    #: Columns that a reason names, on average.
    columns_named: float
    #: Alerts looked at.
    n_alerts: int

    def __str__(self) -> str:
        text = (
            f"{self.share_lowered:.0%} [{self.low:.0%}, {self.high:.0%}] of {self.n_alerts} alerts "
            f"fall, by {self.rank_drop:z.0%} of the list"
        )
        if np.isnan(self.against_random):
            return text
        return f"{text}; with other columns by {self.against_random:z.0%}"


def faithfulness(
    estimator: Any,
    X: Table,
    *,
    background: Table | None = None,
    n_alerts: int = 100,
    n_draws: int = 20,
    random_state: Any = None,
) -> Faithfulness:
    """Measure whether alerts stand where they stand because of what their reasons name.

    Of each alert, the columns that its reason names are replaced by those of a row drawn from the
    background; if the reason is true, the priority falls.

    Parameters
    ----------
    estimator : rarefind classifier or TableModel
        Fitted.
    X : array-like of shape (n, d)
        Rows it has not seen; the ``n_alerts`` of them with the highest priority are the alerts.
    background : array-like of shape (m, d), default=None
        Rows to draw from; by default those of ``X`` that are not above its median priority.
    n_alerts : int, default=100
        How many alerts; at most all rows.
    n_draws : int, default=20
        Rows drawn for each alert.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Returns
    -------
    Faithfulness

    Notes
    -----
    A reason that names all columns is bound to seem faithful; ``columns_named`` and
    ``against_random`` show it. Rows with replaced columns may be such as never occur.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.boosting import SGBAPClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.selection import faithfulness
    >>> X, y = load_keel("yeast6")
    >>> X, X_new, y, _ = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = SGBAPClassifier(random_state=0).fit(X, y)
    >>> print(faithfulness(model, X_new, n_alerts=20, random_state=0))
    100% [83%, 100%] of 20 alerts fall, ...
    """
    if not (hasattr(estimator, "priority") and hasattr(estimator, "explain")):
        raise ValueError(
            f"{type(estimator).__name__} gives no priority and no reasons: "
            "faithfulness takes rarefind's own estimators."
        )
    if n_alerts < 1 or n_draws < 1:
        raise ValueError(f"There is nothing to measure with {n_alerts} alerts, {n_draws} draws.")
    rng = check_random_state(random_state)
    rows = _RowsAndBackground.of(X, background)
    priority = rows.priority(estimator)
    alerts = np.argsort(-priority, kind="stable")[:n_alerts]
    place = _places(estimator, rows.table)
    named = _columns_named(estimator, rows, alerts, place)
    others = _others(named, sorted(set(place.values())), rng)
    drawn = rng.choice(rows.background(priority), size=(alerts.size, n_draws))
    fall, rank_fall = _falls(
        priority, priority[alerts], rows.priority_with_replaced(estimator, alerts, drawn, named)
    )
    _, other_fall = _falls(
        priority, priority[alerts], rows.priority_with_replaced(estimator, alerts, drawn, others)
    )
    lowered = int((fall > _ROUNDING * np.abs(priority[alerts])).sum())
    rest = others.any(axis=1)
    return Faithfulness(
        lowered / alerts.size,
        *share_interval(lowered, alerts.size),
        rank_drop=float(rank_fall.mean()),
        against_random=float(other_fall[rest].mean()) if rest.any() else float("nan"),
        columns_named=float(named.sum(axis=1).mean()),
        n_alerts=alerts.size,
    )


@dataclass(frozen=True)
class _RowsAndBackground:
    """The rows, and below them those of a background of their own."""

    table: pd.DataFrame
    n: int
    #: Whether the estimator is given frames; else arrays.
    with_names: bool

    @classmethod
    def of(cls, X: Table, background: Table | None) -> _RowsAndBackground:
        frame = as_frame(X)
        if background is None:
            return cls(frame, len(frame), has_names(X))
        below = as_frame(background)
        missing = [str(name) for name in frame.columns if name not in below.columns]
        if missing:
            raise ValueError(f"The background has no column {', '.join(map(repr, missing))}.")
        if not len(below):
            raise ValueError("The background has no rows.")
        whole = pd.concat([frame, below[frame.columns]], ignore_index=True)
        return cls(whole, len(frame), has_names(X))

    def as_given(self, table: pd.DataFrame) -> Table:
        """A table as the estimator takes it."""
        return table if self.with_names else table.to_numpy()

    def priority(self, estimator: Any) -> Floats:
        """Of the rows, without the background."""
        return np.asarray(estimator.priority(self.as_given(self.table.iloc[: self.n])))

    def background(self, priority: Floats) -> Ints:
        """Where the rows to draw from are."""
        if len(self.table) > self.n:
            return np.arange(self.n, len(self.table))
        # Ties may hold more than half of the rows at the lowest priority.
        return np.flatnonzero(priority <= np.median(priority))

    def priority_with_replaced(
        self, estimator: Any, alerts: Ints, drawn: Ints, columns: Bools
    ) -> Floats:
        """Priorities of shape (alerts, draws), each with some columns of the row drawn for it."""
        n_draws = drawn.shape[1]
        found = np.empty(drawn.shape)
        step = max(1, _BLOCK // n_draws)
        for start in range(0, alerts.size, step):
            part = slice(start, start + step)
            own = np.repeat(alerts[part], n_draws)
            other = drawn[part].ravel()
            swapped = np.repeat(columns[part], n_draws, axis=0)
            table = pd.DataFrame(
                {
                    name: column.take(np.where(swapped[:, j], other, own)).array
                    for j, (name, column) in enumerate(self.table.items())
                }
            )
            found[part] = estimator.priority(self.as_given(table)).reshape(-1, n_draws)
        return found


def _places(estimator: Any, table: pd.DataFrame) -> dict[str, int]:
    """Where the columns are that a reason can name."""
    at = {name: j for j, name in enumerate(table.columns)}
    encoder = getattr(estimator, "encoder_", None)
    if encoder is None:
        # A table without names of its own, or fitted without, has the same columns in order.
        return {name: at.get(name, j) for j, name in enumerate(feature_names(estimator))}
    columns = {name: at[name] for name in encoder.columns_}
    # A part of a column, such as the hour of a date, stands for it.
    parts = zip(encoder.get_feature_names_out(), encoder.original_columns_, strict=True)
    return {str(name): columns[column] for name, column in parts} | columns


def _columns_named(
    estimator: Any, rows: _RowsAndBackground, alerts: Ints, place: dict[str, int]
) -> Bools:
    """Which columns the reason of each alert names."""
    named = np.zeros((alerts.size, rows.table.shape[1]), dtype=bool)
    reasons = estimator.explain(rows.as_given(rows.table.iloc[alerts]))
    for own, reason in zip(named, reasons, strict=True):
        # A rule of an expert may hold whatever the columns are, and name none.
        features = [condition.feature for condition in reason.because if condition.feature]
        own[[place[feature] for feature in features]] = True
    return named


def _others(named: Bools, columns: list[int], rng: np.random.RandomState) -> Bools:
    """As many of the columns that are not named, at random; all of them where they are fewer."""
    order = np.full(named.shape, np.inf)
    order[:, columns] = rng.uniform(size=(len(named), len(columns)))
    order[named] = np.inf
    place = order.argsort(axis=1).argsort(axis=1)
    return (place < named.sum(axis=1)[:, None]) & np.isfinite(order)


def _falls(priority: Floats, own: Floats, found: Floats) -> tuple[Floats, Floats]:
    """How far alerts fall to the priorities ``found``, of shape (alerts, draws), and their ranks.

    A rank is the share of the rows below, ties counted half.
    """
    ordered = np.sort(priority)

    def rank(score: Floats) -> Floats:
        ends = np.searchsorted(ordered, score, "left"), np.searchsorted(ordered, score, "right")
        return np.asarray(sum(ends) / (2 * ordered.size))

    before = own[:, None]
    return (before - found).mean(axis=1), (rank(before) - rank(found)).mean(axis=1)

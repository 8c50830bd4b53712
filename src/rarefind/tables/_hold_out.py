"""Holding rows out of a table, and having them scored by models that did not see them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from xgboost import XGBClassifier
from xgboost.callback import TrainingCallback

from rarefind._core.budget import check_period
from rarefind._core.deadline import OutOfTimeError, deadline
from rarefind._core.types import Bools, Floats, Ints
from rarefind.data import TableEncoder, check_target
from rarefind.data.frames import entity_codes
from rarefind.selection import folds
from rarefind.tables._estimate import Evidence

# Enough held-out positives for an estimate; folds are added until there are so many.
_ENOUGH_POSITIVES = 200
_FOLDS = 5
_HELD_OUT_SHARE = 0.25
_FEWEST_POSITIVES = 5
# What stands for an XGBoost without any thought.
PLAIN: dict[str, Any] = {
    "n_estimators": 100,
    "max_depth": 6,
    "learning_rate": 0.1,
    "tree_method": "hist",
}


class Looks(NamedTuple):
    """Which rows are held out from which."""

    parts: list[tuple[Ints, Ints]]
    #: How they are held out; ``{}`` is how many of the parts were looked at.
    how: str
    time: Ints | None
    entity: Ints | None


def planned(
    model: Any, frame: pd.DataFrame, positive: Bools, delay: str | None = None, seed: int = 0
) -> Looks:
    """Where there is a time, its last quarter is held out; else as many folds as are needed."""
    entity = None if model.entity is None else entity_numbers(frame[model.entity])
    if model.time is not None:
        stamps = nanoseconds(frame, model.time)
        part, how = _last_quarter(stamps, positive, _length(delay))
        return Looks([part], how, stamps, entity)
    if delay is not None:
        raise ValueError("A delay needs the column with the time of a row.")
    parts = folds(frame, positive, _FOLDS, groups=entity, random_state=seed)
    found = np.cumsum([positive[held].sum() for _, held in parts])
    few = 1 + int(np.searchsorted(found, _ENOUGH_POSITIVES))
    whose = "" if entity is None else f", rows of one {model.entity} together"
    how = f"Held out at random: {{}} of {len(parts)} folds of the rows{whose}."
    return Looks(parts[:few], how, None, entity)


class PlainXGBoost:
    """XGBoost as most people use it, levels as sets; each part is learned once.

    Of a part it makes as many rounds as there are seconds for.
    """

    def __init__(
        self, model: Any, frame: pd.DataFrame, truth: Bools, seconds: float = math.inf
    ) -> None:
        self._away, self._frame, self._truth = model._no_features(), frame, truth
        self._seconds = seconds
        self._known: dict[int, Floats] = {}
        #: The fewest rounds that there was time for in a part.
        self.rounds = int(PLAIN["n_estimators"])

    def scores(self, number: int, train: Ints, held: Ints) -> Floats:
        """Scores of the rows of a part, learned from the others."""
        if number not in self._known:
            self._known[number] = self._learned(train, held)
        return self._known[number]

    def _learned(self, train: Ints, held: Ints) -> Floats:
        end = min(deadline(), time.monotonic() + self._seconds)
        learned, ahead = self._frame.iloc[train], self._frame.iloc[held]
        encoder = TableEncoder(levels="code", drop=self._away).fit(learned)
        sets = set(encoder.level_outputs_)
        kinds = ["c" if name in sets else "q" for name in encoder.get_feature_names_out()]
        plain = XGBClassifier(
            **PLAIN, feature_types=kinds, enable_categorical=True, callbacks=[_EndAt(end)]
        )
        plain.fit(encoder.transform(learned), self._truth[train].astype(int))
        self.rounds = min(self.rounds, plain.get_booster().num_boosted_rounds())
        return plain.predict_proba(encoder.transform(ahead))[:, 1].astype(float)


class _EndAt(TrainingCallback):
    """Ends the rounds of XGBoost at a moment."""

    def __init__(self, moment: float) -> None:
        super().__init__()
        self._moment = moment

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Say whether the time is over."""
        return time.monotonic() > self._moment


def gathered(
    model: Any,
    frame: pd.DataFrame,
    looks: Looks,
    budget: int | float | str,
    per: str | None = None,
    say: Callable[[str], None] = lambda what: None,
    *,
    plain: PlainXGBoost | None = None,
    ends: tuple[type[BaseException], ...] = (KeyboardInterrupt, OutOfTimeError),
) -> Evidence | None:
    """Fit a copy of the model, and a plain XGBoost, to the rest of each part, and score the part.

    Out of time, or by Ctrl-C, it ends with the parts that are done; None where there is none.
    """
    check_period(per, looks.time)
    positive = check_target(frame, model.target, model.positive)
    truth = (frame[model.target] == positive).to_numpy()
    plain = plain or PlainXGBoost(model, frame, truth)
    rows, fold, scores = [], [], []
    try:
        for number, (train, held) in enumerate(looks.parts):
            say(f"Learning with rows held out, {number + 1} of {len(looks.parts)}")
            copy = clone(model).set_params(positive=positive).fit(frame.iloc[train])
            ours = _scores(copy, frame.iloc[held])
            scores.append((*ours, plain.scores(number, train, held)))
            rows.append(held)
            fold.append(np.full(held.size, number))
            if getattr(copy.estimator_, "interrupted_", False):
                break
    except ends:
        if not rows:
            return None
    priority, chance, theirs = (np.concatenate(parts) for parts in zip(*scores, strict=True))
    held = np.concatenate(rows)
    # No format: the name of a column may hold braces of its own.
    how = looks.how.replace("{}", str(len(rows)), 1)
    if plain.rounds < PLAIN["n_estimators"]:
        how += f" The plain XGBoost had time for {plain.rounds} of its rounds only."
    return Evidence(
        how=how,
        budget=budget,
        per=per,
        rows=len(frame),
        positive=truth[held],
        priority=priority,
        probability=chance,
        fold=np.concatenate(fold),
        plain=theirs,
        amount=None if model.amount is None else amounts(frame[model.amount])[held],
        time=None if looks.time is None else looks.time[held],
        entity=None if looks.entity is None else _renumbered(looks.entity[held]),
    )


def _scores(model: Any, rows: pd.DataFrame) -> tuple[Floats, Floats]:
    column = list(model.classes_).index(model.positive_)
    return model.priority(rows), model.predict_proba(rows)[:, column]


def _length(delay: str | None) -> pd.Timedelta:
    try:
        length = pd.Timedelta(delay or 0)
    except ValueError:
        raise ValueError(f"A delay is a length of time, as 7D or 12h, not {delay!r}.") from None
    if length < pd.Timedelta(0):
        raise ValueError(f"A delay cannot be negative: {delay}.")
    return length


def _renumbered(codes: Ints) -> Ints:
    return np.unique(codes, return_inverse=True)[1]


def nanoseconds(frame: pd.DataFrame, name: str) -> Ints:
    """The times of rows; what cannot be read as one is shown."""
    column = frame[name]
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(
            f"Time column {name!r} is missing in {missing} of {len(column)} rows: fill them in or "
            "leave those rows out."
        )
    example = column.iloc[0]
    if pd.api.types.is_numeric_dtype(column):
        raise ValueError(
            f"Time column {name!r} holds numbers, such as {example}: write dates, as 2026-01-31."
        )
    try:
        times = pd.to_datetime(column, format="ISO8601", utc=True)
    except (ValueError, TypeError):
        bad = next(
            v for v in column if pd.isna(pd.to_datetime(v, errors="coerce", format="ISO8601"))
        )
        raise ValueError(
            f"Time column {name!r} holds {str(bad)!r}, which is no date: write dates, as "
            "2026-01-31."
        ) from None
    return np.asarray(times.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]").astype(np.int64))


def entity_numbers(column: pd.Series[Any]) -> Ints:
    """Numbers from 0 for the entities; a row that does not say whose it is stands alone."""
    return _renumbered(entity_codes(column))


def _last_quarter(
    time: Ints, positive: Bools, delay: pd.Timedelta
) -> tuple[tuple[Ints, Ints], str]:
    """Rows before and after a cut in time, with enough positives behind it."""
    cut = np.quantile(time, 1 - _HELD_OUT_SHARE, method="higher")
    stamps = np.sort(time[positive])
    if (stamps >= cut).sum() < _FEWEST_POSITIVES:
        cut = stamps[-min(_FEWEST_POSITIVES, stamps.size)]
    train, held = np.flatnonzero(time < cut - delay.value), np.flatnonzero(time >= cut)
    known = int(positive[train].sum())
    if known < 2 or train.size - known < 2:
        raise ValueError(
            f"Before {pd.Timestamp(cut):%Y-%m-%d %H:%M}, where the last quarter of the rows "
            f"begins, {known} positives and {train.size - known} negatives are known: too few to "
            "learn from. Give rows of a longer time, or leave --time out."
        )
    shape = "%Y-%m-%d" if time.max() - time.min() > pd.Timedelta("4D").value else "%Y-%m-%d %H:%M"
    how = (
        f"Held out: the last {held.size / time.size:.0%} of the rows, "
        f"{pd.Timestamp(cut):{shape}} to {pd.Timestamp(time.max()):{shape}}"
    )
    if delay.value:
        length = f"{delay.days} days" if delay.days else str(delay).removeprefix("0 days ")
        how += f", learned from those {length} before"
    return (train, held), how + "."


def amounts(column: pd.Series[Any]) -> Floats:
    """Amounts; a hole is worth nothing."""
    values = pd.to_numeric(column, errors="coerce")
    if values.notna().sum() < column.notna().sum():
        bad = column[values.isna() & column.notna()].iloc[0]
        raise ValueError(f"Amount column {column.name!r} holds {str(bad)!r}, which is no number.")
    return np.asarray(values.fillna(0), dtype=float)

"""Holding rows out of a table, and having them scored by models that did not see them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from rarefind._core.deadline import OutOfTimeError, check_time_left, deadline
from rarefind._core.types import Bools, Floats, Ints, Label, Table
from rarefind.data import check_target
from rarefind.data.clock import PERIODS, Times, read_times
from rarefind.data.frames import as_frame, entity_codes
from rarefind.selection import folds
from rarefind.tables._estimate import BudgetEstimate
from rarefind.tables._periods import in_whole_periods
from rarefind.tables._plain import PlainXGBoost
from rarefind.tables.lists import Budget, Groups, ListRequest

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel
    from rarefind.tables._rule_model import RuleModel

# Enough held-out positives for an estimate; folds are added until there are so many.
_ENOUGH_POSITIVES = 200
_FOLDS = 5
_HELD_OUT_SHARE = 0.25
_FEWEST_POSITIVES = 5
# Rows of each label that are left to learn from.
_FEWEST_LEARNED = 2


class HoldOut(NamedTuple):
    """Which rows are held out from which.

    Attributes
    ----------
    parts : list of (ndarray, ndarray)
        Row numbers to learn from and row numbers held out, part by part.
    how : str
        How they are held out, as a sentence; ``{}`` is how many of the parts were scored.
    times : Times or None
        When the rows of the table were.
    entity : ndarray or None
        Numbers of the entities that they belong to.
    per : str or None
        The period that they are cut at.
    """

    parts: list[tuple[Ints, Ints]]
    how: str
    times: Times | None
    entity: Ints | None
    per: str | None = None


class CannotHoldOutError(ValueError):
    """No rows can be held out that say what a list finds: the rest would be too few."""


def hold_out(
    model: TableModel | RuleModel,
    table: Table,
    *,
    per: str | None = None,
    delay: str | None = None,
    seed: int = 0,
) -> HoldOut:
    """Choose the rows that a model is judged by.

    Where the model has a ``time``, the last quarter of the rows is held out, or for a budget of
    each period the whole periods nearest to it; else as many of five folds at random as are needed
    for 200 positives. Rows of one ``entity`` stay together in folds.

    Parameters
    ----------
    model : TableModel
        What the columns mean; it need not be fitted.
    table : pandas or polars frame, or Arrow table
        Rows with labels.
    per : str, default=None
        The period or the column of the groups that a budget is spent in.
    delay : str, default=None
        How long it takes until labels are known, as ``"7D"``: rows of that time before the held-out
        ones are not learned from.
    seed : int, default=0
        Of the folds.

    Returns
    -------
    HoldOut

    Raises
    ------
    CannotHoldOutError
        A ValueError, where too few rows would be left to learn from.
    """
    frame = as_frame(table)
    label, positive = _is_positive(frame, model.target, model.positive)
    entity = None if model.entity is None else _numbered(entity_codes(frame[model.entity]))
    if model.time is not None:
        times, length = read_times(frame[model.time]), _length(delay)
        if per in PERIODS:
            part = _last_periods(times, positive, length, str(per))
        else:
            part = _last_quarter(times, positive, length)
        _check_enough(part[0], positive, f"{model.target} = {label}", per)
        cut_at = per if per in PERIODS else None
        return HoldOut([part], _how(times, part, length, per), times, entity, cut_at)
    if delay is not None:
        raise ValueError("A delay needs the column with the time of a row.")
    parts = folds(frame, positive, _FOLDS, groups=entity, random_state=seed)
    found = np.cumsum([positive[held].sum() for _, held in parts])
    few = 1 + int(np.searchsorted(found, _ENOUGH_POSITIVES))
    together = "" if entity is None else f", rows of one {model.entity} together"
    how = f"Held out at random: {{}} of {len(parts)} folds of the rows{together}."
    return HoldOut(parts[:few], how, None, entity)


def estimate_budget(
    model: TableModel | RuleModel,
    table: Table,
    budget: Budget,
    *,
    held_out: HoldOut | None = None,
    per: str | None = None,
    one_per: str | bool | None = None,
    say: Callable[[str], None] = lambda what: None,
    plain: PlainXGBoost | None = None,
    stop_on: tuple[type[BaseException], ...] = (KeyboardInterrupt, OutOfTimeError),
) -> BudgetEstimate | None:
    """Estimate what a budget of checks finds.

    A copy of the model, and a plain XGBoost, learn from the rest of each part and score the part.

    Parameters
    ----------
    model : TableModel
        What learns, and what the columns mean; it need not be fitted and stays as it is.
    table : pandas or polars frame, or Arrow table
        Rows with labels.
    budget, per, one_per
        As in :meth:`TableModel.rank <rarefind.TableModel.rank>`.
    held_out : HoldOut, default=None
        From :func:`hold_out`, which is asked by default.
    say : callable, default=None
        Called with what is done next.
    plain : PlainXGBoost, default=None
        One that several models are compared with, and that learns each part once.
    stop_on : tuple of exceptions
        What ends the estimate with the parts that are done; by default being out of time, and
        Ctrl-C.

    Returns
    -------
    BudgetEstimate or None
        None where no part was done.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.tables import estimate_budget
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    >>> table["y"] = (table["a"] + 0.3 * rng.normal(size=400) > 1.5).astype(int)
    >>> found = estimate_budget(TableModel(), table, 20).list_value()
    >>> found.hits.value > 4 * found.random_hits
    True
    """
    frame = as_frame(table)
    held_out = hold_out(model, frame, per=per) if held_out is None else held_out
    request = ListRequest(budget, per, one_per)
    owner = request.owner_column(model.entity, frame.columns)
    groups = Groups(per, model.time)
    group = None if per is None else groups.of(frame)
    label, truth = _is_positive(frame, model.target, model.positive)
    plain = plain or PlainXGBoost(model, frame)
    rows, fold, scores = [], [], []
    try:
        for number, (train, held) in enumerate(held_out.parts):
            check_time_left(deadline())
            say(f"Learning with rows held out, {number + 1} of {len(held_out.parts)}")
            copy = clone(model).set_params(positive=label)
            with warnings.catch_warnings():
                # A warning would be read as one about the model itself.
                warnings.simplefilter("ignore", UserWarning)
                ours = copy._fit_and_score(frame.iloc[train], frame.iloc[held])
            scores.append((*ours, plain.scores(number, train, held)))
            rows.append(held)
            fold.append(np.full(held.size, number))
            if getattr(copy.estimator_, "interrupted_", False):
                break
    except stop_on:
        if not rows:
            return None
    priority, probability, theirs = (np.concatenate(parts) for parts in zip(*scores, strict=True))
    held = np.concatenate(rows)
    # Not by format(): the name of a column may have braces of its own.
    how = held_out.how.replace("{}", str(len(rows)), 1)
    if not plain.is_done:
        how += " A plain XGBoost was not done in time, so the list is not compared with it."
    times = None if held_out.times is None else held_out.times.at(held)
    by_column = group is not None and per not in PERIODS
    found = BudgetEstimate(
        how=how,
        budget=budget,
        per=per,
        rows=len(frame),
        positive=truth[held],
        priority=priority,
        probability=probability,
        fold=np.concatenate(fold),
        plain=theirs if plain.is_done else None,
        amount=None if model.amount is None else _amounts(frame[model.amount])[held],
        time=None if times is None else times.instant,
        local_time=None if times is None else times.local,
        entity=None if held_out.entity is None else _numbered(held_out.entity[held]),
        group=group[held] if group is not None and by_column else None,
        group_rows=np.bincount(group) if group is not None and by_column else None,
        one_per=owner,
        owner=None if owner is None else _numbered(entity_codes(frame[owner])[held]),
    )
    if times is None or per not in PERIODS or held_out.per == per:
        return found
    return found.at(in_whole_periods(times, str(per)))


def whole_budget(
    table: Table, budget: Budget, per: str | None = None, time: str | None = None
) -> Budget:
    """A budget for each period or group as one for all rows: the share of them that it makes.

    An estimator that learns for a budget needs it in this form.

    Parameters
    ----------
    table : pandas or polars frame, or Arrow table
        The rows.
    budget, per
        As in :meth:`TableModel.rank <rarefind.TableModel.rank>`.
    time : str, default=None
        The column with the time of a row.

    Returns
    -------
    int, float or str
        As given where there is one list, or where it is a share already.
    """
    if per is None or str(budget).strip().endswith("%"):
        return budget
    frame = as_frame(table)
    groups = np.unique(Groups(per, time).of(frame)).size
    checks = float(budget) * (groups if float(budget) >= 1 else len(frame))
    return f"{100 * min(1.0, checks / len(frame)):.6f}%"


def _is_positive(frame: pd.DataFrame, target: str, positive: Label) -> tuple[Label, Bools]:
    label = check_target(frame, target, positive)
    return label, (frame[target] == label).to_numpy()


def _length(delay: str | None) -> pd.Timedelta:
    try:
        length = pd.Timedelta(delay or 0)
    except ValueError:
        raise ValueError(f"A delay is a length of time, as 7D or 12h, not {delay!r}.") from None
    if length < pd.Timedelta(0):
        raise ValueError(f"A delay cannot be negative: {delay}.")
    return length


def _numbered(codes: Ints) -> Ints:
    return np.unique(codes, return_inverse=True)[1]


def _last_quarter(times: Times, positive: Bools, delay: pd.Timedelta) -> tuple[Ints, Ints]:
    """Rows before and after a cut in time, with enough positives behind it."""
    instant = times.instant
    cut = np.quantile(instant, 1 - _HELD_OUT_SHARE, method="higher")
    of_positives = np.sort(instant[positive])
    if (of_positives >= cut).sum() < _FEWEST_POSITIVES:
        cut = of_positives[-min(_FEWEST_POSITIVES, of_positives.size)]
    return _cut_at(times, int(cut), instant >= cut, delay)


def _last_periods(
    times: Times, positive: Bools, delay: pd.Timedelta, per: str
) -> tuple[Ints, Ints]:
    """The same with a cut between two periods: a part of one would have the checks of a whole."""
    number, whole = times.periods(per), in_whole_periods(times, per)
    periods, place = np.unique(number[whole], return_inverse=True)
    if not periods.size or not (number < periods[-1]).any():
        raise CannotHoldOutError(
            f"The rows do not cover a whole {per} and time before it, so none can be held out: "
            f"give rows of a longer time, or a budget for a shorter period than a {per}."
        )
    rows, hits = (
        np.cumsum(np.bincount(place, weights=weight)[::-1])[::-1]
        for weight in (np.ones(place.size), positive[whole])
    )
    begin = np.full(periods.size, np.iinfo(np.int64).max)
    np.minimum.at(begin, place, times.instant[whole])
    cuts = np.minimum.accumulate(begin[::-1])[::-1]
    known = [
        np.searchsorted(np.sort(times.instant[of_class]), cuts - _nanoseconds(delay))
        for of_class in (positive, ~positive)
    ]
    # The nearest to a quarter of the rows, if enough can be learned and enough is held out.
    far = np.abs(rows / number.size - _HELD_OUT_SHARE)
    few = np.minimum(*known) < _FEWEST_LEARNED
    first = np.lexsort((far, hits < _FEWEST_POSITIVES, few))[0]
    return _cut_at(times, int(cuts[first]), whole & (number >= periods[first]), delay)


def _cut_at(times: Times, cut: int, held: Bools, delay: pd.Timedelta) -> tuple[Ints, Ints]:
    """The rows known before a cut, labels included, and the held-out rows."""
    # The clock on the spot says the period: an earlier period may have rows of a later instant.
    train = (times.instant < cut - _nanoseconds(delay)) & ~held
    return np.flatnonzero(train), np.flatnonzero(held)


def _nanoseconds(length: pd.Timedelta) -> int:
    return int(length.as_unit("ns").value)


def _check_enough(train: Ints, positive: Bools, label: str, per: str | None) -> None:
    known = int(positive[train].sum())
    if min(known, train.size - known) >= _FEWEST_LEARNED:
        return
    what = f"the last {per}s" if per in PERIODS else "the last quarter of the rows"
    raise CannotHoldOutError(
        f"With {what} held out, {known} rows with {label} and {train.size - known} others are "
        "left: too few to learn from. Give rows of a longer time, or leave --time out."
    )


def _how(times: Times, part: tuple[Ints, Ints], delay: pd.Timedelta, per: str | None) -> str:
    """How rows are held out in time, as a sentence."""
    instant, (_, held) = times.instant, part
    ends = (held[instant[held].argmin()], held[instant[held].argmax()])
    first, last = (pd.Timestamp(times.local[at]) for at in ends)
    long = int(instant.max() - instant.min()) > _nanoseconds(pd.Timedelta("4D"))
    shape = "%Y-%m-%d" if long and per != "hour" else "%Y-%m-%d %H:%M"
    how = f"{100 * held.size / instant.size:.0f} % of the rows, {first:{shape}} to {last:{shape}}"
    if per in PERIODS:
        number = times.periods(str(per))
        count = np.unique(number[held]).size
        periods = f"{per}s" if count > 1 else per
        how = f"Held out: the last {count} whole {periods}, {how}"
        if (number > number[held].max()).any():
            how += f"; rows after them are of a {per} that is not over, and are left out"
    else:
        how = f"Held out: the last {how}"
    if delay:
        waited = f"{delay.days} days" if delay.days else str(delay).removeprefix("0 days ")
        how += f", learned from rows at least {waited} older"
    return how + "."


def _amounts(column: pd.Series[Any]) -> Floats:
    """Amounts; a missing one is worth nothing."""
    values = pd.to_numeric(column, errors="coerce")
    if values.notna().sum() < column.notna().sum():
        bad = column[values.isna() & column.notna()].iloc[0]
        raise ValueError(
            f"Column {column.name!r} has {str(bad)!r}, which is not an amount: write a number, or "
            "leave it empty."
        )
    return np.asarray(values.fillna(0), dtype=float)

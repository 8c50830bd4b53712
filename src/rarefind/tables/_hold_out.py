"""Holding rows out of a table, and having them scored by models that did not see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from rarefind._core.deadline import OutOfTimeError
from rarefind._core.types import Bools, Floats, Ints, Label, Table
from rarefind.data import check_target
from rarefind.data.clock import PERIODS, Times, read_times
from rarefind.data.frames import as_frame, entity_codes
from rarefind.selection import folds
from rarefind.tables._estimate import BudgetEstimate
from rarefind.tables._plain import PLAIN, PlainXGBoost
from rarefind.tables.lists import Budget, Groups, ListRequest

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel
    from rarefind.tables._rule_model import RuleModel

# Enough held-out positives for an estimate; folds are added until there are so many.
_ENOUGH_POSITIVES = 200
_FOLDS = 5
_HELD_OUT_SHARE = 0.25
_FEWEST_POSITIVES = 5


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
    """

    parts: list[tuple[Ints, Ints]]
    how: str
    times: Times | None
    entity: Ints | None


def hold_out(
    model: TableModel | RuleModel, table: Table, *, delay: str | None = None, seed: int = 0
) -> HoldOut:
    """Choose the rows that a model is judged by.

    Where the model has a ``time``, the last quarter of the rows is held out; else as many of five
    folds at random as are needed for 200 positives. Rows of one ``entity`` stay together in folds.

    Parameters
    ----------
    model : TableModel
        What the columns mean; it need not be fitted.
    table : pandas or polars frame, or Arrow table
        Rows with labels.
    delay : str, default=None
        How long it takes until labels are known, as ``"7D"``: rows of that time before the held-out
        ones are not learned from.
    seed : int, default=0
        Of the folds.

    Returns
    -------
    HoldOut
    """
    frame = as_frame(table)
    positive = _is_positive(frame, model.target, model.positive)[1]
    entity = None if model.entity is None else _numbered(entity_codes(frame[model.entity]))
    if model.time is not None:
        times = read_times(frame[model.time])
        part, how = _last_quarter(times, positive, _length(delay))
        return HoldOut([part], how, times, entity)
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
    held_out = hold_out(model, frame) if held_out is None else held_out
    request = ListRequest(budget, per, one_per)
    owner = request.owner_column(model.entity, frame.columns)
    groups = Groups(per, model.time)
    group = None if per is None else groups.of(frame)
    label, truth = _is_positive(frame, model.target, model.positive)
    plain = plain or PlainXGBoost(model, frame)
    rows, fold, scores = [], [], []
    try:
        for number, (train, held) in enumerate(held_out.parts):
            say(f"Learning with rows held out, {number + 1} of {len(held_out.parts)}")
            copy = clone(model).set_params(positive=label)
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
    if plain.rounds < PLAIN["n_estimators"]:
        how += f" The plain XGBoost had time for {plain.rounds} of its rounds only."
    times = None if held_out.times is None else held_out.times.at(held)
    by_column = group is not None and per not in PERIODS
    return BudgetEstimate(
        how=how,
        budget=budget,
        per=per,
        rows=len(frame),
        positive=truth[held],
        priority=priority,
        probability=probability,
        fold=np.concatenate(fold),
        plain=theirs,
        amount=None if model.amount is None else _amounts(frame[model.amount])[held],
        time=None if times is None else times.instant,
        local_time=None if times is None else times.local,
        entity=None if held_out.entity is None else _numbered(held_out.entity[held]),
        group=group[held] if group is not None and by_column else None,
        group_rows=np.bincount(group) if group is not None and by_column else None,
        one_per=owner,
        owner=None if owner is None else _numbered(entity_codes(frame[owner])[held]),
    )


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


def _last_quarter(
    times: Times, positive: Bools, delay: pd.Timedelta
) -> tuple[tuple[Ints, Ints], str]:
    """Rows before and after a cut in time, with enough positives behind it."""
    instant = times.instant
    cut = np.quantile(instant, 1 - _HELD_OUT_SHARE, method="higher")
    of_positives = np.sort(instant[positive])
    if (of_positives >= cut).sum() < _FEWEST_POSITIVES:
        cut = of_positives[-min(_FEWEST_POSITIVES, of_positives.size)]
    length = delay.as_unit("ns").value
    train, held = np.flatnonzero(instant < cut - length), np.flatnonzero(instant >= cut)
    known = int(positive[train].sum())
    first, last = (
        pd.Timestamp(times.local[held[at]])
        for at in (instant[held].argmin(), instant[held].argmax())
    )
    if known < 2 or train.size - known < 2:
        raise ValueError(
            f"Before {first:%Y-%m-%d %H:%M}, where the last quarter of the rows begins, {known} "
            f"positives and {train.size - known} negatives are known: too few to learn from. Give "
            "rows of a longer time, or leave --time out."
        )
    span = int(instant.max() - instant.min())
    shape = "%Y-%m-%d" if span > pd.Timedelta("4D").as_unit("ns").value else "%Y-%m-%d %H:%M"
    how = (
        f"Held out: the last {held.size / instant.size:.0%} of the rows, {first:{shape}} to "
        f"{last:{shape}}"
    )
    if length:
        waited = f"{delay.days} days" if delay.days else str(delay).removeprefix("0 days ")
        how += f", learned from rows at least {waited} older"
    return (train, held), how + "."


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

"""The one list: the rows to check first of each period or group, each owner once.

Ranking, the estimate of a fit, monitoring and reports all list rows by these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rarefind._core.types import Array, Bools, Floats, Ints, Table
from rarefind.data.clock import PERIODS, Clock, check_per, period_names
from rarefind.data.frames import column_names, part_of
from rarefind.metrics import budget as number_of_checks

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

Budget: TypeAlias = int | float | str
#: How many checks there are for each of some groups.
Checks: TypeAlias = Callable[[Ints], Floats]


class ListRequest(NamedTuple):
    """What a list is asked for.

    Attributes
    ----------
    budget : int, float or str
        Checks, or a share of the rows; of each period or group with ``per``.
    per : str or None
        A period (hour, day, week, month, quarter), or a column with the groups.
    one_per : str, bool or None
        The column of which each value is listed once in a period or group; True for the entity.
    """

    budget: Budget
    per: str | None = None
    one_per: str | bool | None = None

    def owner_column(self, entity: str | None, names: Iterable[str]) -> str | None:
        """The column of which each value is listed once."""
        if not self.one_per:
            return None
        name = entity if self.one_per is True else self.one_per
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"one_per={self.one_per!r} does not name a column of the table.")
        return name


def request_for(
    model: TableModel,
    budget: Budget | None = None,
    per: str | None = None,
    one_per: str | bool | None = None,
) -> ListRequest | None:
    """The list that is asked for, or without a budget that of the fit; None where there is none.

    Where no budget is given, ``per`` and ``one_per`` are those of the fit as well, unless others
    are named.
    """
    if budget is not None:
        return ListRequest(budget, per, one_per)
    estimate = model.estimate_
    # Of too few rows nothing can be estimated, and what was asked for is known all the same.
    asked = getattr(model, "fitted_for_", None)
    if estimate is not None:
        fitted = ListRequest(estimate.budget, estimate.per, estimate.one_per)
    elif asked:
        fitted = ListRequest(**asked)
    else:
        return None
    return ListRequest(fitted.budget, per or fitted.per, one_per or fitted.one_per)


class Groups:
    """Which list each row competes for: that of its period, of its group, or the only one.

    Numbers of groups stay the same from piece to piece of a table. Rows that do not say their
    group are one of their own, the last.

    Parameters
    ----------
    per : str or None
        A period, or a column; None for one list of all rows.
    time : str or None
        The column with the time of a row.
    """

    def __init__(self, per: str | None, time: str | None) -> None:
        check_per(per, time)
        self._per, self._time = per, time
        self._clock = Clock()
        self._number: dict[Any, int] = {}

    def column(self, names: Iterable[str]) -> str | None:
        """The column that says the group, which has to be there; None where there is one list."""
        if self._per is None:
            return None
        names = list(names)
        name = self._time if self._per in PERIODS else self._per
        if name in names:
            return name
        if self._per in PERIODS:
            raise ValueError(
                f"A budget for each {self._per} needs the column with the time, {name!r}, and "
                "the table does not have it."
            )
        close = get_close_matches(self._per, [*PERIODS, *map(str, names)], n=1)
        hint = f"did you mean {close[0]!r}?" if close else "name one of them."
        raise ValueError(
            f"per={self._per!r} is neither a period ({', '.join(PERIODS)}) nor a column of the "
            f"table: {hint}"
        )

    def of(self, table: Table) -> Ints:
        """The number of the group of each row of a table or a piece of one."""
        name = self.column(column_names(table))
        if name is None:
            return np.zeros(len(table), dtype=np.int64)
        column = part_of(table, [name])[name]
        if self._per in PERIODS:
            return self._clock.read(column).periods(str(self._per))
        codes, values = pd.factorize(column)
        known = [value.item() if isinstance(value, np.generic) else value for value in values]
        numbers = [self._number.setdefault(value, len(self._number)) for value in known]
        numbers.append(self._number.setdefault(None, len(self._number)) if -1 in codes else -1)
        return np.array(numbers, dtype=np.int64)[codes]

    def names(self, numbers: Ints) -> Array:
        """What groups are called; None for that of rows that do not say theirs."""
        if self._per in PERIODS:
            return period_names(numbers, str(self._per))
        by_number = np.empty(len(self._number), dtype=object)
        by_number[list(self._number.values())] = list(self._number)
        return by_number[numbers]

    def places(self, numbers: Ints) -> Ints:
        """Where groups stand among each other: periods in time, other groups by their values."""
        if self._per is None or self._per in PERIODS:
            return numbers
        values = [value for value in self._number if value is not None]
        try:
            values.sort()
        except TypeError:  # values of several types
            values.sort(key=str)
        order = [self._number[value] for value in values]
        place = np.full(len(self._number), len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place[numbers]


def checks_of(budget: Budget, sizes: Mapping[int, int] | None) -> Checks:
    """How many checks each group has: a share is one of its rows, which ``sizes`` counts."""
    if sizes is None:
        return lambda group: np.full(group.size, float(budget))

    def checks(group: Ints) -> Floats:
        different, place = np.unique(group, return_inverse=True)
        found = [number_of_checks(budget, sizes[number]) for number in different.tolist()]
        return np.array(found, dtype=np.float64)[place]

    return checks


def list_order(priority: Floats, group: Ints, owner: Array | None = None) -> Ints:
    """All rows, by group and then the highest first; of equal rows the earlier one.

    With ``owner`` only the first row of each owner in each group.
    """
    order = np.lexsort((-priority, group))
    if owner is None:
        return order
    seen = pd.DataFrame({"group": group[order], "owner": owner[order]}).duplicated()
    return order[~seen.to_numpy()]


def top_rows(priority: Floats, group: Ints, checks: Checks, owner: Array | None = None) -> Ints:
    """The rows to check, in the order of :func:`list_order`."""
    order = list_order(priority, group, owner)
    return order[places(group[order]) <= checks(group[order])]


def places(group: Ints) -> Ints:
    """The place of each row among those of its group, from 1; groups are in order."""
    return np.arange(group.size) - np.searchsorted(group, group) + 1


def on_list(
    priority: Floats,
    budget: Budget,
    group: Ints | None = None,
    owner: Array | None = None,
    among: Bools | None = None,
) -> Bools:
    """Whether each row is on the list.

    Parameters
    ----------
    priority : ndarray
        Scores; higher goes first.
    budget : int, float or str
        Checks, or a share of the rows, of each group.
    group : ndarray of int, default=None
        The group of each row; by default there is one list.
    owner : ndarray, default=None
        Of the rows of an owner in a group only the highest is listed.
    among : ndarray of bool, default=None
        Rows that may be listed; the others do not count.

    Returns
    -------
    ndarray of bool
    """
    rows = np.arange(priority.size) if among is None else np.flatnonzero(among)
    own = np.zeros(rows.size, dtype=np.int64) if group is None else group[rows]
    numbers, counts = np.unique(own, return_counts=True)
    sizes = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    owners = None if owner is None else owner[rows]
    chosen = np.zeros(priority.size, dtype=bool)
    chosen[rows[top_rows(priority[rows], own, checks_of(budget, sizes), owners)]] = True
    return chosen

"""What a budget of checks finds, by rows that were scored by models that had not seen them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from rarefind._core.budget import budget_share
from rarefind._core.fields import (
    BoolArray,
    Either,
    FloatArray,
    IntArray,
    Maybe,
    PlainText,
    RealNumber,
    StateError,
    Whole,
)
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints
from rarefind.data.clock import PERIODS, Times
from rarefind.metrics import Interval
from rarefind.metrics import budget as number_of_checks
from rarefind.metrics.intervals import share_interval
from rarefind.tables._periods import in_whole_periods
from rarefind.tables.lists import Budget, ListRequest, list_order, top_rows

_LEVEL = 0.95
# Rows that are drawn again in all resamples together; more resamples would be waited for.
_ROWS_DRAWN, _FEWEST_RESAMPLES, _MOST_RESAMPLES = 40_000_000, 200, 1000
# A list that does better than this is rarely honest; of fewer checks it may be.
_TOO_GOOD, _FEWEST_CHECKS = 0.98, 20
# So is one that finds all positives, where it is short: a share of the rows, checks a positive.
_SHORT_SHARE, _SHORT_CHECKS = 0.05, 5
# With fewer positives held out, an estimate is rough.
_FEW_POSITIVES = 20


class ListValue(NamedTuple):
    """What checking the top of the list finds."""

    #: Checks in all: of a file of ``rows`` rows, or in all periods of the held-out time.
    checks: float
    #: Rows that they are chosen from.
    rows: float
    #: Listed rows that are positive. With one row an owner, its other rows are not counted.
    hits: Interval
    #: Share of all positives that are found.
    share_found: Interval
    #: Amount of the positives found; None where rows have no amount.
    amount: Interval | None
    #: Hits of as many checks at random.
    random_hits: float
    #: Hits of the list of a plain XGBoost; None where it was not done in time.
    plain_hits: float | None
    #: Hits more than that list has.
    plain_ahead: Interval | None

    @property
    def precision(self) -> Interval:
        """Share of the checks that are hits."""
        return Interval(*(bound / self.checks for bound in self.hits))

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            name: value._asdict() if isinstance(value, Interval) else value
            for name, value in {**self._asdict(), "precision": self.precision}.items()
        }


def _upgraded(version: int, state: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had times in UTC only; up to 2 a plain XGBoost may have been cut short."""
    if version < 2:
        state = {**state, "local_time": state["time"]}
    cut_short = "The plain XGBoost had time for" in state["how"]
    return {**state, "plain": None if cut_short else state["plain"]}


def _check_estimate(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    budget_share(state["budget"])
    if not sizes["n"]:
        raise StateError("no row was held out")
    if state["per"] in PERIODS and state["time"] is None and state["group"] is None:
        raise StateError("'per' is a period of rows without times")
    group, sizes_of = state["group"], state["group_rows"]
    if group is not None and sizes_of is not None and group.max() >= sizes_of.size:
        raise StateError("'group' names groups that are not there")
    # Resamples take memory by the numbers of entities.
    most = max(10**7, 100 * sizes["n"])
    for name in ("entity", "owner", "fold", "group"):
        if state[name] is not None and state[name].max() >= most:
            raise StateError(f"{name!r} holds numbers that are too large")


@saved(
    "budget-estimate",
    3,
    state=State(
        {
            "how": PlainText(),
            "budget": Either(RealNumber(0), PlainText()),
            "per": Maybe(PlainText()),
            "rows": Whole(1, 10**15),
            "positive": BoolArray("n"),
            "priority": FloatArray("n"),
            "probability": FloatArray("n", low=0, high=1),
            "fold": IntArray("n", low=0),
            "plain": Maybe(FloatArray("n")),
            "amount": Maybe(FloatArray("n", nan=True, inf=True)),
            "time": Maybe(IntArray("n")),
            "local_time": Maybe(IntArray("n")),
            "entity": Maybe(IntArray("n", low=0)),
            "group": Maybe(IntArray("n", low=0)),
            "group_rows": Maybe(IntArray("groups", low=1)),
            "one_per": Maybe(PlainText()),
            "owner": Maybe(IntArray("n", low=0)),
        },
        _check_estimate,
    ),
    upgrade=_upgraded,
)
@dataclass(frozen=True)
class BudgetEstimate:
    """Held-out rows, each scored by a model that had not seen it, and what a list of them finds.

    Priorities are those of several models where there are several folds: compare them within a
    fold only. See :func:`rarefind.tables.estimate_budget`.
    """

    #: How rows were held out, as a sentence.
    how: str
    #: Budget that was asked for, and the period or the column of the groups it is spent in.
    budget: Budget
    per: str | None
    #: Rows of the table that the held-out ones stand for.
    rows: int
    positive: Bools
    priority: Floats
    probability: Floats
    fold: Ints
    #: Scores by a plain XGBoost that learned from the same rows; None where there was no time to.
    plain: Floats | None
    amount: Floats | None = None
    #: Nanoseconds since 1970: in UTC, and as the clock on the spot showed it.
    time: Ints | None = None
    local_time: Ints | None = None
    #: Numbers of the entities that rows belong to.
    entity: Ints | None = None
    #: Where ``per`` is a column: the number of the group of each row, and the rows that each group
    #: has in the whole table.
    group: Ints | None = None
    group_rows: Ints | None = None
    #: The column of which each value is listed once, and the numbers of these owners.
    one_per: str | None = None
    owner: Ints | None = None

    @property
    def times(self) -> Times | None:
        """When the rows were."""
        if self.time is None:
            return None
        return Times(self.time, self.time if self.local_time is None else self.local_time)

    def list_value(self, budget: Budget | None = None) -> ListValue:
        """What a budget finds, with 95 % intervals by drawing rows, entities or owners again.

        Parameters
        ----------
        budget : int, float or str, default=None
            Checks or a share; by default the one that was asked for. Without times it is of a file
            as long as the one learned from; with times, of the held-out time (or each ``per``).

        Returns
        -------
        ListValue
        """
        lists, checks = self.lists(), self.checks(budget)
        scale = 1.0 if self.time is not None else self.rows / lists.size
        ours = _Walk.by(self.priority, lists, self)
        # Without a rival the list is compared with itself, and that is not told.
        rival = ours if self.plain is None else _Walk.by(self.plain, lists, self)
        ones, of, positives = np.ones(lists.size), float(checks.sum()), float(self.positive.sum())
        hits, money = ours.found(ones, checks)
        rival_hits = rival.found(ones, checks)[0]
        drawn = np.array(
            [
                (*ours.found(c, checks), rival.found(c, checks)[0], c @ self.positive)
                for c in self._draws()
            ]
        )
        found, worth, of_rival, there = drawn.T
        shares = found[there > 0] / there[there > 0]
        ahead = _interval(hits - rival_hits, found - of_rival, scale)
        return ListValue(
            checks=of * scale,
            rows=float(lists.size * scale),
            hits=_interval(hits, found, scale, of),
            share_found=_interval(hits, shares * positives, 1 / max(1.0, positives), positives),
            amount=None if self.amount is None else _interval(money, worth, scale),
            random_hits=float((checks * self._random_precision(lists)).sum() * scale),
            plain_hits=None if self.plain is None else float(rival_hits * scale),
            plain_ahead=None if self.plain is None else ahead,
        )

    def notes(self, found: ListValue, label: str) -> list[str]:
        """What to bear in mind when reading what a list finds.

        Parameters
        ----------
        found : ListValue
            From :meth:`list_value`.
        label : str
            What positives are called, as ``Fraude = Oui``.

        Returns
        -------
        list of str
            Sentences.
        """
        said = []
        positives, of = int(self.positive.sum()), f"{self.positive.size:,} held-out rows"
        if positives < _FEW_POSITIVES:
            verb = "has" if positives == 1 else "have"
            said.append(f"Only {positives} of {of} {verb} {label}: the estimate is rough.")
        too_good = self._too_good(found, positives)
        if too_good:
            said.append(
                f"{too_good} is too good to be true of most data: a column may be filled in only "
                "after a check. Leave such columns out (--drop), and fit again."
            )
        return said

    def _too_good(self, found: ListValue, positives: int) -> str:
        """What a list finds, if honest lists rarely do; else nothing."""
        checks = found.checks * self.positive.size / found.rows
        if checks >= _FEWEST_CHECKS and found.precision.value >= _TOO_GOOD:
            return f"That {100 * found.precision.value:.0f} % of the checks are hits"
        short = checks <= min(_SHORT_SHARE * self.positive.size, _SHORT_CHECKS * positives)
        if short and positives >= _FEWEST_CHECKS and found.share_found.value >= _TOO_GOOD:
            return (
                f"That {100 * found.checks / found.rows:.2g} % of the rows have "
                f"{100 * found.share_found.value:.0f} % of the positives"
            )
        return ""

    def for_list(self, request: ListRequest, entity: str | None = None) -> BudgetEstimate | None:
        """The same rows for a list of other periods or owners.

        Parameters
        ----------
        request : ListRequest
            The period or group and the owners that are asked for; its budget does not matter.
        entity : str, default=None
            The column of the entities of the model.

        Returns
        -------
        BudgetEstimate or None
            None where the held-out rows do not say the group or the owner, or cover no whole
            period.
        """
        found = self
        if request.per != self.per:
            if request.per is not None and not (request.per in PERIODS and self.times is not None):
                return None
            found = replace(found, per=request.per, group=None, group_rows=None)
            if self.times is not None and request.per is not None:
                found = found.at(in_whole_periods(self.times, request.per))
        owner = entity if request.one_per is True else request.one_per or None
        if owner != self.one_per:
            if owner is not None and (owner != entity or self.entity is None):
                return None
            found = replace(found, one_per=owner, owner=None if owner is None else found.entity)
        return found if found.positive.size else None

    def at(self, rows: Bools) -> BudgetEstimate:
        """The estimate by some of the held-out rows."""
        by_row: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name in ("positive", "priority", "probability", "fold", "plain", "amount")
        }
        for name in ("entity", "owner"):
            numbers = getattr(self, name)
            by_row[name] = None if numbers is None else _numbered(numbers[rows])
        times = self.times
        if times is not None:
            by_row.update(time=times.instant[rows], local_time=times.local[rows])
        return replace(self, **by_row)

    def within_folds(self, score: Floats) -> Floats:
        """Scores that can be compared: of several models, the places within their folds."""
        folds = np.unique(self.fold)
        if folds.size == 1:
            return score
        place = np.empty(score.size)
        for fold in folds:
            rows = self.fold == fold
            place[rows] = -(rankdata(-score[rows]) - 0.5) / rows.sum()
        return place

    def lists(self) -> Ints:
        """Number of the list that each row competes for: that of its fold, period or group."""
        group = self.group
        if self.per in PERIODS and self.times is not None:
            group = self.times.periods(str(self.per))
        lists = _numbered(self.fold)
        if group is None:
            return lists
        group = _numbered(group)
        return _numbered(lists * (group.max() + 1) + group)

    def checks(self, budget: Budget | None = None) -> Floats:
        """Checks of each list; of a fold as its share of the whole table or group."""
        budget = self.budget if budget is None else budget
        lists = self.lists()
        sizes = np.bincount(lists)
        grouped = self.group is not None and self.group_rows is not None
        if self.time is not None or (budget_share(budget) is not None and not grouped):
            checks = np.array([number_of_checks(budget, size) for size in sizes], dtype=float)
        else:
            whole = np.full(sizes.size, self.rows)
            if self.group is not None and self.group_rows is not None:
                whole[lists] = self.group_rows[self.group]
            checks = np.array([number_of_checks(budget, n) for n in whole]) * sizes / whole
        if self.owner is None:
            return checks
        return np.minimum(checks, np.bincount(lists[list_order(self.priority, lists, self.owner)]))

    def listed(self, budget: Budget | None = None) -> Bools:
        """The held-out rows that the budget would have checked, in whole checks."""
        lists, checks = self.lists(), np.round(self.checks(budget))
        chosen = np.zeros(lists.size, dtype=bool)
        chosen[top_rows(self.priority, lists, lambda number: checks[number], self.owner)] = True
        return chosen

    def _random_precision(self, lists: Ints) -> Floats:
        """Share of hits in each list, checked at random: of rows, or of one row an owner."""
        weight = np.ones(lists.size)
        if self.owner is not None:
            own = _numbered(lists * (self.owner.max() + 1) + self.owner)
            weight = 1 / np.bincount(own)[own]
        return np.bincount(lists, weights=weight * self.positive) / np.bincount(
            lists, weights=weight
        )

    def _draws(self) -> Iterator[Floats]:
        """How often each row is drawn in each resample; owners and entities come as a whole."""
        n = self.positive.size
        together = self.entity if self.owner is None else self.owner
        rng = np.random.default_rng(0)
        for _ in range(int(np.clip(_ROWS_DRAWN // n, _FEWEST_RESAMPLES, _MOST_RESAMPLES))):
            if together is None:
                yield np.bincount(rng.integers(n, size=n), minlength=n).astype(float)
            else:
                count = together.max() + 1
                drawn = np.bincount(rng.integers(count, size=count), minlength=count)
                yield drawn[together].astype(float)


class _Walk(NamedTuple):
    """Rows in the order of their lists, to go down many times."""

    order: Ints
    starts: Ints
    lists: Ints
    positive: Floats
    amount: Floats

    @classmethod
    def by(cls, score: Floats, lists: Ints, rows: BudgetEstimate) -> _Walk:
        order = list_order(score, lists, rows.owner)
        own = lists[order]
        starts = np.searchsorted(own, np.arange(own[-1] + 1))
        hit = rows.positive[order].astype(float)
        worth = np.zeros(0) if rows.amount is None else np.nan_to_num(rows.amount[order]) * hit
        return cls(order, starts, own, hit, worth)

    def found(self, count: Floats, checks: Floats) -> tuple[float, float]:
        """Hits and money of so many checks in each list, each row there so many times."""
        count = count[self.order]
        total = np.cumsum(count)
        before = total - count
        before -= before[self.starts][self.lists]
        taken = np.clip(checks[self.lists] - before, 0, count)
        money = float(taken @ self.amount) if self.amount.size else 0.0
        return float(taken @ self.positive), money


def _numbered(values: Ints) -> Ints:
    """Numbers from 0 in the order of the values."""
    return np.unique(values, return_inverse=True)[1]


def _interval(
    value: float, drawn: Floats, scale: float = 1.0, all_of: float | None = None
) -> Interval:
    """The interval of what was drawn; of a count that is nothing or all, also the binomial one.

    Drawn again, nothing is always nothing and all is always all.
    """
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]) if drawn.size else (np.nan, np.nan)
    if all_of and not 0 < value < all_of:
        few, many = share_interval(min(value, all_of), all_of)
        low, high = min(low, few * all_of), max(high, many * all_of)
    return Interval(float(value * scale), float(low * scale), float(high * scale))

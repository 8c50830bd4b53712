"""What a budget buys, by rows that were scored by models that had not seen them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from rarefind._core.budget import PERIODS, budget_share
from rarefind._core.saved import saved
from rarefind._core.types import Bools, Floats, Ints
from rarefind.metrics import Interval
from rarefind.metrics import budget as checks_bought

_LEVEL = 0.95
# Rows that are drawn again in all resamples together; more resamples would be waited for.
_ROWS_DRAWN, _FEWEST_RESAMPLES, _MOST_RESAMPLES = 40_000_000, 200, 1000


class Bought(NamedTuple):
    """What checking the top of the list finds."""

    #: Checks in all: of a file of ``rows`` rows, or in all periods of the held-out time.
    checks: float
    #: Rows that they are chosen from.
    rows: float
    hits: Interval
    #: Share of all positives that are found.
    share_found: Interval
    #: What the positives found are worth; None where rows have no amount.
    amount: Interval | None
    #: Hits of as many checks at random.
    random_hits: float
    #: Hits of the list of a plain XGBoost.
    plain_hits: float
    #: Hits more than that list has.
    plain_ahead: Interval


@saved("budget-estimate")
@dataclass(frozen=True)
class Evidence:
    """Held-out rows, each scored by a model that had not seen it.

    Priorities are those of several models where there are several folds: compare them within a
    fold only.
    """

    #: How rows were held out, as a sentence.
    how: str
    #: Budget that was asked for, and the period it is spent in.
    budget: int | float | str
    per: str | None
    #: Rows of the table that the held-out ones stand for.
    rows: int
    positive: Bools
    priority: Floats
    probability: Floats
    fold: Ints
    #: Scores by a plain XGBoost that learned from the same rows.
    plain: Floats
    amount: Floats | None = None
    #: Nanoseconds since 1970.
    time: Ints | None = None
    #: Numbers of the entities that rows belong to.
    entity: Ints | None = None

    def bought(self, budget: int | float | str | None = None) -> Bought:
        """What a budget buys, with 95 % intervals by drawing rows, or entities, again.

        Parameters
        ----------
        budget : int, float or str, default=None
            Checks or a share; by default the one that was asked for. Without times it is of a file
            as long as the one learned from; with times, of the held-out time (or each ``per``).

        Returns
        -------
        Bought
        """
        lists = self.lists()
        sizes = np.bincount(lists)
        scale = 1.0 if self._is_in_time() else self.rows / lists.size
        checks = self.checks(budget)
        ours = _Ordered.by(self.priority, lists, self.positive, self.amount)
        plain = _Ordered.by(self.plain, lists, self.positive, self.amount)
        ones = np.ones(lists.size)
        hits, money = ours.found(ones, checks)
        plain_hits, _ = plain.found(ones, checks)
        drawn = np.array(
            [
                (*ours.found(c, checks), plain.found(c, checks)[0], c @ self.positive)
                for c in self._draws()
            ]
        )
        positives = np.bincount(lists, weights=self.positive)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = drawn[:, 0] / drawn[:, 3]
        return Bought(
            checks=float(checks.sum() * scale),
            rows=float(lists.size * scale),
            hits=_interval(hits, drawn[:, 0], scale),
            share_found=_interval(hits / max(1, self.positive.sum()), shares[drawn[:, 3] > 0]),
            amount=None if self.amount is None else _interval(money, drawn[:, 1], scale),
            random_hits=float((checks * positives / np.maximum(sizes, 1)).sum() * scale),
            plain_hits=float(plain_hits * scale),
            plain_ahead=_interval(hits - plain_hits, drawn[:, 0] - drawn[:, 2], scale),
        )

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

    def _is_in_time(self) -> bool:
        """Whether the rows are those of a period, and not a sample of all."""
        return self.time is not None

    def lists(self) -> Ints:
        """Number of the list that each row competes in: that of its fold, or of its period."""
        if self.time is None or self.per is None:
            return np.unique(self.fold, return_inverse=True)[1]
        periods = pd.DatetimeIndex(self.time).to_period(PERIODS[self.per])
        return np.asarray(pd.factorize(periods, sort=True)[0])

    def checks(self, budget: int | float | str | None = None) -> Floats:
        """Checks of each list; of a fold as its share of the whole table."""
        budget = self.budget if budget is None else budget
        sizes = np.bincount(self.lists())
        if self._is_in_time() or budget_share(budget) is not None:
            return np.array([checks_bought(budget, size) for size in sizes], dtype=float)
        return checks_bought(budget, self.rows) * sizes / self.rows

    def _draws(self) -> Any:
        """How often each row is drawn in each resample."""
        n = self.positive.size
        rng = np.random.default_rng(0)
        for _ in range(int(np.clip(_ROWS_DRAWN // n, _FEWEST_RESAMPLES, _MOST_RESAMPLES))):
            if self.entity is None:
                yield np.bincount(rng.integers(n, size=n), minlength=n).astype(float)
            else:
                count = self.entity.max() + 1
                entities = np.bincount(rng.integers(count, size=count), minlength=count)
                yield entities[self.entity].astype(float)


class _Ordered(NamedTuple):
    """Rows sorted by list and score, to go down many times."""

    order: Ints
    starts: Ints
    lists: Ints
    positive: Floats
    amount: Floats

    @classmethod
    def by(cls, score: Floats, lists: Ints, positive: Bools, amount: Floats | None) -> _Ordered:
        # Rows of equal scores stand in a random order, the same every time.
        ties = np.random.default_rng(0).random(score.size)
        order = np.lexsort((ties, -score, lists))
        own = lists[order]
        starts = np.searchsorted(own, np.arange(own[-1] + 1))
        hit = positive[order].astype(float)
        worth = np.zeros(0) if amount is None else np.nan_to_num(amount[order]) * hit
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


def _interval(value: float, drawn: Floats, scale: float = 1.0) -> Interval:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]) if drawn.size else (np.nan, np.nan)
    return Interval(float(value * scale), float(low * scale), float(high * scale))

"""What a rule is worth: counted on rows, added up over pieces, and said as rates."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Self

import numpy as np

from rarefind._core.types import Bools
from rarefind.desk.measures._history import HistoryRows
from rarefind.metrics.intervals import share_interval

__all__ = ["RuleCounts", "RuleMeasures"]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """What is counted of a rule on some rows.

    Attributes
    ----------
    alerts : int
        Rows on which it fires.
    hits, false_alerts : int
        Those that are fraud, and genuine, by ripe labels.
    added : int
        Hits that nothing else has found: no other rule that denies or raises alerts, by what it is
        now, and no model.
    money, money_added : int
        The amounts of the hits, in minor units.
    not_ripe : int
        Those whose label is not ripe.
    denied : int
        Those that were denied and about which nobody has spoken: silence about a payment that was
        never made says nothing.
    """

    alerts: int = 0
    hits: int = 0
    false_alerts: int = 0
    added: int = 0
    money: int = 0
    money_added: int = 0
    not_ripe: int = 0
    denied: int = 0

    @classmethod
    def of(cls, rows: HistoryRows, fires: Bools, others: Bools) -> Self:
        """Count where a rule fires; ``others`` says where something else has raised an alert."""
        hits = fires & rows.labels.fraud
        added = hits & ~others
        amount = rows.values("amount")
        ripe = fires & rows.labels.is_ripe
        known = fires & rows.judged

        def count(where: Bools) -> int:
            return int(np.count_nonzero(where))

        return cls(
            count(fires),
            count(hits),
            count(known & ~rows.labels.fraud),
            count(added),
            int(amount[hits].sum()),
            int(amount[added].sum()),
            count(fires) - count(ripe),
            count(ripe & ~known),
        )

    def __add__(self, other: RuleCounts) -> RuleCounts:
        return RuleCounts(*map(sum, zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class RuleMeasures:
    """What a rule is worth, with what it was counted on.

    Attributes
    ----------
    counts : RuleCounts
    frauds, genuine : int
        Ripe labels among all rows, whether it fires there or not.
    not_ripe : int
        Rows whose label is not ripe.
    fraud_money : int
        The amounts of all frauds, in minor units.
    days : int
        From the first row to the last.
    """

    counts: RuleCounts
    frauds: int
    genuine: int
    not_ripe: int
    fraud_money: int
    days: int

    @property
    def precision(self) -> float | None:
        """The share of hits among alerts with known labels; None where there are none."""
        return _share(self.counts.hits, self.counts.hits + self.counts.false_alerts)

    @property
    def precision_interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        return share_interval(self.counts.hits, self.counts.hits + self.counts.false_alerts)

    @property
    def detection_rate(self) -> float | None:
        """The share of all frauds that it finds."""
        return _share(self.counts.hits, self.frauds)

    @property
    def detection_interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        return share_interval(self.counts.hits, self.frauds)

    @property
    def false_alert_rate(self) -> float | None:
        """The share of what is genuine on which it fires."""
        return _share(self.counts.false_alerts, self.genuine)

    @property
    def false_alert_interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        return share_interval(self.counts.false_alerts, self.genuine)

    @property
    def alerts_a_day(self) -> float | None:
        """Alerts, ripe or not, by days."""
        return _share(self.counts.alerts, self.days)

    @property
    def false_alerts_a_day(self) -> float | None:
        """False alerts by days; alerts that are not ripe count with the share of the others."""
        precision = self.precision
        if precision is None or not self.days:
            return None
        return self.counts.alerts * (1 - precision) / self.days


@dataclass(slots=True)
class Totals:
    """What is counted of rows whatever fires there."""

    frauds: int = 0
    genuine: int = 0
    not_ripe: int = 0
    fraud_money: int = 0
    first_day: int | None = None
    last_day: int | None = None

    def add(self, rows: HistoryRows) -> None:
        """Add some rows."""
        if not len(rows):
            return
        fraud = rows.labels.fraud
        self.frauds += int(np.count_nonzero(fraud))
        self.genuine += int(np.count_nonzero(rows.judged & ~fraud))
        self.not_ripe += rows.labels.not_ripe
        self.fraud_money += int(rows.values("amount")[fraud].sum())
        first, last = int(rows.day.min()), int(rows.day.max())
        self.first_day = first if self.first_day is None else min(self.first_day, first)
        self.last_day = last if self.last_day is None else max(self.last_day, last)

    @property
    def days(self) -> int:
        """From the first day to the last."""
        if self.first_day is None or self.last_day is None:
            return 0
        return self.last_day - self.first_day + 1

    def measures(self, counts: RuleCounts) -> RuleMeasures:
        """Return what a rule with these counts is worth."""
        return RuleMeasures(
            counts, self.frauds, self.genuine, self.not_ripe, self.fraud_money, self.days
        )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

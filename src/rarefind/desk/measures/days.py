"""What happened on each day, as people look at it: read from what the worker has counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from rarefind.data.clock import nanoseconds
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, Row, migrate
from rarefind.desk.measures._day_names import day_begins, day_of
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.measures.recall import RandomChecks, RecallEstimate, estimate_recall
from rarefind.desk.schema import Schema
from rarefind.metrics.intervals import share_interval

__all__ = ["DayFigures", "DayLine", "Days"]

#: Recall is that of so many days up to a day: a day alone has hardly a random check.
RECALL_DAYS = 28
_NOTHING = RandomChecks(0, 0, 0, 0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class DayFigures:
    """A day of a desk, by the clocks of its time zone.

    Attributes
    ----------
    day : str
        As 2026-01-31.
    is_ripe : bool
        Whether what nobody has spoken of counts as genuine by now; before, figures may grow.
    transactions, denied, alerts, drawn : int
        Made on that day: all, those denied, those that raised an alert, and those drawn at random.
    opened, checked, hits, unclear, expired : int
        Cases that were opened on that day, and what became of them by now.
    frauds, frauds_amount : int
        Transactions of that day that are known to be fraud, and their amounts in minor units.
    lag_median, lag_most : int or None
        The time from a transaction to its label, of half of the labels and of nine in ten.
    random : RandomChecks
        What random checks have found of that day.
    recall : RecallEstimate or None
        Of the four weeks up to that day.
    """

    day: str
    is_ripe: bool
    transactions: int
    denied: int
    alerts: int
    drawn: int
    opened: int
    checked: int
    hits: int
    unclear: int
    expired: int
    frauds: int
    frauds_amount: int
    lag_median: int | None
    lag_most: int | None
    random: RandomChecks
    recall: RecallEstimate | None

    @property
    def precision(self) -> float | None:
        """The share of hits among the checks that came to a result; None without one."""
        judged = self.checked - self.unclear
        return self.hits / judged if judged else None

    @property
    def precision_interval(self) -> tuple[float, float]:
        """Its 95 % interval."""
        judged = self.checked - self.unclear
        return share_interval(self.hits, judged) if judged else (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class DayLine:
    """A rule or a model over some days: one entry a day.

    ``counts`` are transactions that it fired on or scored, ``alerts`` those that raised one,
    ``checked`` those with a verdict and ``hits`` those that were fraud.
    """

    name: str
    counts: tuple[int, ...]
    alerts: tuple[int, ...]
    checked: tuple[int, ...]
    hits: tuple[int, ...]


class Days:
    """The days of a desk.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    schema : Schema
    clock : DeskClock
    """

    def __init__(self, database: Database, schema: Schema, clock: DeskClock) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._clock = database, clock
        self._zone = schema.transaction.time_zone
        self._delay = nanoseconds("labels.delay", schema.labels.delay)

    def names(self, days: int) -> list[str]:
        """The last days up to today, the oldest first."""
        today = date.fromisoformat(day_of(self._clock.now(), self._zone))
        return [(today - timedelta(days=back)).isoformat() for back in reversed(range(days))]

    def read(self, days: int = 28) -> list[DayFigures]:
        """Return the last days up to today, the oldest first, those without anything too."""
        names = self.names(days + RECALL_DAYS - 1)
        since = names[0]
        counts = self._by_day(
            "SELECT day, transactions, denied, risk, drawn, cannot_be_drawn, least_propensity "
            "FROM day_counts WHERE day >= :since",
            since,
        )
        labels = self._by_day(
            "SELECT day, frauds, frauds_amount, lag_median, lag_most, hits, drawn_checked, "
            "drawn_hits, drawn_weight, drawn_squares FROM day_labels WHERE day >= :since",
            since,
        )
        cases = self._by_day(
            "SELECT day, opened, checked, hits, unclear, expired FROM day_cases "
            "WHERE day >= :since",
            since,
        )
        random = [_random(counts.get(name), labels.get(name)) for name in names]
        ripe_before = day_of(self._clock.now() - self._delay, self._zone)
        found = []
        for at in range(RECALL_DAYS - 1, len(names)):
            name = names[at]
            transactions, denied, alerts, drawn = counts.get(name, (0,) * 4)[:4]
            opened, checked, hits, unclear, expired = cases.get(name, (0,) * 5)
            frauds, amount, median, most = labels.get(name, (0, 0, None, None))[:4]
            found.append(
                DayFigures(
                    day=name,
                    is_ripe=name < ripe_before,
                    transactions=transactions,
                    denied=denied,
                    alerts=alerts,
                    drawn=drawn,
                    opened=opened,
                    checked=checked,
                    hits=hits,
                    unclear=unclear,
                    expired=expired,
                    frauds=frauds,
                    frauds_amount=amount,
                    lag_median=median,
                    lag_most=most,
                    random=random[at],
                    recall=estimate_recall(random[at - RECALL_DAYS + 1 : at + 1]),
                )
            )
        return found

    def rules(self, names: Sequence[str]) -> list[DayLine]:
        """Return what each rule did on some days that follow each other, by its name."""
        return self._lines("day_rules", "rule", "fired", names)

    def models(self, names: Sequence[str]) -> list[DayLine]:
        """Return what each model did on some days that follow each other, by its digest."""
        return self._lines("day_models", "model", "scored", names)

    def begins(self, day: str) -> int:
        """When a day begins."""
        return day_begins(day, self._zone)

    def _lines(self, table: str, kind: str, count: str, names: Sequence[str]) -> list[DayLine]:
        place = {name: at for at, name in enumerate(names)}
        lines: dict[str, list[list[int]]] = {}

        def columns(name: str) -> list[list[int]]:
            if name not in lines:
                lines[name] = [[0] * len(names) for _ in range(4)]
            return lines[name]

        for day, name, counted, alerts in self._database.read(
            f"SELECT day, {kind}, {count}, alerts FROM {table} "
            "WHERE day >= :since AND day <= :last",
            since=names[0],
            last=names[-1],
        ):
            own = columns(name)
            own[0][place[day]], own[1][place[day]] = counted, alerts
        for day, name, checked, hits in self._database.read(
            "SELECT day, name, checked, hits FROM day_labels_of "
            "WHERE day >= :since AND day <= :last AND kind = :kind",
            since=names[0],
            last=names[-1],
            kind=kind,
        ):
            own = columns(name)
            own[2][place[day]], own[3][place[day]] = checked, hits
        return [
            DayLine(name, *(tuple(column) for column in own)) for name, own in sorted(lines.items())
        ]

    def _by_day(self, sql: str, since: str) -> dict[str, Row]:
        return {row[0]: row[1:] for row in self._database.read(sql, since=since)}


def _random(counts: Row | None, labels: Row | None) -> RandomChecks:
    """What random checks have found of a day; a day without transactions tells nothing."""
    if counts is None:
        return _NOTHING
    drawn, cannot_be_drawn, least = counts[3:6]
    hits, checked, drawn_hits, weight, squares = (
        (0, 0, 0, 0.0, 0.0) if labels is None else labels[4:]
    )
    return RandomChecks(
        found=int(hits),
        drawn=drawn,
        checked=int(checked),
        hits=int(drawn_hits),
        weight=float(weight),
        squares=float(squares),
        least=float(least),
        cannot_be_drawn=cannot_be_drawn,
    )

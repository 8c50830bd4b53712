"""Pictures of the last days: what was checked and found, and what each rule and model did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Final

from babel.dates import format_date

from rarefind.desk.charts import Chart, ChartLine, day_lines
from rarefind.desk.measures.days import DayFigures, DayLine
from rarefind.desk.pages.chart_words import chart_words
from rarefind.desk.pages.visit import Visit

__all__ = ["DayPictures"]

_HOUR: Final = 3_600 * 10**9


class DayPictures:
    """Draws some days; the pictures of a page share them.

    Parameters
    ----------
    visit : Visit
    days : sequence of DayFigures
        The oldest first.

    Attributes
    ----------
    names : list of str
        The days in the reader's language.
    """

    def __init__(self, visit: Visit, days: Sequence[DayFigures]) -> None:
        self._t, self._show, self._days = visit.t, visit.show, days
        self.names = [
            format_date(date.fromisoformat(day.day), "d MMM", locale=visit.t.locale) for day in days
        ]

    def of_days(self) -> list[Chart]:
        """Return what was checked and found, and how well and soon it was known."""
        return [self._counts(), self._precision(), self._recall(), self._lag()]

    def of_lines(self, kind: str, lines: Sequence[DayLine]) -> list[Chart]:
        """Return the alerts and the hits of rules or models; nothing where there are none."""
        if not lines:
            return []
        alerts = [ChartLine(line.name, line.alerts) for line in lines]
        hits = [ChartLine(line.name, line.hits) for line in lines]
        return [
            self._draw(f"{kind}-alerts", f"{kind}_alerts", alerts, self._show.number),
            self._draw(f"{kind}-hits", f"{kind}_hits", hits, self._show.number),
        ]

    def _counts(self) -> Chart:
        days, t = self._days, self._t
        lines = [
            ChartLine(t("monitoring.opened"), [day.opened for day in days]),
            ChartLine(t("monitoring.checked"), [day.checked for day in days]),
            ChartLine(t("monitoring.hits"), [day.hits for day in days]),
        ]
        return self._draw("counts", "counts_title", lines, self._show.number)

    def _precision(self) -> Chart:
        intervals = [
            (None, None) if day.precision is None else day.precision_interval for day in self._days
        ]
        line = ChartLine(
            self._t("monitoring.precision"),
            [day.precision for day in self._days],
            [low for low, _ in intervals],
            [high for _, high in intervals],
        )
        return self._draw("precision", "precision_title", [line], self._show.percent, top=1.0)

    def _recall(self) -> Chart:
        recalls = [day.recall for day in self._days]
        line = ChartLine(
            self._t("monitoring.recall"),
            [None if each is None else each.value for each in recalls],
            [None if each is None else each.low for each in recalls],
            [None if each is None else each.high for each in recalls],
        )
        return self._draw("recall", "recall_title", [line], self._show.percent, top=1.0)

    def _lag(self) -> Chart:
        lines = [
            ChartLine(self._t("monitoring.lag_median"), _hours(d.lag_median for d in self._days)),
            ChartLine(self._t("monitoring.lag_most"), _hours(d.lag_most for d in self._days)),
        ]
        return self._draw("lag", "lag_title", lines, lambda h: self._show.length(int(h * _HOUR)))

    def _draw(
        self,
        name: str,
        title: str,
        lines: Sequence[ChartLine],
        number: Callable[[float], str],
        top: float | None = None,
    ) -> Chart:
        return day_lines(
            self.names,
            lines,
            name=name,
            title=self._t(f"monitoring.{title}"),
            ripe=[day.is_ripe for day in self._days],
            top=top,
            number=number,
            words=chart_words(self._t),
        )


def _hours(lags: Iterable[int | None]) -> list[float | None]:
    return [None if lag is None else lag / _HOUR for lag in lags]

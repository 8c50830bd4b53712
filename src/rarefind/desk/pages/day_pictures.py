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

#: A day, an hour, a minute and a second.
_UNITS: Final = tuple(seconds * 10**9 for seconds in (86_400, 3_600, 60, 1))


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
        median, most = [d.lag_median for d in self._days], [d.lag_most for d in self._days]
        longest = max((lag for lag in (*median, *most) if lag is not None), default=0)
        # Numbers beside the picture are round in the unit in which people would count them.
        unit = next((each for each in _UNITS if longest >= 2 * each), _UNITS[-1])
        lines = [
            ChartLine(self._t("monitoring.lag_median"), _counted(median, unit)),
            ChartLine(self._t("monitoring.lag_most"), _counted(most, unit)),
        ]
        return self._draw(
            "lag", "lag_title", lines, lambda count: self._show.length(round(count * unit))
        )

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


def _counted(lags: Iterable[int | None], unit: int) -> list[float | None]:
    return [None if lag is None else lag / unit for lag in lags]

"""Monitoring: what happened day by day, what is known of it, and what has changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Final

from babel.dates import format_date
from fastapi import APIRouter
from starlette.responses import Response

from rarefind.data.clock import nanoseconds
from rarefind.desk.charts import Chart, ChartLine, day_lines
from rarefind.desk.measures.days import DayFigures, DayLine
from rarefind.desk.measures.drift import read_drift
from rarefind.desk.pages.chart_words import chart_words
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs
from rarefind.metrics import Interval
from rarefind.metrics.intervals import share_interval

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/monitoring"
in_menu(50, "monitoring.title", PATH, "read")

#: How many days a page shows, and how many lines are told apart by colour.
_DAYS: Final = (7, 28, 56)
_LINES: Final = 6
_HOUR: Final = 3_600 * 10**9


@router.get(PATH)
def show_monitoring(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show the last days."""
    asked = visit.request.query_params.get("days", "")
    length = int(asked) if asked in map(str, _DAYS) else _DAYS[1]
    door = visit.door
    days = door.figures.days.read(length)
    names = [day.day for day in days]
    models = {row.digest: row.name for row in door.control.models.all()}
    rule_lines = _loudest(door.figures.days.rules(names))
    model_lines = _loudest(
        [
            DayLine(models.get(line.name, line.name[:12]), *_columns(line))
            for line in door.figures.days.models(names)
        ]
    )
    return visit.page(
        "monitoring.html",
        days=days,
        length=length,
        lengths=_DAYS,
        written={day: _written(visit, day) for day in names},
        precision=_precision(days),
        recall=days[-1].recall,
        lag=next((day for day in reversed(days) if day.lag_median is not None), None),
        parity=door.parity.last(length),
        latency=list(reversed(door.figures.latency.since(names[0]))),
        drift=read_drift(door.database),
        models=models,
        pictures=_pictures(visit, days),
        rule_pictures=_line_pictures(visit, "rules", names, rule_lines, days),
        model_pictures=_line_pictures(visit, "models", names, model_lines, days),
        delay=visit.show.length(nanoseconds("labels.delay", door.schema.labels.delay)),
    )


def _written(visit: Visit, day: str) -> str:
    """A day in the reader's language."""
    return format_date(date.fromisoformat(day), "d MMM", locale=visit.t.locale)


def _precision(days: Sequence[DayFigures]) -> Interval | None:
    """The precision of all checks of these days that came to a result."""
    judged = sum(day.checked - day.unclear for day in days)
    hits = sum(day.hits for day in days)
    return Interval(hits / judged, *share_interval(hits, judged)) if judged else None


def _pictures(visit: Visit, days: Sequence[DayFigures]) -> list[Chart]:
    t, show = visit.t, visit.show
    names = [_written(visit, day.day) for day in days]
    ripe = [day.is_ripe for day in days]
    words = chart_words(t)

    def percent(share: float) -> str:
        return show.percent(share)

    known = [day.precision is not None for day in days]
    counts = day_lines(
        names,
        [
            ChartLine(t("monitoring.opened"), [day.opened for day in days]),
            ChartLine(t("monitoring.checked"), [day.checked for day in days]),
            ChartLine(t("monitoring.hits"), [day.hits for day in days]),
        ],
        name="counts",
        title=t("monitoring.counts_title"),
        ripe=ripe,
        number=show.number,
        words=words,
    )
    precision = day_lines(
        names,
        [
            ChartLine(
                t("monitoring.precision"),
                [day.precision for day in days],
                [day.precision_interval[0] if is_known else None
                 for day, is_known in zip(days, known, strict=True)],
                [day.precision_interval[1] if is_known else None
                 for day, is_known in zip(days, known, strict=True)],
            )
        ],
        name="precision",
        title=t("monitoring.precision_title"),
        ripe=ripe,
        top=1.0,
        number=percent,
        words=words,
    )  # fmt: skip
    recalls = [day.recall for day in days]
    recall = day_lines(
        names,
        [
            ChartLine(
                t("monitoring.recall"),
                [None if each is None else each.value for each in recalls],
                [None if each is None else each.low for each in recalls],
                [None if each is None else each.high for each in recalls],
            )
        ],
        name="recall",
        title=t("monitoring.recall_title"),
        ripe=ripe,
        top=1.0,
        number=percent,
        words=words,
    )
    lag = day_lines(
        names,
        [
            ChartLine(t("monitoring.lag_median"), [_hours(day.lag_median) for day in days]),
            ChartLine(t("monitoring.lag_most"), [_hours(day.lag_most) for day in days]),
        ],
        name="lag",
        title=t("monitoring.lag_title"),
        ripe=ripe,
        number=lambda hours: show.length(int(hours * _HOUR)),
        words=words,
    )
    return [counts, precision, recall, lag]


def _line_pictures(
    visit: Visit, kind: str, names: Sequence[str], lines: Sequence[DayLine],
    days: Sequence[DayFigures],
) -> list[Chart]:  # fmt: skip
    if not lines:
        return []
    shown, ripe = [_written(visit, name) for name in names], [day.is_ripe for day in days]
    return [
        day_lines(
            shown,
            [ChartLine(line.name, own(line)) for line in lines],
            name=f"{kind}-{what}",
            title=visit.t(f"monitoring.{kind}_{what}"),
            ripe=ripe,
            number=visit.show.number,
            words=chart_words(visit.t),
        )
        for what, own in (("alerts", _alerts), ("hits", _hits))
    ]


def _alerts(line: DayLine) -> Sequence[float]:
    return line.alerts


def _hits(line: DayLine) -> Sequence[float]:
    return line.hits


def _columns(line: DayLine) -> tuple[tuple[int, ...], ...]:
    return line.counts, line.alerts, line.checked, line.hits


def _loudest(lines: Sequence[DayLine]) -> list[DayLine]:
    """The lines with the most alerts: more cannot be told apart."""
    return sorted(lines, key=lambda line: (-sum(line.alerts), -sum(line.counts), line.name))[
        :_LINES
    ]


def _hours(lag: int | None) -> float | None:
    return None if lag is None else lag / _HOUR

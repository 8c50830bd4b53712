"""Monitoring: what happened day by day, what is known of it, and what has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.data.clock import nanoseconds
from rarefind.desk.measures.days import DayFigures, DayLine
from rarefind.desk.measures.drift import read_drift
from rarefind.desk.pages.day_pictures import DayPictures
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


@router.get(PATH)
def show_monitoring(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show the last days."""
    asked = visit.request.query_params.get("days", "")
    length = int(asked) if asked in map(str, _DAYS) else _DAYS[1]
    door = visit.door
    days = door.figures.days.read(length)
    names = [day.day for day in days]
    pictures = DayPictures(visit, days)
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
        written=dict(zip(names, pictures.names, strict=True)),
        precision=_precision(days),
        recall=days[-1].recall,
        lag=next((day for day in reversed(days) if day.lag_median is not None), None),
        parity=door.parity.last(length),
        latency=list(reversed(door.figures.latency.since(names[0]))),
        drift=read_drift(door.database),
        models=models,
        pictures=pictures.of_days(),
        rule_pictures=pictures.of_lines("rules", rule_lines),
        model_pictures=pictures.of_lines("models", model_lines),
        delay=visit.show.length(nanoseconds("labels.delay", door.schema.labels.delay)),
    )


def _precision(days: Sequence[DayFigures]) -> Interval | None:
    """The precision of all checks of these days that came to a result."""
    judged = sum(day.checked - day.unclear for day in days)
    hits = sum(day.hits for day in days)
    return Interval(hits / judged, *share_interval(hits, judged)) if judged else None


def _columns(line: DayLine) -> tuple[tuple[int, ...], ...]:
    return line.counts, line.alerts, line.checked, line.hits


def _loudest(lines: Sequence[DayLine]) -> list[DayLine]:
    """The lines with the most alerts: more cannot be told apart."""
    return sorted(lines, key=lambda line: (-sum(line.alerts), -sum(line.counts), line.name))[
        :_LINES
    ]

"""Lines by day, with the range that they are known in; days that are not ripe are grey."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from rarefind.desk.charts._chart import (
    HEIGHT,
    WIDTH,
    Chart,
    ChartWords,
    WriteNumber,
    bare_figure,
    element,
    figure,
    frame,
    legend,
    plain_number,
    plot,
    table,
)
from rarefind.desk.charts._scale import PlotHeights, PlotPlaces, spread_labels

__all__ = ["ChartLine", "day_lines"]

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line: a value a day, None where there is none; with an interval if ``low`` and ``high``."""

    name: str
    values: Values
    low: Values | None = None
    high: Values | None = None


def day_lines(
    days: Sequence[str],
    lines: Sequence[ChartLine],
    *,
    name: str,
    title: str,
    description: str = "",
    ripe: Sequence[bool] | None = None,
    top: float | None = None,
    number: WriteNumber = plain_number,
    words: ChartWords | None = None,
) -> Chart:
    """Show what a few things were day by day.

    Parameters
    ----------
    days : sequence of str
        As they are written in the reader's language, the oldest first.
    lines : sequence of ChartLine
        Up to six are told apart by colour.
    name : str
        Of the picture, once a page.
    title, description : str
        The description is read aloud; the last values if it is empty.
    ripe : sequence of bool, optional
        Whether the labels of a day are ripe; the others are greyed.
    top : float, optional
        The highest value that there can be, such as 1 for shares.
    number : callable
        Writes a value.
    words : ChartWords, optional
    """
    words = words or ChartWords()
    is_ripe = [True] * len(days) if ripe is None else list(ripe)
    if all(each is None for line in lines for each in line.values):
        return bare_figure(title, words.nothing)
    scale = PlotHeights(
        (each for line in lines for column in _columns(line) for each in column), top
    )
    places = PlotPlaces(0, len(days) - 1)
    half = WIDTH / max(len(days) - 1, 1) / 2
    shapes = [
        element(
            "rect", x=max(places.x(at) - half, 0.0), y=0, height=HEIGHT,
            width=min(2 * half, WIDTH - max(places.x(at) - half, 0.0)), class_="chart-unripe",
        )
        for at, known in enumerate(is_ripe)
        if not known
    ]  # fmt: skip
    shapes += [
        element("line", x1=0, x2=WIDTH, y1=scale.y(tick), y2=scale.y(tick), class_="chart-grid")
        for tick in scale.ticks
    ]
    for at, line in enumerate(lines):
        shapes += _drawn(line, f"series-{at % 6 + 1}", days, scale, places, number)
    spoken = description or "; ".join(f"{line.name}: {_last(line, days, number)}" for line in lines)
    picture = plot(shapes, name=name, title=title, description=spoken, class_="chart-lines")
    content = frame(picture, [number(tick) for tick in scale.ticks], spread_labels(list(days)))
    keys = [(f"series-{at % 6 + 1}", line.name) for at, line in enumerate(lines)]
    if len(lines) == 1 and lines[0].name in title:
        keys = []
    content += legend(keys if all(is_ripe) else [*keys, ("chart-unripe", words.unripe)])
    rows = [
        (day if known else f"{day} ({words.unripe})", *(_cell(line, at, number) for line in lines))
        for at, (day, known) in enumerate(zip(days, is_ripe, strict=True))
    ]
    head = [words.day, *(line.name for line in lines)]
    return figure(title, content, table(head, rows[::-1], title), words)


def _columns(line: ChartLine) -> Iterator[Values]:
    yield line.values
    if line.low is not None and line.high is not None:
        yield line.low
        yield line.high


def _drawn(
    line: ChartLine,
    kind: str,
    days: Sequence[str],
    scale: PlotHeights,
    places: PlotPlaces,
    number: WriteNumber,
) -> Iterator[str]:
    """The band, the line and the dots, with a gap wherever a value is missing."""
    if line.low is not None and line.high is not None:
        for piece in _pieces(line.low, line.high):
            above = [f"{places.x(at):.2f},{scale.y(high):.2f}" for at, _, high in piece]
            below = [f"{places.x(at):.2f},{scale.y(low):.2f}" for at, low, _ in piece[::-1]]
            yield element("polygon", points=" ".join(above + below), class_=f"chart-band {kind}")
    for piece in _pieces(line.values, line.values):
        points = " ".join(f"{places.x(at):.2f},{scale.y(value):.2f}" for at, value, _ in piece)
        yield element("polyline", points=points, class_=f"chart-line {kind}")
        for at, value, _ in piece:
            told = element("title", escape(f"{days[at]}, {line.name}: {_cell(line, at, number)}"))
            place = f"M{places.x(at):.2f} {scale.y(value):.2f}h0"
            yield element("path", told, d=place, class_=f"chart-dot {kind}")


def _pieces(low: Values, high: Values) -> Iterator[list[tuple[int, float, float]]]:
    """Runs of days without a missing value."""
    piece: list[tuple[int, float, float]] = []
    for at, (lower, upper) in enumerate(zip(low, high, strict=True)):
        if lower is None or upper is None:
            if piece:
                yield piece
            piece = []
        else:
            piece.append((at, lower, upper))
    if piece:
        yield piece


def _cell(line: ChartLine, at: int, number: WriteNumber) -> str:
    value = line.values[at]
    if value is None:
        return "–"
    low = None if line.low is None else line.low[at]
    high = None if line.high is None else line.high[at]
    if low is None or high is None:
        return number(value)
    return f"{number(value)} ({number(low)}–{number(high)})"


def _last(line: ChartLine, days: Sequence[str], number: WriteNumber) -> str:
    known = [at for at, value in enumerate(line.values) if value is not None]
    return f"{_cell(line, known[-1], number)}, {days[known[-1]]}" if known else "–"

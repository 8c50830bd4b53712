"""Whether what was predicted is what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt

from rarefind.desk.charts._chart import (
    HEIGHT,
    WIDTH,
    Chart,
    ChartWords,
    WriteNumber,
    element,
    figure,
    frame,
    legend,
    plot,
    table,
)

__all__ = ["Bin", "calibration"]


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases of about one predicted probability, and the share of them that was found."""

    predicted: float
    observed: float
    count: int
    low: float | None = None
    high: float | None = None


def calibration(
    bins: Sequence[Bin],
    *,
    name: str,
    title: str,
    description: str = "",
    share: WriteNumber = "{:.3g}".format,
    words: ChartWords | None = None,
) -> Chart:
    """Show predicted probabilities beside the shares that were found, with their intervals.

    Both axes are by square root, from 0 to 1, so that small probabilities have room.

    Parameters
    ----------
    bins : sequence of Bin
    name : str
        Of the picture, once a page.
    title, description : str
    share : callable
        Writes a probability.
    words : ChartWords, optional
    """
    words = words or ChartWords()
    shapes = [
        element("line", x1=0, x2=WIDTH, y1=_y(tick), y2=_y(tick), class_="chart-grid")
        for tick in _TICKS
    ]
    shapes.append(element("line", x1=0, y1=HEIGHT, x2=WIDTH, y2=0, class_="chart-perfect"))
    for each in bins:
        x = WIDTH * sqrt(each.predicted)
        if each.low is not None and each.high is not None:
            ends = {"y1": _y(each.low), "y2": _y(each.high)}
            shapes.append(element("line", x1=x, x2=x, **ends, class_="chart-whisker"))
        told = f"{share(each.predicted)} → {_observed(each, share)}, {each.count}"
        place = f"M{x:.2f} {_y(each.observed):.2f}h0"
        dot = element("title", escape(told))
        shapes.append(element("path", dot, d=place, class_="chart-dot series-1"))
    spoken = description or f"{words.predicted} → {words.observed}"
    picture = plot(shapes, name=name, title=title, description=spoken, class_="chart-calibration")
    content = frame(picture, [share(tick) for tick in _TICKS], [share(t) for t in _TICKS[::-1]])
    content += legend([("series-1", words.observed), ("chart-perfect", words.perfect)])
    rows = [(share(e.predicted), _observed(e, share), f"{e.count:,}") for e in bins]
    head = [words.predicted, words.observed, words.count]
    return figure(title, content, table(head, rows, title), words)


#: Equally far apart by their square roots, the highest first.
_TICKS = (1.0, 0.5625, 0.25, 0.0625, 0.0)


def _y(share: float) -> float:
    return HEIGHT * (1 - sqrt(min(max(share, 0.0), 1.0)))


def _observed(each: Bin, share: WriteNumber) -> str:
    if each.low is None or each.high is None:
        return share(each.observed)
    return f"{share(each.observed)} ({share(each.low)}–{share(each.high)})"

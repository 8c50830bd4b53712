"""Bars beside their names: a table whose last column is a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rarefind.desk.charts._chart import (
    Chart,
    ChartWords,
    WriteNumber,
    element,
    plain_number,
)

__all__ = ["Bar", "Push", "bars", "reason_bars"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its name; ``low`` and ``high`` are its interval, ``kind`` a class of CSS."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    kind: str = "series-1"


@dataclass(frozen=True, slots=True)
class Push:
    """Something that holds: its share of the reason, and whether it lowers the score."""

    text: str
    share: float
    lowers: bool = False


def bars(
    values: Sequence[Bar],
    *,
    title: str,
    number: WriteNumber = plain_number,
    words: ChartWords | None = None,
) -> Chart:
    """Show values that are not negative as bars of one scale.

    Parameters
    ----------
    values : sequence of Bar
    title : str
    number : callable
        Writes a value.
    words : ChartWords, optional
    """
    words = words or ChartWords()
    longest = max([each.high or each.value for each in values] + [0.0]) or 1.0
    rows = []
    for each in values:
        shapes = element(
            "rect", x=0, y=20, width=_part(each.value, longest), height=60, class_=each.kind
        )
        told = number(each.value)
        if each.low is not None and each.high is not None:
            told += f" ({number(each.low)}–{number(each.high)})"
            ends = _part(each.low, longest), _part(each.high, longest)
            shapes += element("line", x1=ends[0], x2=ends[1], y1=50, y2=50, class_="chart-whisker")
        rows.append(_row(each.label, told, shapes, "0 0 1000 100"))
    return _as_table(title, (words.name, words.value), rows, "chart-bars")


def reason_bars(
    pushes: Sequence[Push],
    *,
    title: str,
    share: WriteNumber = "{:.0%}".format,
    words: ChartWords | None = None,
) -> Chart:
    """Show what raises a score, to the right, and what lowers it, to the left.

    Parameters
    ----------
    pushes : sequence of Push
        The heaviest first.
    title : str
    share : callable
        Writes a share.
    words : ChartWords, optional

    Examples
    --------
    >>> pushes = [Push("4.4 × the card's usual amount", 0.7), Push("a known terminal", 0.2, True)]
    >>> str(reason_bars(pushes, title="Why")).count('class="lowers"')
    1
    """
    words = words or ChartWords()
    longest = max([each.share for each in pushes] + [0.0]) or 1.0
    two_sided = any(each.lowers for each in pushes)
    rows = []
    for each in pushes:
        width = _part(each.share, longest)
        kind = "lowers" if each.lowers else "raises"
        shapes = element(
            "rect", x=-width if each.lowers else 0, y=15, width=width, height=70, class_=kind
        )
        if two_sided:
            shapes += element("line", x1=0, x2=0, y1=0, y2=100, class_="chart-axis")
        told = f"{words.lowers if each.lowers else words.raises} {share(each.share)}"
        rows.append(_row(each.text, told, shapes, f"{-1000 if two_sided else 0} 0 "
                         f"{2000 if two_sided else 1000} 100"))  # fmt: skip
    return _as_table(title, (words.reason, words.share), rows, "chart-reasons")


def _part(value: float, longest: float) -> float:
    return 1000 * max(value, 0.0) / longest


def _row(label: str, told: str, shapes: str, box: str) -> str:
    # The number says it already: the bar is for the eyes alone.
    picture = element(
        "svg", shapes, viewBox=box, preserveAspectRatio="none", class_="chart-bar",
        aria_hidden="true", focusable="false",
    )  # fmt: skip
    return element(
        "tr",
        element("th", element("bdi", escape(label)), scope="row")
        + element("td", picture + element("span", escape(told), class_="chart-value")),
    )


def _as_table(title: str, head: tuple[str, str], rows: list[str], kind: str) -> Chart:
    top = "".join(element("th", escape(each), scope="col") for each in head)
    return Chart(
        element(
            "table",
            element("caption", escape(title))
            + element("thead", element("tr", top), class_="visually-hidden")
            + element("tbody", "".join(rows)),
            class_=f"chart {kind}",
        )
    )

"""What every picture has: a frame with numbers beside it, a legend, and a table of the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = [
    "Chart",
    "ChartWords",
    "WriteNumber",
    "bare_figure",
    "element",
    "figure",
    "frame",
    "legend",
    "plain_number",
    "plot",
    "table",
]

#: Writes a number in the reader's language.
WriteNumber = Callable[[float], str]
#: The plot in its own units; a page stretches it to any width.
WIDTH, HEIGHT = 1000.0, 240.0


@dataclass(frozen=True, slots=True)
class ChartWords:
    """The words in pictures, in the reader's language."""

    as_table: str = "As a table"
    day: str = "Day"
    time: str = "Time"
    amount: str = "Amount"
    what: str = "What it is"
    payment: str = "Payment"
    alert: str = "Alert"
    this_alert: str = "This alert"
    denied: str = "Denied"
    fraud: str = "Confirmed fraud"
    unripe: str = "Labels not ripe yet"
    raises: str = "raises"
    lowers: str = "lowers"
    share: str = "Share of the reason"
    reason: str = "Reason"
    predicted: str = "Predicted probability"
    observed: str = "Share found"
    count: str = "Number"
    perfect: str = "As predicted"
    name: str = "Name"
    nothing: str = "There is nothing to show yet."
    value: str = "Value"


class Chart:
    """A picture with its table, as HTML that a page may contain.

    Parameters
    ----------
    html : str
        In which everything is escaped already.
    """

    def __init__(self, html: str) -> None:
        self._html = html

    def __str__(self) -> str:
        return self._html

    def __html__(self) -> str:
        return self._html


def plain_number(value: float) -> str:
    """A number as English writes it, with up to four digits."""
    return f"{value:,.4g}" if abs(value) < 1_000 else f"{value:,.0f}"


def element(tag: str, content: str | None = None, /, **attributes: object) -> str:
    """An element; attributes are escaped, the content is not, and None closes it at once.

    An underscore at the end of an attribute's name goes, others are hyphens; except for
    ``viewBox`` and the like, which keep their capitals. Attributes that are None are left out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_written(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}/>" if content is None else f"<{tag}{written}>{content}</{tag}>"


def plot(shapes: Iterable[str], *, name: str, title: str, description: str, class_: str) -> str:
    """The picture itself, which is stretched to its frame."""
    inside = element("title", escape(title), id=f"{name}-title")
    inside += element("desc", escape(description), id=f"{name}-desc")
    return element(
        "svg",
        inside + "".join(shapes),
        class_=f"chart-plot {class_}",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        preserveAspectRatio="none",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def frame(picture: str, y_labels: Sequence[str], x_labels: Sequence[str]) -> str:
    """A plot with the numbers of its two axes: the highest first, and from left to right."""
    y, x = (
        "".join(element("span", escape(each)) for each in them) for them in (y_labels, x_labels)
    )
    return element(
        "div",
        element("div", y, class_="chart-y", aria_hidden="true")
        + picture
        + element("div", x, class_="chart-x", aria_hidden="true"),
        class_="chart-frame",
    )


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """What colours mean, a class and its name each; empty where there is nothing to tell apart."""
    rows = [
        element("li", element("span", "", class_=f"chart-key {kind}") + escape(text))
        for kind, text in entries
    ]
    return element("ul", "".join(rows), class_="chart-legend", aria_hidden="true") if rows else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """The same for those who read: the first cell of a row names it."""
    top = "".join(element("th", escape(each), scope="col") for each in head)
    body = "".join(
        element(
            "tr",
            element("th", escape(first), scope="row")
            + "".join(element("td", escape(each)) for each in others),
        )
        for first, *others in rows
    )
    return element(
        "table",
        element("caption", escape(caption), class_="visually-hidden")
        + element("thead", element("tr", top))
        + element("tbody", body),
    )


def figure(title: str, content: str, own_table: str, words: ChartWords) -> Chart:
    """A picture under its title, with its table folded below."""
    folded = element(
        "details",
        element("summary", escape(words.as_table))
        + element("div", own_table, class_="chart-scroll", tabindex="0"),
        class_="chart-table",
    )
    return Chart(
        element(
            "figure",
            element("figcaption", escape(title)) + content + folded,
            class_="chart",
        )
    )


def bare_figure(title: str, sentence: str) -> Chart:
    """A sentence in the place of a picture, under its title."""
    said = element("p", escape(sentence), class_="chart-nothing")
    return Chart(element("figure", element("figcaption", escape(title)) + said, class_="chart"))


def _written(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)

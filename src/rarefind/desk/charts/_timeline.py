"""What an entity has paid over time, with the alert marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

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
    plain_number,
    plot,
    table,
)
from rarefind.desk.charts._scale import PlotHeights, PlotPlaces

__all__ = ["Payment", "timeline"]

#: What a payment is; ``this`` is the alert that the page is about.
PaymentKind = Literal["payment", "alert", "this", "denied", "fraud"]
_KINDS: tuple[PaymentKind, ...] = ("payment", "alert", "denied", "fraud", "this")


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment: when, how much, and what it is."""

    time: int
    amount: float
    kind: PaymentKind = "payment"


def timeline(
    payments: Sequence[Payment],
    *,
    name: str,
    title: str,
    description: str = "",
    when: Callable[[int], str] = str,
    amount: WriteNumber = plain_number,
    words: ChartWords | None = None,
) -> Chart:
    """Show payments over time, a line up to each amount; what is marked stands out.

    Parameters
    ----------
    payments : sequence of Payment
        A few hundred at most: each is a mark that says its time and amount.
    name : str
        Of the picture, once a page: its parts are labelled by it.
    title, description : str
        The description is read aloud; the payments of the highest amount if it is empty.
    when, amount : callable
        Write a time and an amount in the reader's language.
    words : ChartWords, optional
    """
    words = words or ChartWords()
    labels: dict[PaymentKind, str] = {
        "payment": words.payment,
        "alert": words.alert,
        "denied": words.denied,
        "fraud": words.fraud,
        "this": words.this_alert,
    }
    ordered = sorted(payments, key=lambda each: each.time)
    scale = PlotHeights(each.amount for each in ordered)
    first, last = (ordered[0].time, ordered[-1].time) if ordered else (0, 0)
    places = PlotPlaces(first, last)
    shapes = [
        element("line", x1=0, x2=WIDTH, y1=scale.y(tick), y2=scale.y(tick), class_="chart-grid")
        for tick in scale.ticks
    ]
    # What is marked is drawn last, above the others.
    for each in sorted(ordered, key=lambda one: _KINDS.index(one.kind)):
        x, y = places.x(each.time), scale.y(each.amount)
        told = f"{when(each.time)}: {amount(each.amount)}, {labels[each.kind]}"
        if each.kind == "this":
            shapes.append(element("line", x1=x, x2=x, y1=0, y2=HEIGHT, class_="chart-now"))
        shapes.append(
            element("line", x1=x, x2=x, y1=scale.y(0), y2=y, class_=f"chart-stem {each.kind}")
        )
        dot = element("title", escape(told))
        shapes.append(
            element("path", dot, d=f"M{x:.2f} {y:.2f}h0", class_=f"chart-dot {each.kind}")
        )
    marked = [each for each in ordered if each.kind == "this"] or ordered[-1:]
    spoken = description or "; ".join(
        f"{labels[each.kind]}: {amount(each.amount)}, {when(each.time)}" for each in marked
    )
    picture = plot(shapes, name=name, title=title, description=spoken, class_="chart-timeline")
    ends = [when(first), when(last)] if first != last else [when(first)] if ordered else []
    content = frame(picture, [amount(tick) for tick in scale.ticks], ends)
    there = {each.kind for each in ordered}
    content += legend((kind, labels[kind]) for kind in _KINDS if kind in there)
    rows = [(when(each.time), amount(each.amount), labels[each.kind]) for each in ordered[::-1]]
    return figure(title, content, table([words.time, words.amount, words.what], rows, title), words)

"""What all displays share: the axes to draw on, the colours, how numbers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rarefind._core.extras import extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's palette for colour-blind readers; its yellow is too faint for a line.
MODEL_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
POSITIVE = "#D55E00"
NEGATIVE = "#BFC4CA"
TIED = "#DDA878"  # between the two, in lightness too
QUIET = "#5F6368"
SMALL = 9


def axes_or_new(ax: Axes | None, figsize: tuple[float, float] | None = None) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    with extra("plots", "A display"):
        import matplotlib.pyplot as plt  # importing rarefind starts no window system

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def figure_of(ax: Axes) -> Figure:
    """The figure that the axes are on; only removed axes have none."""
    return cast("Figure", ax.figure)


def tidy(ax: Axes) -> None:
    """Take away the two sides of the frame that carry no scale."""
    ax.spines[["top", "right"]].set_visible(False)


def in_percent(axis: Axis) -> None:
    """Write the shares along an axis in percent, without needless decimals."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:.4g} %")


def percent(share: float, digits: int = 0) -> str:
    """A share in percent; nearly all is never rounded to all, nor a few to none."""
    shown = f"{100 * share:.{digits}f}"
    if float(shown) in (0, 100) and share not in (0, 1) and digits < 3:
        return percent(share, digits + 1)
    return f"{shown.rstrip('0').rstrip('.') if '.' in shown else shown} %"


def number(count: float) -> str:
    """A count, with one decimal where ties leave it in expectation."""
    return f"{count:,.1f}".removesuffix(".0")


def counted(count: float, noun: str) -> str:
    """A count and what is counted."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"

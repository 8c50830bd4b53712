"""Why a row stands where it stands, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from rarefind._core.types import Table
from rarefind.plots.axes import (
    MODEL_COLOURS,
    POSITIVE,
    QUIET,
    SMALL,
    axes_or_new,
    figure_of,
    in_percent,
    tidy,
)
from rarefind.rules import Reason
from rarefind.rules.reasons import heading, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

_SHOWN = 6
LOWERS = MODEL_COLOURS[0]
_LONGEST_LABEL = 40


class ReasonDisplay:
    """The reason of one row, a bar a column.

    Where the score is a sum over the columns, the bars are what they add to it, the largest first;
    those beyond the sixth are one bar. Elsewhere they are the shares of the conditions.

    Parameters
    ----------
    reason : Reason
        What ``explain`` gives for a row.

    Attributes
    ----------
    reason
        As given.
    values : dict of str to float
        The length of each bar by its label, from top to bottom.
    ax_, figure_
        Where it is drawn.
    bars_ : BarContainer
        The bars.

    Examples
    --------
    >>> from rarefind.plots import ReasonDisplay
    >>> from rarefind.rules import Condition, Reason
    >>> because = [Condition("amount", ">", 220, weight=1.0)]
    >>> added = {"amount": 2.5, "hour": -0.7}
    >>> reason = Reason(0.8, 0.95, because, base=-1.0, contributions=added)
    >>> display = ReasonDisplay(reason).plot()
    >>> display.values
    {'amount > 220': 2.5, 'hour': -0.7}
    """

    ax_: Axes
    figure_: Figure
    bars_: BarContainer

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        self.values = _contributions(reason) if reason.contributions else _shares(reason)

    @classmethod
    def from_estimator(cls, estimator: Any, X_row: Table, *, ax: Axes | None = None) -> Self:
        """Explain a row and draw its reason.

        Parameters
        ----------
        estimator : rarefind classifier or TableModel
            Fitted.
        X_row : array-like of shape (1, d)
            The row, as a table of one.
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        ReasonDisplay
        """
        reasons = estimator.explain(X_row)
        if len(reasons) != 1:
            raise ValueError(f"One row can be drawn, and there are {len(reasons)}.")
        return cls(reasons[0]).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax, figsize=(6.4, 1.3 + 0.36 * max(1, len(self.values))))
        self.figure_ = figure_of(self.ax_)
        values = list(self.values.values())
        places = list(range(len(values)))
        colours = [LOWERS if value < 0 else POSITIVE for value in values]
        self.bars_ = self.ax_.barh(places, values, color=colours, height=0.7)
        self.ax_.set_yticks(places, [_shorten(label) for label in self.values], fontsize=SMALL)
        self.ax_.invert_yaxis()
        self._finish()
        return self

    def _finish(self) -> None:
        ax = self.ax_
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color=QUIET, linewidth=1)
        ax.set_title(heading(self.reason))
        if self.reason.contributions:
            base = "" if self.reason.base is None else f", from {short(self.reason.base)}"
            ax.set_xlabel(f"Added to the score{base}")
        else:
            in_percent(ax.xaxis)
            ax.set_xlabel("Share of the reason")
        if not self.values:
            ax.set_xlim(0, 1)
            style: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
            ax.text(0.5, 0.5, "Nothing speaks for this row", color=QUIET, **style)


def _contributions(reason: Reason) -> dict[str, float]:
    """What columns add, the largest first, in the words of the conditions where there are some."""
    texts: dict[str, str] = {}
    for condition in reason.because:  # the weightiest comes first
        texts.setdefault(condition.feature, str(condition))
    ordered = sorted(reason.contributions.items(), key=lambda item: -abs(item[1]))
    found = {texts.get(name, name): added for name, added in ordered[:_SHOWN]}
    if len(ordered) > _SHOWN:
        found["other columns"] = sum(added for _, added in ordered[_SHOWN:])
    return found


def _shares(reason: Reason) -> dict[str, float]:
    found: dict[str, float] = {}
    for condition in reason.because:
        own = -condition.weight if condition.lowers else condition.weight
        found[str(condition)] = found.get(str(condition), 0.0) + own
    return found


def _shorten(label: str) -> str:
    cut = label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
    return cut.replace("$", r"\$")  # two of them would be a formula to Matplotlib

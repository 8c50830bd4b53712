"""The first rows of the list, as people will see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rarefind._core.types import ArrayLike, Bools, Floats, Label, Table
from rarefind.metrics import budget, hits_by_check
from rarefind.plots._rows import check_has_positives, name_of, score_rows
from rarefind.plots.axes import (
    MODEL_COLOURS,
    NEGATIVE,
    POSITIVE,
    QUIET,
    SMALL,
    TIED,
    axes_or_new,
    counted,
    figure_of,
    in_percent,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# The strip of rows lies under the zero of the curve.
_STRIP_BOTTOM, _STRIP_HEIGHT = -0.22, 0.16


class TopKDisplay:
    """The first rows of the list, one bar a row, under the precision reached at each rank.

    Rows tied in score that hold both classes have no order of their own: their bars take a third
    colour, and the precision counts them in expectation over their orders, as
    :func:`rarefind.metrics.precision_at_k` does. Make it with :meth:`from_estimator` or
    :meth:`from_predictions`.

    Parameters
    ----------
    hits : ndarray of shape (k,)
        Expected positives among the first 1, 2, ..., k rows.
    prevalence : float
        Share of positives among all rows.
    name : str, default=None
        What the title calls the model.

    Attributes
    ----------
    hits, prevalence, name
        As given.
    ranks, precision, hit_probability : ndarray of shape (k,)
        The ranks from 1, the precision of the list cut there, and the probability that the row
        there is positive: 1 or 0, or in between where rows of both classes are tied.
    ax_, figure_
        Where it is drawn.
    line_, prevalence_line_ : Line2D
        The precision, and that of a list in random order.
    bars_ : BarContainer
        The rows.

    Examples
    --------
    >>> from rarefind.plots import TopKDisplay
    >>> display = TopKDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=3)
    >>> display.precision.round(2)
    array([1.  , 0.75, 0.67])
    >>> display.hit_probability
    array([1. , 0.5, 0.5])
    """

    ax_: Axes
    figure_: Figure
    line_: Line2D
    prevalence_line_: Line2D
    bars_: BarContainer

    def __init__(self, *, hits: Floats, prevalence: float, name: str | None = None) -> None:
        self.hits = hits
        self.prevalence = prevalence
        self.name = name
        self.ranks = np.arange(1, hits.size + 1)
        self.precision: Floats = hits / self.ranks
        self.hit_probability: Floats = np.diff(hits, prepend=0.0)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        k: int | float | str = 50,
        pos_label: Label = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the top of the list that a fitted classifier makes of rows it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes; a pipeline is fine.
        X, y : array-like
            The rows and their labels.
        k, ax
            As in :meth:`from_predictions`.
        pos_label : label, default=None
            The positive label; by default the estimator's own.
        name : str, default=None
            What the title calls the model; by default its class.

        Returns
        -------
        TopKDisplay
        """
        rows = score_rows(estimator, X, pos_label)
        name = name_of(estimator) if name is None else name
        return cls.from_predictions(y, rows.score, k=k, pos_label=rows.pos_label, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        k: int | float | str = 50,
        pos_label: Label = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the top of a ranking.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The labels.
        score : array-like of shape (n,)
            Higher goes first.
        k : int, float or str, default=50
            How many rows to show, or a share of them (``0.005`` or ``"0.5%"``).
        pos_label : label, default=None
            The positive label; 1 among {0, 1} and {-1, 1}, else it must be given.
        name : str, default=None
            What the title calls the model.
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        TopKDisplay
        """
        checks, hits = hits_by_check(y_true, score, pos_label=pos_label)
        check_has_positives(hits[-1], checks[-1])
        ranks = np.arange(1, int(budget(k, checks[-1])) + 1)
        found = np.interp(ranks, checks, hits)
        return cls(hits=found, prevalence=float(hits[-1] / checks[-1]), name=name).plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the rows and the precision.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        name : str, default=None
            What the title calls the model; by default ``self.name``.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = figure_of(self.ax_)
        self._draw_rows()
        self.line_ = self.ax_.plot(
            self.ranks,
            self.precision,
            color=MODEL_COLOURS[0],
            linewidth=2,
            label="Precision",
        )[0]
        self.prevalence_line_ = self.ax_.axhline(
            self.prevalence, color=QUIET, linewidth=1.2, linestyle=":", label="Random order"
        )
        self._finish(self.name if name is None else name)
        return self

    def _title(self) -> str:
        tied = not np.isclose(self.hits[-1], round(self.hits[-1]))
        found = counted(self.hits[-1], "positive") + (" expected" if tied else "")
        return f"{found} in the first {counted(self.ranks.size, 'row')}"

    def _kinds(self) -> list[tuple[str, str, Bools]]:
        """Label and colour of the kinds of rows, and which rows are of it."""
        sure, never = np.isclose(self.hit_probability, 1), np.isclose(self.hit_probability, 0)
        kinds = [
            ("Positive row", POSITIVE, sure),
            ("Negative row", NEGATIVE, never),
            ("Tied rows of both classes", TIED, ~sure & ~never),
        ]
        return [kind for kind in kinds if kind[2].any()]

    def _draw_rows(self) -> None:
        colours = np.empty(self.ranks.size, dtype=object)
        for _, colour, rows in self._kinds():
            colours[rows] = colour
        self.bars_ = self.ax_.bar(
            self.ranks,
            _STRIP_HEIGHT,
            bottom=_STRIP_BOTTOM,
            # Gaps of less than a pixel would come and go along the strip.
            width=0.8 if self.ranks.size <= 100 else 1,
            color=colours.tolist(),
            antialiased=self.ranks.size <= 100,
        )

    def _finish(self, name: str | None) -> None:
        from matplotlib.patches import Patch
        from matplotlib.ticker import FixedLocator, MaxNLocator

        ax = self.ax_
        tidy(ax)
        ax.set_xlim(0.3, self.ranks.size + 0.7)
        ax.set_ylim(_STRIP_BOTTOM - 0.03, 1.05)
        ax.spines["left"].set_bounds(0, 1)
        ax.yaxis.set_major_locator(FixedLocator([0, 0.2, 0.4, 0.6, 0.8, 1]))
        in_percent(ax.yaxis)
        inner = MaxNLocator(7, steps=[1, 2, 5, 10], integer=True).tick_values(1, self.ranks.size)
        ax.xaxis.set_major_locator(
            FixedLocator([1, *(t for t in inner if 1 < t <= self.ranks.size)])
        )
        ax.set_xlabel("Rank in the list")
        ax.set_ylabel("Share of positives in the rows so far")
        title = self._title()
        ax.set_title(f"{name}: {title}" if name else title)
        rows = [Patch(color=colour, label=label) for label, colour, _ in self._kinds()]
        lines = [self.line_, self.prevalence_line_]
        ax.legend(handles=[*lines, *rows], fontsize=SMALL, frameon=False)

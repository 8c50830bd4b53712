"""Models side by side, fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from rarefind.plots.axes import MODEL_COLOURS, QUIET, SMALL, axes_or_new, figure_of, tidy
from rarefind.selection import Comparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Right ends of the two columns of figures, in points from the right side of the axes.
_RANK_COLUMN, _P_COLUMN = 58, 106


class ComparisonDisplay:
    """Values of one metric: a row a model, the best at the top, a dot a fold.

    The mean is marked; at the right stand the mean rank over the folds, and the p-value of
    Wilcoxon's test against the best model. Make it with :meth:`from_comparison`.

    Parameters
    ----------
    values : DataFrame
        A row a fold, a column a model, as ``Comparison.by_fold`` gives them.
    table : DataFrame
        A row a model, best first, with ``mean``, ``mean_rank`` and ``p_value``, as
        ``Comparison.table`` gives it.
    metric : str
        Name of the metric.

    Attributes
    ----------
    values, table, metric
        As given.
    ax_, figure_
        Where it is drawn.
    dots_ : list of PathCollection
        The folds of each model, best model first.
    means_ : PathCollection
        The means, best model first.
    notes_ : list of (Text, Text)
        Mean rank and p-value of each model, best model first.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from rarefind.plots import ComparisonDisplay
    >>> from rarefind.selection import compare
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> found = compare({"blind": DummyClassifier(), "logistic": LogisticRegression()}, X, y)
    >>> display = ComparisonDisplay.from_comparison(found)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['logistic', 'blind']
    """

    ax_: Axes
    figure_: Figure
    dots_: list[PathCollection]
    means_: PathCollection
    notes_: list[tuple[Text, Text]]

    def __init__(self, *, values: pd.DataFrame, table: pd.DataFrame, metric: str) -> None:
        self.values = values
        self.table = table
        self.metric = metric

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, metric: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw one metric of a comparison.

        Parameters
        ----------
        comparison : Comparison
            What :func:`rarefind.selection.compare` returns.
        metric : str, default=None
            Name of the metric; by default the first.
        ax : Axes, default=None
            Where to draw; by default on a new figure, high enough for the models.

        Returns
        -------
        ComparisonDisplay
        """
        metric = comparison.metrics[0] if metric is None else metric
        if metric not in comparison.metrics:
            known = ", ".join(comparison.metrics)
            raise ValueError(f"The comparison has not measured {metric!r}, only {known}.")
        values, table = comparison.by_fold(metric), comparison.table(metric)
        return cls(values=values, table=table, metric=metric).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the dots, the means and the figures beside them.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure, high enough for the models. The figures
            stand to the right of the axes: leave about 2 cm there.

        Returns
        -------
        self
        """
        models = len(self.table)
        self.ax_ = axes_or_new(ax, figsize=(7.2, 1.4 + 0.45 * models))
        self.figure_ = figure_of(self.ax_)
        self._draw_dots()
        self.means_ = self.ax_.scatter(
            self.table["mean"], range(models), marker="|", s=420, linewidths=2.5, color="black"
        )
        self._draw_notes()
        self._finish()
        return self

    def _draw_dots(self) -> None:
        folds = len(self.values)
        # A fold stands at the same height in every row, so dots are apart and can be followed.
        heights = np.linspace(-0.22, 0.22, folds) if folds > 1 else np.zeros(1)
        self.dots_ = [
            self.ax_.scatter(
                self.values[model],
                row + heights,
                s=26,
                color=MODEL_COLOURS[0],
                alpha=0.75,
                linewidths=0,
            )
            for row, model in enumerate(self.table.index)
        ]

    def _draw_notes(self) -> None:
        self._note(_RANK_COLUMN, 1, "mean rank", heading=True)
        self._note(_P_COLUMN, 1, "p-value", heading=True)
        self.notes_ = [
            (self._note(_RANK_COLUMN, row, f"{rank:.2f}"), self._note(_P_COLUMN, row, _p_text(p)))
            for row, (rank, p) in enumerate(
                zip(self.table["mean_rank"], self.table["p_value"], strict=True)
            )
        ]

    def _note(self, column: int, row: float, text: str, *, heading: bool = False) -> Text:
        ax = self.ax_
        return ax.annotate(
            text,
            xy=(1, row),
            xycoords=ax.transAxes if heading else ax.get_yaxis_transform(),
            xytext=(column, 3 if heading else 0),
            textcoords="offset points",
            horizontalalignment="right",
            verticalalignment="bottom" if heading else "center",
            fontsize=SMALL,
            color=QUIET if heading else "black",
            annotation_clip=False,
        )

    def _finish(self) -> None:
        ax, (folds, models) = self.ax_, self.values.shape
        tidy(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_yticks(range(models), labels=[str(model) for model in self.table.index])
        ax.set_ylim(models - 0.5, -0.5)  # the best at the top
        ax.grid(axis="x", color="#E3E5E8", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.set_xlabel(
            f"{self.metric.replace('_', ' ').capitalize()}: a dot a fold, the bar is the mean"
        )
        ax.set_title(f"{models} models on the same {folds} folds")


def _p_text(p_value: float) -> str:
    if np.isnan(p_value):
        return "best"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"

"""The best γ where positives become rarer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from rarefind._core.types import ArrayLike, Table
from rarefind.neighbors.imbalance import gamma_by_imbalance
from rarefind.plots.axes import MODEL_COLOURS, QUIET, SMALL, axes_or_new, figure_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Artists carry these marks, so that a second curve on the same axes finds the first one's.
_CURVE, _PLAIN = "rarefind-gamma", "rarefind-plain"


class ImbalanceDisplay:
    """The best γ by number of negatives for one positive.

    As figure 2.4 of [1]_. A line joins the medians over the repeats; the band holds the middle
    half of them. Make it with :meth:`from_estimator` or :meth:`from_table`; several on the same
    ``ax`` are compared.

    Parameters
    ----------
    table : DataFrame
        A row a fit, with ``ratio`` and ``gamma``, as
        :func:`rarefind.neighbors.gamma_by_imbalance` returns it.
    name : str, default=None
        What the legend calls the line.

    Attributes
    ----------
    table, name
        As given.
    summary : DataFrame
        By ratio, the quartiles of γ: ``low``, ``median`` and ``high``.
    ax_, figure_
        Where it is drawn.
    line_ : Line2D
        The medians.
    band_ : PolyCollection
        From the lower to the upper quartile.
    plain_line_ : Line2D
        The γ of plain nearest neighbours, 1.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, section 2.5.2.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind.plots import ImbalanceDisplay
    >>> table = pd.DataFrame({"ratio": [2, 2, 9, 9], "gamma": [0.9, 0.7, 0.6, 0.2]})
    >>> ImbalanceDisplay.from_table(table).summary["median"].tolist()
    [0.8, 0.4]
    """

    ax_: Axes
    figure_: Figure
    line_: Line2D
    band_: PolyCollection
    plain_line_: Line2D

    def __init__(self, *, table: pd.DataFrame, name: str | None = None) -> None:
        missing = {"ratio", "gamma"} - set(table.columns)
        if missing or not len(table):
            raise ValueError(
                "The table needs rows with the columns ratio and gamma, as gamma_by_imbalance "
                "returns them."
            )
        self.table = table
        self.name = name
        quartiles = table.groupby("ratio")["gamma"].quantile(np.array([0.25, 0.5, 0.75])).unstack()
        self.summary = quartiles.set_axis(["low", "median", "high"], axis=1)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        ratios: ArrayLike | None = None,
        repeats: int = 10,
        random_state: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Thin the positives of a table step by step, fit at each, and draw the γ found.

        Parameters
        ----------
        estimator : GammaKNNClassifier
            It need not be fitted; a pipeline that ends in one is fine.
        X, y, ratios, repeats, random_state
            As in :func:`rarefind.neighbors.gamma_by_imbalance`.
        name, ax, **line_options
            As in :meth:`from_table`.

        Returns
        -------
        ImbalanceDisplay
        """
        table = gamma_by_imbalance(
            estimator, X, y, ratios=ratios, repeats=repeats, random_state=random_state
        )
        return cls.from_table(table, name=name, ax=ax, **line_options)

    @classmethod
    def from_table(
        cls,
        table: pd.DataFrame,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the γ of fits made before.

        Parameters
        ----------
        table : DataFrame
            What :func:`rarefind.neighbors.gamma_by_imbalance` returns.
        name : str, default=None
            What the legend calls the line.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options
            Options of the line, such as ``color``.

        Returns
        -------
        ImbalanceDisplay
        """
        return cls(table=table, name=name).plot(ax, **line_options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **line_options: Any) -> Self:
        """Draw the line and the band.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        name : str, default=None
            What the legend calls the line; by default ``self.name``.
        **line_options
            Options of the line, such as ``color``.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = figure_of(self.ax_)
        earlier = sum(line.get_gid() == _CURVE for line in self.ax_.lines)
        name = self.name if name is None else name
        options = {
            "color": MODEL_COLOURS[earlier % len(MODEL_COLOURS)],
            "linewidth": 2,
            "marker": "o",
            "label": name or "Median",
            **line_options,
        }
        ratios = self.summary.index.to_numpy(dtype=float)
        self.line_ = self.ax_.plot(ratios, self.summary["median"], gid=_CURVE, **options)[0]
        self.band_ = self.ax_.fill_between(
            ratios,
            self.summary["low"],
            self.summary["high"],
            color=self.line_.get_color(),
            alpha=0.18,
            linewidth=0,
            label="_middle half" if name else "Middle half of the repeats",
        )
        self.plain_line_ = self._draw_plain()
        self._finish()
        return self

    def _draw_plain(self) -> Line2D:
        """The line of γ = 1, once."""
        for line in self.ax_.lines:
            if line.get_gid() == _PLAIN:
                return line
        style: dict[str, Any] = {"color": QUIET, "linewidth": 1.2, "linestyle": ":", "zorder": 1}
        return self.ax_.axhline(1, label="Plain k-NN", gid=_PLAIN, **style)

    def _finish(self) -> None:
        from matplotlib.ticker import LogLocator, NullFormatter

        ax = self.ax_
        tidy(ax)
        ax.set_xscale("log")
        ax.set_ylim(0, max(1.03, ax.get_ylim()[1]))
        # Ratios seldom span many powers of ten: 1, 2 and 5 of each are named.
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:,.4g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("Negatives for one positive")
        ax.set_ylabel("Best γ")
        ax.set_title("The best γ as positives become rarer")
        entries = ax.get_legend_handles_labels()[0]
        entries.sort(key=lambda entry: entry.get_gid() == _PLAIN)  # the curves come first
        ax.legend(handles=entries, fontsize=SMALL, frameon=False, loc="lower left")

"""How far the scores of positives and negatives lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rarefind._core.types import ArrayLike, Bools, Floats, Label, Table
from rarefind.metrics.inputs import check_rows
from rarefind.metrics.scorers import deciding_estimator
from rarefind.plots._rows import ScoredRows, check_has_positives, name_of, score_rows
from rarefind.plots.axes import (
    NEGATIVE,
    POSITIVE,
    SMALL,
    axes_or_new,
    figure_of,
    in_percent,
    number,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Ratios of distances reach 1e100 and more where a distance is 0: such scores stand for infinity.
_ALMOST_INFINITE = 1e50


class ClassHistogram(NamedTuple):
    """Rows of one class, and their share in each bin: below the edges, between them, above."""

    rows: float
    share: Floats


class ScoreHistogramDisplay:
    """Scores of the positives and of the negatives, each class as shares of its own rows.

    Few positives are thus as visible as many negatives. The bins end where 99.5 % of the finite
    scores do, or further up where the bulk of the positives reaches (their upper quartile plus
    three times the interquartile range); what lies beyond, infinite scores included, is counted
    in one bin labelled ">". Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, equally wide.
    positive, negative : ClassHistogram
        ``rows``, and ``share`` of shape (n_bins + 2,): the first bin holds what lies below the
        edges, the last what lies above.
    threshold : float, default=None
        Score from which a row is an alert.
    name : str, default=None
        What the title calls the model.

    Attributes
    ----------
    edges, positive, negative, threshold, name
        As given.
    ax_, figure_
        Where it is drawn.
    positive_bars_, negative_bars_ : BarContainer
        The bars of the two classes.
    threshold_line_ : Line2D or None
        The threshold.

    Examples
    --------
    >>> from rarefind.plots import ScoreHistogramDisplay
    >>> y, score = [1, 1, 0, 0, 0, 0], [2e100, 0.9, 0.6, 0.3, 0.2, 0.1]
    >>> display = ScoreHistogramDisplay.from_predictions(y, score, bins=2, threshold=0.5)
    >>> display.positive.share  # below, two bins, beyond
    array([0. , 0. , 0.5, 0.5])
    >>> display.negative.share
    array([0.  , 0.75, 0.25, 0.  ])
    """

    ax_: Axes
    figure_: Figure
    positive_bars_: BarContainer
    negative_bars_: BarContainer
    threshold_line_: Line2D | None

    def __init__(
        self,
        *,
        edges: Floats,
        positive: ClassHistogram,
        negative: ClassHistogram,
        threshold: float | None = None,
        name: str | None = None,
    ) -> None:
        self.edges = edges
        self.positive = positive
        self.negative = negative
        self.threshold = threshold
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        bins: int = 30,
        threshold: float | None = None,
        pos_label: Label = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scores that a fitted classifier gives to rows it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes. Of a pipeline the decision function is drawn, which a rarefind
            classifier measures from its threshold.
        X, y : array-like
            The rows and their labels.
        bins, sample_weight, ax
            As in :meth:`from_predictions`.
        threshold : float, default=None
            Score from which a row is an alert; by default the estimator's own, if it has
            ``threshold_``.
        pos_label : label, default=None
            The positive label; by default the estimator's own.
        name : str, default=None
            What the title calls the model; by default its class.

        Returns
        -------
        ScoreHistogramDisplay
        """
        rows = score_rows(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            rows.score,
            bins=bins,
            threshold=_threshold_of(estimator, rows) if threshold is None else threshold,
            pos_label=rows.pos_label,
            sample_weight=sample_weight,
            name=name_of(estimator) if name is None else name,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        bins: int = 30,
        threshold: float | None = None,
        pos_label: Label = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw scores.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The labels.
        score : array-like of shape (n,)
            Higher is more likely positive.
        bins : int, default=30
            Number of bins, those beyond the edges not counted.
        threshold : float, default=None
            Score from which a row is an alert.
        pos_label : label, default=None
            The positive label; 1 among {0, 1} and {-1, 1}, else it must be given.
        sample_weight : array-like of shape (n,), default=None
            A row of weight 2 counts as two rows.
        name : str, default=None
            What the title calls the model.
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        ScoreHistogramDisplay
        """
        if bins < 1:
            raise ValueError(f"A histogram needs at least one bin, not bins={bins}.")
        positive, scores, weight = check_rows(y_true, score, pos_label, sample_weight)
        check_has_positives(weight[positive].sum(), weight.sum())
        if not weight[~positive].any():
            raise ValueError(f"All {positive.size} rows are positive: there is nothing to compare.")
        edges = np.linspace(*_limits(scores, positive), bins + 1)
        return cls(
            edges=edges,
            positive=_count(scores[positive], weight[positive], edges),
            negative=_count(scores[~positive], weight[~positive], edges),
            threshold=threshold,
            name=name,
        ).plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the two histograms.

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
        self.negative_bars_ = self._draw_class("Negatives", self.negative, color=NEGATIVE)
        self.positive_bars_ = self._draw_class(
            "Positives", self.positive, color=POSITIVE, alpha=0.65
        )
        self.threshold_line_ = None
        if self.threshold is not None:
            self.threshold_line_ = self.ax_.axvline(
                self._place(self.threshold),
                color="black",
                linewidth=1.2,
                linestyle="--",
                label=f"Threshold {self.threshold:.3g}",
            )
        self._finish(self.name if name is None else name)
        return self

    def _bin_starts(self) -> Floats:
        """Where each bar begins: those beyond the edges stand one bin apart from the others."""
        width = self.edges[1] - self.edges[0]
        return np.concatenate(
            [[self.edges[0] - 2 * width], self.edges[:-1], [self.edges[-1] + width]]
        )

    def _place(self, score: float) -> float:
        """Where a score is drawn: in the middle of the outer bar if it is beyond the edges."""
        starts, width = self._bin_starts(), self.edges[1] - self.edges[0]
        if score < self.edges[0]:
            return float(starts[0] + width / 2)
        return float(starts[-1] + width / 2) if score > self.edges[-1] else score

    def _visible_bins(self) -> Bools:
        """Which bins are drawn: those beyond the edges only where they hold a row."""
        inside = np.ones(self.edges.size + 1, dtype=bool)
        for end in (0, -1):
            inside[end] = self.positive.share[end] > 0 or self.negative.share[end] > 0
        return inside

    def _draw_class(self, label: str, histogram: ClassHistogram, **options: Any) -> BarContainer:
        drawn = self._visible_bins()
        return self.ax_.bar(
            self._bin_starts()[drawn],
            histogram.share[drawn],
            width=self.edges[1] - self.edges[0],
            align="edge",
            label=f"{label} ({number(histogram.rows)})",
            **options,
        )

    def _finish(self, name: str | None) -> None:
        ax = self.ax_
        tidy(ax)
        self._set_ticks()
        in_percent(ax.yaxis)
        ax.set_xlabel("Score")
        ax.set_ylabel("Share of the rows of the class")
        title = "Scores of positives and negatives"
        ax.set_title(f"{name}: {title.lower()}" if name else title)
        ax.legend(fontsize=SMALL, frameon=False)

    def _set_ticks(self) -> None:
        from matplotlib.ticker import MaxNLocator

        low, high = float(self.edges[0]), float(self.edges[-1])
        below, *_, beyond = self._visible_bins()
        room = 0.06 * (high - low)
        start, stop = low + room * below, high - room * beyond
        inner = [
            t
            for t in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)
            if start <= t <= stop
        ]
        ticks = {float(t): f"{t:.6g}" for t in inner}
        if below:
            ticks[self._place(-np.inf)] = f"< {low:.3g}"
        if beyond:
            ticks[self._place(np.inf)] = f"> {high:.3g}"
        places = sorted(ticks)
        # The true minus sign, as matplotlib's own ticks have it.
        self.ax_.set_xticks(places, labels=[ticks[place].replace("-", "−") for place in places])


def _limits(score: Floats, positive: Bools) -> tuple[float, float]:
    """Where the bins begin and end."""
    usual = np.abs(score) < _ALMOST_INFINITE
    if not usual.any():
        return 0.0, 1.0
    low, high = float(score[usual].min()), float(np.quantile(score[usual], 0.995))
    found = score[usual & positive]
    if found.size:
        # Where positives are rarer than 0.5 %, the quantile alone would cut off most of them.
        lower, upper = np.quantile(found, [0.25, 0.75])
        high = max(high, float(found[found <= upper + 3 * (upper - lower)].max()))
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def _count(score: Floats, weight: Floats, edges: Floats) -> ClassHistogram:
    # The last bin holds its upper edge, as numpy.histogram has it.
    place = np.searchsorted(edges, score, side="right") - (score == edges[-1])
    counts = np.bincount(place, weights=weight, minlength=edges.size + 1)
    rows = float(weight.sum())
    return ClassHistogram(rows, counts / rows)


def _threshold_of(estimator: Any, rows: ScoredRows) -> float | None:
    """The estimator's own threshold, on the scale of the scores."""
    if hasattr(estimator, "threshold_"):
        threshold = float(estimator.threshold_)
        return -threshold if rows.flipped else threshold
    # A pipeline has no priority: its decision function is 0 at the threshold of its last step.
    inside = deciding_estimator(estimator)
    return 0.0 if inside is not estimator and hasattr(inside, "threshold_") else None

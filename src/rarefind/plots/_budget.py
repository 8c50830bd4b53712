"""What each number of checks finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rarefind._core.types import ArrayLike, Floats, Label, Table
from rarefind.metrics import budget as number_of_checks
from rarefind.metrics import hits_by_check
from rarefind.metrics.inputs import as_amounts, check_rows, cumulate
from rarefind.plots._rows import check_has_positives, name_of, score_rows
from rarefind.plots.axes import (
    MODEL_COLOURS,
    QUIET,
    SMALL,
    axes_or_new,
    counted,
    figure_of,
    in_percent,
    percent,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

# More points than a picture has pixels are drawn in vain.
_POINTS = 2000
_LONG_LIST = 1000
# Artists carry these marks, so that a second model on the same axes finds the first one's.
_CURVE, _MONEY = "rarefind-curve", "rarefind-money"
_RANDOM, _BUDGET = "rarefind-random", "rarefind-budget"
_BELOW, _ABOVE = "rarefind-note-below", "rarefind-note-above"


class BudgetCurveDisplay:
    """Share of all positives found, by number of checks.

    The curve of a model stands beside that of rows checked in random order. Rows tied in score
    count in expectation over their orders, as in :func:`rarefind.metrics.recall_at_k`. Make it
    with :meth:`from_estimator` or :meth:`from_predictions`; several on the same ``ax`` are
    compared.

    Parameters
    ----------
    checks, hits : ndarray of shape (n_corners,)
        Corners of the curve, from (0, 0), as :func:`rarefind.metrics.hits_by_check` gives them.
    recovered : ndarray of shape (n_corners,), default=None
        Money recovered at the corners; draws a second curve.
    budget : int, float or str, default=None
        The number of checks to mark, or a share of the rows (``0.005`` or ``"0.5%"``).
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    checks, hits, recovered, name
        As given.
    budget : float or None
        The number of checks that are marked.
    positives : float
        Positives among all rows.
    ax_, figure_
        Where it is drawn.
    line_, random_line_ : Line2D
        The curve and the line of random order.
    money_line_, budget_line_ : Line2D or None
        The curve of money and the mark of the budget.
    annotation_ : Annotation or None
        What the budget finds, in words.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> from rarefind.plots import BudgetCurveDisplay
    >>> X, y = load_keel("yeast4")
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), GammaKNNClassifier()).fit(X_train, y_train)
    >>> display = BudgetCurveDisplay.from_estimator(model, X_test, y_test, budget=20)
    >>> print(display.annotation_.get_text())
    20 checks: 7 hits,
    35 % of them positive,
    54 % of all positives found
    """

    ax_: Axes
    figure_: Figure
    line_: Line2D
    random_line_: Line2D
    money_line_: Line2D | None
    budget_line_: Line2D | None
    annotation_: Annotation | None

    def __init__(
        self,
        *,
        checks: Floats,
        hits: Floats,
        recovered: Floats | None = None,
        budget: int | float | str | None = None,
        name: str | None = None,
    ) -> None:
        self.checks = checks
        self.hits = hits
        self.recovered = recovered
        self.budget = None if budget is None else number_of_checks(budget, checks[-1])
        self.positives = float(hits[-1])
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        budget: int | float | str | None = None,
        amount: ArrayLike | None = None,
        pos_label: Label = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        log_scale: bool | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw what a fitted classifier finds among rows it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes; a pipeline is fine.
        X, y : array-like
            The rows and their labels.
        budget, amount, sample_weight, log_scale, ax, **line_options
            As in :meth:`from_predictions`.
        pos_label : label, default=None
            The positive label; by default the estimator's own.
        name : str, default=None
            What the legend calls the model; by default its class.

        Returns
        -------
        BudgetCurveDisplay
        """
        rows = score_rows(estimator, X, pos_label)
        return cls.from_predictions(
            y,
            rows.score,
            budget=budget,
            amount=amount,
            pos_label=rows.pos_label,
            sample_weight=sample_weight,
            name=name_of(estimator) if name is None else name,
            log_scale=log_scale,
            ax=ax,
            **line_options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        budget: int | float | str | None = None,
        amount: ArrayLike | None = None,
        pos_label: Label = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        log_scale: bool | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw what a ranking finds.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The labels.
        score : array-like of shape (n,)
            Higher goes first.
        budget : int, float or str, default=None
            The number of checks to mark, or a share of the rows (``0.005`` or ``"0.5%"``).
        amount : array-like of shape (n,), default=None
            What a row is worth when it is positive; draws the share of the money recovered too.
        pos_label : label, default=None
            The positive label; 1 among {0, 1} and {-1, 1}, else it must be given.
        sample_weight : array-like of shape (n,), default=None
            A row of weight 2 counts as two rows.
        name : str, default=None
            What the legend calls the model.
        log_scale : bool, default=None
            Draw the checks on a logarithmic scale; by default when there are more than 1000.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options
            Options of the curve, such as ``color``.

        Returns
        -------
        BudgetCurveDisplay
        """
        checks, hits = hits_by_check(
            y_true, score, pos_label=pos_label, sample_weight=sample_weight
        )
        check_has_positives(hits[-1], checks[-1])
        recovered = None
        if amount is not None:
            recovered = _recovered_amounts(y_true, score, amount, pos_label, sample_weight)
        display = cls(checks=checks, hits=hits, recovered=recovered, budget=budget, name=name)
        return display.plot(ax, log_scale=log_scale, **line_options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        log_scale: bool | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        name : str, default=None
            What the legend calls the model; by default ``self.name``.
        log_scale : bool, default=None
            Draw the checks on a logarithmic scale; by default as the curves already there, else
            when there are more than 1000 checks.
        **line_options
            Options of the curve, such as ``color``.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = figure_of(self.ax_)
        earlier = sum(line.get_gid() == _CURVE for line in self.ax_.lines)
        if log_scale is None:
            in_use = self.ax_.get_xscale() == "log"
            log_scale = in_use if earlier else bool(self.checks[-1] > _LONG_LIST)
        self.ax_.set_xscale("log" if log_scale else "linear")
        drawn_at = self._drawn_at(log_scale)
        self.random_line_ = self._draw_random(drawn_at)
        colour = MODEL_COLOURS[earlier % len(MODEL_COLOURS)]
        options = {"color": colour, "linewidth": 2, **_in_full(line_options)}
        self._draw_curves(drawn_at, self.name if name is None else name, options)
        self._draw_budget(log_scale)
        self._finish(log_scale)
        return self

    def _drawn_at(self, log_scale: bool) -> Floats:
        """Checks at which the curve is drawn."""
        corners, rows = self.checks, self.checks[-1]
        if log_scale:
            # The straight line of a long tie is bent on this scale, and there is no 0.
            corners = corners[corners > 0]
            return np.union1d(
                corners[:_POINTS], np.geomspace(min(1, corners[0]), rows, _POINTS // 2)
            )
        if corners.size <= _POINTS:
            return corners
        return np.union1d(corners[:_POINTS], np.linspace(0, rows, _POINTS))

    def _draw_random(self, drawn_at: Floats) -> Line2D:
        rows = self.checks[-1]
        for line in self.ax_.lines:
            if line.get_gid() == _RANDOM and np.asarray(line.get_xdata())[-1] == rows:
                return line
        style: dict[str, Any] = {"color": QUIET, "linewidth": 1.2, "linestyle": ":", "zorder": 1}
        share = drawn_at / rows
        return self.ax_.plot(drawn_at, share, label="Random order", gid=_RANDOM, **style)[0]

    def _draw_curves(self, drawn_at: Floats, name: str | None, options: dict[str, Any]) -> None:
        found = np.interp(drawn_at, self.checks, self.hits) / self.positives
        label = name or "Positives found"
        self.line_ = self.ax_.plot(drawn_at, found, label=label, gid=_CURVE, **options)[0]
        self.money_line_ = None
        if self.recovered is not None:
            money = np.interp(drawn_at, self.checks, self.recovered) / self.recovered[-1]
            # The axis says what is dashed: one entry a model keeps the legend of several short.
            label = "_money" if name else "Money recovered"
            dashed = {**options, "color": self.line_.get_color(), "linestyle": "--"}
            self.money_line_ = self.ax_.plot(drawn_at, money, label=label, gid=_MONEY, **dashed)[0]

    def _draw_budget(self, log_scale: bool) -> None:
        self.budget_line_, self.annotation_ = None, None
        if self.budget is None:
            return
        ax, checks = self.ax_, self.budget
        marks = [line for line in ax.lines if line.get_gid() == _BUDGET]
        same = [line for line in marks if np.asarray(line.get_xdata())[0] == checks]
        self.budget_line_ = (
            same[0] if same else ax.axvline(checks, color=QUIET, linewidth=1, gid=_BUDGET)
        )
        colour = self.line_.get_color()
        ax.plot(checks, self._hits_at(checks) / self.positives, "o", color=colour, markersize=7)
        self.annotation_ = self._note(checks, below=self._room_below(checks, log_scale))

    def _room_below(self, checks: float, log_scale: bool) -> bool:
        """Whether the note goes right of the line and below the curve, else left of and above it.

        The curve only rises, so it passes through neither place near the line.
        """
        rows = self.checks[-1]
        along = np.log(checks) / np.log(rows) if log_scale and rows > 1 else checks / rows
        return bool(along < 0.35 or (along < 0.65 and self._hits_at(checks) > 0.5 * self.positives))

    def _note(self, checks: float, *, below: bool) -> Annotation:
        gid = _BELOW if below else _ABOVE
        lines = [t.get_text().count("\n") + 1 for t in self.ax_.texts if t.get_gid() == gid]
        # Notes of several models are stacked, from the bottom up or from the top down.
        away = 8 + sum(13 * n + 8 for n in lines)
        return self.ax_.annotate(
            self._sentence(checks),
            xy=(checks, 0 if below else 1),
            xycoords=self.ax_.get_xaxis_transform(),
            xytext=(8, away) if below else (-8, -away),
            textcoords="offset points",
            horizontalalignment="left" if below else "right",
            verticalalignment="bottom" if below else "top",
            multialignment="left",
            fontsize=SMALL,
            bbox={
                "boxstyle": "round,pad=0.3",
                "facecolor": "white",
                "edgecolor": self.line_.get_color(),
            },
            gid=gid,
        )

    def _hits_at(self, checks: float) -> float:
        return float(np.interp(checks, self.checks, self.hits))

    def _sentence(self, checks: float) -> str:
        hits = self._hits_at(checks)
        lines = [
            f"{counted(checks, 'check')}: {counted(hits, 'hit')}",
            f"{percent(hits / checks, 1)} of them positive",
            f"{percent(hits / self.positives)} of all positives found",
        ]
        if self.recovered is not None:
            money = np.interp(checks, self.checks, self.recovered) / self.recovered[-1]
            lines.append(f"{percent(float(money))} of the money recovered")
        return ",\n".join(lines)

    def _finish(self, log_scale: bool) -> None:
        ax = self.ax_
        tidy(ax)
        ax.margins(x=0)
        ax.set_ylim(0, 1.03)
        in_percent(ax.yaxis)
        if log_scale:
            ax.xaxis.set_major_formatter(lambda checks, _: f"{checks:,.12g}")
        ax.set_xlabel("Number of checks, from the top of the list")
        with_money = any(line.get_gid() == _MONEY for line in ax.lines)
        aside = " (dashed: of all money)" if with_money else ""
        ax.set_ylabel(f"Share of all positives found{aside}")
        ax.set_title("What each number of checks finds")
        entries = ax.get_legend_handles_labels()[0]
        entries.sort(key=lambda entry: entry.get_gid() == _RANDOM)  # the models come first
        ax.legend(handles=entries, fontsize=SMALL, frameon=False)


def _in_full(line_options: dict[str, Any]) -> dict[str, Any]:
    """The options under their full names: ``c`` is ``color``."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return normalize_kwargs(line_options, Line2D)


def _recovered_amounts(
    y_true: ArrayLike,
    score: ArrayLike,
    amount: ArrayLike,
    pos_label: Label,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Money recovered at the corners of the curve."""
    positive, scores, weight = check_rows(y_true, score, pos_label, sample_weight)
    money = as_amounts(amount, scores.size)
    total = np.append(0.0, cumulate(scores, money * positive * weight)[1])
    if not total[-1] > 0:
        raise ValueError(
            f"The amounts of the positive rows sum to {total[-1]:g}: there is no money to recover."
        )
    return total

"""Where a classifier predicts positive, on a plane through the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rarefind._core.types import ArrayLike, Bools, Floats, Label, Table
from rarefind.metrics import positive_label_of, ranking_scores
from rarefind.metrics.inputs import is_positive
from rarefind.plots._planes import plane_of
from rarefind.plots._rows import check_has_positives, name_of
from rarefind.plots.axes import (
    MODEL_COLOURS,
    POSITIVE,
    SMALL,
    axes_or_new,
    figure_of,
    number,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure

# More points of a class than these hide the region, and each other.
_MOST, _MOST_SYNTHETIC = 2000, 500
# Shares of the plane ranked first, inside each line of the ranking.
_LEVELS = (0.1, 0.3)
_NEGATIVE_DOT = "#6E7780"


class DecisionRegionDisplay:
    """The region of a plane that a classifier predicts positive, and the rows around it.

    The plane is the table itself where it has two columns, that of two chosen features with the
    others at their median, or that of the first two principal components of the standardised
    columns, the others being at their mean. Rows are seen from above: beyond two columns they lie
    off the plane, and the region is that of the plane, so a row drawn inside it need not be
    predicted positive. Of many columns a plane shows little; then draw a model of two components,
    ``make_pipeline(StandardScaler(), PCA(2), model)``, as for figure 3.3 of [1]_. Make it with
    :meth:`from_estimator`.

    Parameters
    ----------
    xx, yy : ndarray of shape (m, m)
        The points of the plane.
    found : ndarray of shape (m, m)
        Whether they are predicted positive.
    ranking : ndarray of shape (m, m), default=None
        The share of the points that rank below each, where the estimator ranks.
    negatives, positives : ndarray of shape (n, 2)
        The rows of each class, on the plane.
    synthetic : ndarray of shape (n, 2), default=None
        The synthetic positives.
    labels : (str, str), default=None
        What the axes are called.
    name : str, default=None
        What the title calls the model.

    Attributes
    ----------
    xx_, yy_, found_, ranking_
        As given.
    negatives_, positives_, synthetic_ : ndarray of shape (n, 2) or None
        The points that are drawn: at most 2000 of a class and 500 synthetic ones, taken at random,
        without negatives far from all others, which are outside the picture.
    labels, name
        As given.
    ax_, figure_
        Where it is drawn.
    region_ : ContourSet or None
        The region; None where nothing is predicted positive.
    contours_ : ContourSet or None
        Lines around the 10 and the 30 % of the plane that rank first.
    negative_points_, positive_points_, synthetic_points_ : PathCollection or None
        The rows.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, section 3.3.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> from rarefind.plots import DecisionRegionDisplay
    >>> X, y = load_keel("haberman")
    >>> model = make_pipeline(StandardScaler(), GammaKNNClassifier()).fit(X, y)
    >>> display = DecisionRegionDisplay.from_estimator(model, X, y, features=("Age", "Positive"))
    >>> display.found_.shape, display.labels
    ((200, 200), ('Age', 'Positive'))
    """

    ax_: Axes
    figure_: Figure
    region_: ContourSet | None
    contours_: ContourSet | None
    negative_points_: PathCollection
    positive_points_: PathCollection
    synthetic_points_: PathCollection | None

    def __init__(
        self,
        *,
        xx: Floats,
        yy: Floats,
        found: Bools,
        negatives: Floats,
        positives: Floats,
        ranking: Floats | None = None,
        synthetic: Floats | None = None,
        labels: tuple[str, str] | None = None,
        name: str | None = None,
    ) -> None:
        self.xx_ = xx
        self.yy_ = yy
        self.found_ = found
        self.ranking_ = ranking
        self._rows = len(negatives), len(positives), 0 if synthetic is None else len(synthetic)
        self.negatives_ = _some(self._inside(negatives), _MOST)
        self.positives_ = _some(positives, _MOST)
        self.synthetic_ = None
        if synthetic is not None:
            self.synthetic_ = _some(self._inside(synthetic), _MOST_SYNTHETIC)
        self.labels = labels
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        features: Sequence[Any] | None = None,
        pos_label: Label = None,
        synthetic: Table | None = None,
        grid: int = 200,
        ax: Axes | None = None,
        name: str | None = None,
    ) -> Self:
        """Draw the region of a fitted classifier around the given rows.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes; any of scikit-learn's, and pipelines.
        X, y : array-like
            The rows and their labels.
        features : (column, column), default=None
            Names or places of two columns, for a plane through them with the others at their
            median (their most frequent value, if they hold text); by default both where there are
            two, else the first two principal components.
        pos_label : label, default=None
            The positive label; by default the estimator's own.
        synthetic : array-like of shape (m, d), default=None
            Synthetic positives, in the columns of ``X``; by default those that a γk-NN with a
            sampler was fitted with, where the steps before it have an ``inverse_transform``.
        grid : int, default=200
            Points along a side of the plane.
        ax : Axes, default=None
            Where to draw; by default on a new figure. The legend stands below the axes: leave
            about 3 cm there, or use the layout "constrained".
        name : str, default=None
            What the title calls the model; by default its class.

        Returns
        -------
        DecisionRegionDisplay
        """
        if grid < 2:
            raise ValueError(f"grid={grid}: a side of the plane has at least 2 points.")
        if _takes_distances(estimator):
            raise ValueError("Precomputed distances have no plane: give a model of the rows.")
        label = positive_label_of(estimator) if pos_label is None else pos_label
        if label not in estimator.classes_:
            known = " and ".join(map(str, estimator.classes_))
            raise ValueError(f"pos_label={pos_label!r} is not among the labels {known}.")
        positive = is_positive(y, label)
        check_has_positives(positive.sum(), positive.size)
        plane = plane_of(X, features)
        placed = plane.place(X)
        if synthetic is None:
            synthetic = _synthetic_rows(estimator)
        xx, yy = _mesh(placed, positive, grid)
        points = plane.rows_at(np.column_stack([xx.ravel(), yy.ravel()]))
        display = cls(
            xx=xx,
            yy=yy,
            found=np.asarray(estimator.predict(points) == label).reshape(xx.shape),
            negatives=placed[~positive],
            positives=placed[positive],
            ranking=_ranking(estimator, points, label, xx.shape),
            synthetic=None if synthetic is None else plane.place(synthetic),
            labels=plane.labels,
            name=name_of(estimator) if name is None else name,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the region, the lines of the ranking and the rows.

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
        self.ax_ = axes_or_new(ax, figsize=(6.4, 5.6))
        self.figure_ = figure_of(self.ax_)
        self._draw_region()
        self._draw_ranking()
        self._draw_rows()
        self._finish(self.name if name is None else name)
        return self

    def _inside(self, points: Floats) -> Floats:
        """The points within the picture."""
        low = self.xx_.min(), self.yy_.min()
        high = self.xx_.max(), self.yy_.max()
        return np.asarray(points[((points >= low) & (points <= high)).all(axis=1)])

    def _draw_region(self) -> None:
        self.region_ = None
        if not self.found_.any():
            return
        found = self.found_.astype(float)
        self.region_ = self.ax_.contourf(
            self.xx_, self.yy_, found, levels=[0.5, 1.5], colors=[POSITIVE], alpha=0.22, zorder=0
        )
        if not self.found_.all():
            self.ax_.contour(
                self.xx_, self.yy_, found, levels=[0.5], colors=[POSITIVE], linewidths=1, zorder=1
            )

    def _draw_ranking(self) -> None:
        self.contours_ = None
        if self.ranking_ is None:
            return
        levels = sorted(1 - share for share in _LEVELS)
        self.contours_ = self.ax_.contour(
            self.xx_,
            self.yy_,
            self.ranking_,
            levels=levels,
            colors=[MODEL_COLOURS[0]],
            linewidths=0.7,
            alpha=0.75,
            zorder=1,
        )

    def _draw_rows(self) -> None:
        scatter, (negatives, positives, synthetic) = self.ax_.scatter, self._rows
        self.negative_points_ = scatter(
            self.negatives_[:, 0],
            self.negatives_[:, 1],
            s=5,
            color=_NEGATIVE_DOT,
            linewidths=0,
            label=_count_text("Negatives", self.negatives_, negatives),
            zorder=2,
        )
        self.synthetic_points_ = None
        if self.synthetic_ is not None:
            self.synthetic_points_ = scatter(
                self.synthetic_[:, 0],
                self.synthetic_[:, 1],
                s=13,
                facecolors="none",
                edgecolors=POSITIVE,
                linewidths=0.6,
                alpha=0.8,
                label=_count_text("Synthetic positives", self.synthetic_, synthetic),
                zorder=2.5,
            )
        self.positive_points_ = scatter(
            self.positives_[:, 0],
            self.positives_[:, 1],
            s=34,
            marker="x",
            color="black",
            linewidths=1.3,
            label=_count_text("Positives", self.positives_, positives),
            zorder=3,
        )

    def _finish(self, name: str | None) -> None:
        ax = self.ax_
        tidy(ax)
        ax.set_xlim(self.xx_.min(), self.xx_.max())
        ax.set_ylim(self.yy_.min(), self.yy_.max())
        if self.labels is not None:
            ax.set_xlabel(self.labels[0])
            ax.set_ylabel(self.labels[1])
        title = "Rows predicted positive"
        ax.set_title(f"{name}: {title.lower()}" if name else title)
        ax.legend(
            handles=self._legend(),
            # Below the axes, where it hides no row.
            loc="upper center",
            bbox_to_anchor=(0.5, -0.13),
            ncols=2,
            fontsize=SMALL,
            frameon=False,
        )

    def _legend(self) -> list[Artist]:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        # A dot as small as on the plane would be lost beside its text.
        dot = Line2D([], [], marker="o", markersize=4, linestyle="", color=_NEGATIVE_DOT)
        dot.set_label(self.negative_points_.get_label())
        region = Patch(facecolor=POSITIVE, alpha=0.3, label="Predicted positive")
        entries: list[Artist] = [region, self.positive_points_, dot]
        if self.synthetic_points_ is not None:
            entries.append(self.synthetic_points_)
        if self.contours_ is not None:
            shares = ", ".join(f"{100 * share:.0f}" for share in _LEVELS)
            line = Line2D([], [], color=MODEL_COLOURS[0], linewidth=0.9)
            line.set_label(f"Ranked first: {shares} %")
            entries.append(line)
        return entries


def _takes_distances(estimator: Any) -> bool:
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.pairwise)


def _some(points: Floats, most: int) -> Floats:
    """At most so many of the points; the same ones every time."""
    if len(points) <= most:
        return points
    chosen = np.random.default_rng(0).choice(len(points), most, replace=False)
    return points[np.sort(chosen)]


def _count_text(what: str, drawn: Floats, rows: int) -> str:
    some = "" if len(drawn) == rows else f"{number(len(drawn))} of "
    return f"{what} ({some}{number(rows)})"


def _mesh(placed: Floats, positive: Bools, grid: int) -> tuple[Floats, Floats]:
    """Points around all positives, and all negatives but those far from the others."""
    sides = []
    for axis in placed.T:
        seen = np.append(axis[positive], _without_far(axis[~positive]))
        margin = 0.06 * (np.ptp(seen) or 1.0)
        sides.append(np.linspace(seen.min() - margin, seen.max() + margin, grid))
    xx, yy = np.meshgrid(*sides)
    return xx, yy


def _without_far(values: Floats) -> Floats:
    """Without values further from the middle 98 % than half of its width.

    In a picture that holds the largest amounts, all others would lie in a corner.
    """
    if not values.size:
        return values
    low = np.quantile(values, 0.01, method="higher")
    high = np.quantile(values, 0.99, method="lower")
    room = abs(high - low) / 2
    return values[(values >= low - room) & (values <= high + room)]


def _ranking(estimator: Any, points: Table, label: Label, shape: tuple[int, ...]) -> Floats | None:
    """Share of the points that rank below each, ties by half; None where there is no order.

    Shares, not scores: ratios of distances go up to 1e100, and no line lies between such.
    """
    if not any(hasattr(estimator, m) for m in ("priority", "decision_function", "predict_proba")):
        return None
    score = ranking_scores(estimator, points, label)
    ordered = np.sort(score)
    if ordered[0] == ordered[-1]:
        return None
    below, up_to = (np.searchsorted(ordered, score, side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * score.size)).reshape(shape)


def _synthetic_rows(estimator: Any) -> Table | None:
    """Synthetic positives of a γk-NN inside pipelines and searches, in the columns of the table."""
    for name in ("best_estimator_", "estimator_"):
        if hasattr(estimator, name):
            return _synthetic_rows(getattr(estimator, name))
    if not hasattr(estimator, "steps"):
        made = getattr(estimator, "synthetic_positives_", None)
        return made if made is not None and len(made) else None
    made_last = _synthetic_rows(estimator.steps[-1][1])
    before = estimator[:-1]
    if made_last is None or not before.steps:
        return made_last
    return before.inverse_transform(made_last) if hasattr(before, "inverse_transform") else None

"""The ellipsoids of ME² around the positives, seen on two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import feature_names
from rarefind._core.types import ArrayLike, Floats, Label, Table
from rarefind.metrics.inputs import is_positive
from rarefind.metrics.scorers import deciding_estimator
from rarefind.neighbors.ellipsoids import Ellipsoid
from rarefind.plots._rows import check_has_positives, name_of
from rarefind.plots.axes import POSITIVE, QUIET, SMALL, axes_or_new, figure_of, number, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.figure import Figure

# More negatives than these hide the ellipsoids, and each other.
_MOST = 2000
_POINTS = 100


class EllipsoidDisplay:
    """The ellipsoids of a fitted ME², on two features, with the rows around them.

    With two columns they are drawn as they are. With more, each is drawn as its shadow on the two
    features, the places that some point inside it has; so a negative drawn inside a shadow need not
    be inside the ellipsoid. Make it with :meth:`from_estimator`.

    Parameters
    ----------
    outlines : ndarray of shape (n_ellipsoids, n_points, 2)
        The border of each ellipsoid or shadow.
    negatives, positives : ndarray of shape (n, 2)
        The rows of each class.
    shadows : bool
        Whether they are shadows.
    labels : (str, str), default=None
        What the axes are called.
    name : str, default=None
        What the title calls the model.

    Attributes
    ----------
    outlines, negatives, positives, shadows, labels, name
        As given.
    ax_, figure_
        Where it is drawn.
    ellipsoids_ : PolyCollection
        The ellipsoids.
    negative_points_, positive_points_ : PathCollection
        The rows; at most 2000 negatives, evenly chosen.

    References
    ----------
    .. [1] G. Metzler et al., "Learning maximum excluding ellipsoids from imbalanced data with
       theoretical guarantees", Pattern Recognition Letters 112, 2018, figure 1.

    Examples
    --------
    >>> from rarefind.data import load_keel
    >>> from rarefind.neighbors import ME2Classifier
    >>> from rarefind.plots import EllipsoidDisplay
    >>> X, y = load_keel("ecoli4")
    >>> model = ME2Classifier(random_state=0).fit(X, y)
    >>> display = EllipsoidDisplay.from_estimator(model, X, y, features=("Gvh", "Alm1"))
    >>> display.labels, len(display.outlines)
    (('Gvh', 'Alm1'), 20)
    """

    ax_: Axes
    figure_: Figure
    ellipsoids_: PolyCollection
    negative_points_: PathCollection
    positive_points_: PathCollection

    def __init__(
        self,
        *,
        outlines: Floats,
        negatives: Floats,
        positives: Floats,
        shadows: bool,
        labels: tuple[str, str] | None = None,
        name: str | None = None,
    ) -> None:
        self.outlines = outlines
        self.negatives = negatives
        self.positives = positives
        self.shadows = shadows
        self.labels = labels
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        features: Sequence[Any] = (0, 1),
        pos_label: Label = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the ellipsoids of a fitted ME² and the given rows.

        Parameters
        ----------
        estimator : ME2Classifier or Pipeline that ends in one
            Fitted. Of a pipeline, the rows are drawn as its last step sees them.
        X, y : array-like
            The rows and their labels.
        features : (column, column), default=(0, 1)
            Names or numbers of two columns, of the table that the classifier sees.
        pos_label : label, default=None
            The positive label; by default the estimator's own.
        name : str, default=None
            What the title calls the model; by default its class.
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        EllipsoidDisplay
        """
        check_is_fitted(estimator)
        model = deciding_estimator(estimator)
        if not hasattr(model, "ellipsoids_"):
            raise ValueError(
                f"{type(model).__name__} has no ellipsoids to draw: fit ME2Classifier."
            )
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X)
        rows = validate_data(model, X, reset=False, dtype=np.float64)
        positive = is_positive(y, model.pos_label_ if pos_label is None else pos_label)
        check_has_positives(positive.sum(), positive.size)
        names = feature_names(model)
        places = _two_places(features, names)
        return cls(
            outlines=np.stack([_shadow(e, places) for e in model.ellipsoids_]),
            negatives=rows[~positive][:, places],
            positives=rows[positive][:, places],
            shadows=rows.shape[1] > 2,
            labels=(names[places[0]], names[places[1]]),
            name=name_of(estimator) if name is None else name,
        ).plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the ellipsoids and the rows.

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
        from matplotlib.collections import PolyCollection

        self.ax_ = axes_or_new(ax, figsize=(6.4, 5.6))
        self.figure_ = figure_of(self.ax_)
        what = "Shadows of ellipsoids" if self.shadows else "Ellipsoids"
        self.ellipsoids_ = PolyCollection(
            list(self.outlines),
            facecolors=(POSITIVE, 0.12),
            edgecolors=(POSITIVE, 0.7),
            linewidths=0.8,
            label=f"{what} ({number(len(self.outlines))})",
            zorder=1,
        )
        self.ax_.add_collection(self.ellipsoids_)
        drawn = self.negatives[:: -(-len(self.negatives) // _MOST) or 1]
        self.negative_points_ = self._draw("Negatives", drawn, len(self.negatives), s=6, c=QUIET)
        self.positive_points_ = self._draw(
            "Positives", self.positives, len(self.positives), s=24, c=POSITIVE, marker="x"
        )
        self._finish(self.name if name is None else name)
        return self

    def _draw(self, label: str, points: Floats, rows: int, **options: Any) -> PathCollection:
        share = "" if len(points) == rows else f"{number(len(points))} of "
        return self.ax_.scatter(
            points[:, 0],
            points[:, 1],
            linewidths=1.2 if "marker" in options else 0,
            label=f"{label} ({share}{number(rows)})",
            zorder=2,
            **options,
        )

    def _finish(self, name: str | None) -> None:
        ax = self.ax_
        tidy(ax)
        # The rows set the frame: one large ellipsoid would make all others small.
        rows = np.vstack([self.negatives, self.positives])
        for put, column in ((ax.set_xlim, rows[:, 0]), (ax.set_ylim, rows[:, 1])):
            room = 0.05 * float(np.ptp(column)) or 0.5
            put(float(column.min()) - room, float(column.max()) + room)
        if self.labels is not None:
            ax.set_xlabel(self.labels[0])
            ax.set_ylabel(self.labels[1])
        title = "Ellipsoids around the positives"
        ax.set_title(f"{name}: {title.lower()}" if name else title)
        # Below the axes, where it hides no row.
        ax.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.13),
            ncols=3,
            fontsize=SMALL,
            frameon=False,
        )


def _shadow(ellipsoid: Ellipsoid, places: list[int]) -> Floats:
    """The border of the projection on two features.

    The projection of vᵀMv ≤ R is wᵀS⁻¹w ≤ R, where S is the block of M⁻¹ for the features.
    """
    block = np.linalg.inv(ellipsoid.matrix)[np.ix_(places, places)]
    angle = np.linspace(0, 2 * np.pi, _POINTS, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    border = np.linalg.cholesky(block) @ circle * np.sqrt(ellipsoid.radius)
    return np.asarray(ellipsoid.centre[places] + border.T)


def _two_places(features: Sequence[Any], names: list[str]) -> list[int]:
    """Places of two different columns, given by name or by number."""
    places = []
    for feature in features:
        if feature in names:
            places.append(names.index(feature))
        elif isinstance(feature, int | np.integer) and -len(names) <= feature < len(names):
            places.append(int(feature) % len(names))
        else:
            raise ValueError(f"There is no column {feature!r}: the table has {len(names)} columns.")
    if len(places) != 2 or places[0] == places[1]:
        raise ValueError(f"features must name two columns, not {features!r}.")
    return places

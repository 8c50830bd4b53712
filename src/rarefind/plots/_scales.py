"""What the scales of real and synthetic positives are worth, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rarefind._core.types import ArrayLike, Floats, Table
from rarefind.neighbors.scale_maps import ScaleMap, scale_map
from rarefind.plots.axes import POSITIVE, SMALL, axes_or_new, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


class ScaleMapDisplay:
    """Heat map of a measure over γ of real and γ of synthetic positives.

    As figure 2.7 of [1]_. The pair that the fit finds, which need not lie on the grid, is
    marked; on the dashed line synthetic positives count as real ones. Make it with
    :meth:`from_estimator` or :meth:`from_map`.

    Parameters
    ----------
    found : ScaleMap
        What :func:`rarefind.neighbors.scale_map` returns.

    Attributes
    ----------
    found
        As given.
    ax_, figure_
        Where it is drawn.
    mesh_ : QuadMesh
        The heat map.
    colorbar_ : Colorbar
        Its scale.
    best_ : Line2D
        The mark of the pair that the fit finds.
    equal_line_ : Line2D
        The pairs of equal scales.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, section 2.5.2.

    Examples
    --------
    >>> from imblearn.over_sampling import SMOTE
    >>> from rarefind.data import load_keel
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> from rarefind.plots import ScaleMapDisplay
    >>> X, y = load_keel("yeast4")
    >>> model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    >>> display = ScaleMapDisplay.from_estimator(model, X, y)
    >>> display.ax_.get_title()
    'F1 on held-out rows: 0.4... at the mark'
    """

    ax_: Axes
    figure_: Figure
    mesh_: QuadMesh
    colorbar_: Colorbar
    best_: Line2D
    equal_line_: Line2D

    def __init__(self, *, found: ScaleMap) -> None:
        self.found = found

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: ArrayLike,
        *,
        gammas: ArrayLike | None = None,
        gammas_synthetic: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Measure all pairs of scales on held-out rows, and draw them.

        Parameters
        ----------
        estimator : GammaKNNClassifier
            With a sampler; it need not be fitted.
        X, y, gammas, gammas_synthetic, groups
            As in :func:`rarefind.neighbors.scale_map`.
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        ScaleMapDisplay
        """
        found = scale_map(
            estimator, X, y, gammas=gammas, gammas_synthetic=gammas_synthetic, groups=groups
        )
        return cls.from_map(found, ax)

    @classmethod
    def from_map(cls, found: ScaleMap, ax: Axes | None = None) -> Self:
        """Draw what was measured.

        Parameters
        ----------
        found : ScaleMap
            What :func:`rarefind.neighbors.scale_map` returns.
        ax : Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        ScaleMapDisplay
        """
        return cls(found=found).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the map, the pair found by the fit and the line of equal scales.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure. The bar of colours takes room from it.

        Returns
        -------
        self
        """
        from matplotlib.patheffects import withStroke

        self.ax_ = axes_or_new(ax, figsize=(5.2, 6.2))
        self.figure_ = figure_of(self.ax_)
        found = self.found
        edges = _edges(found.gammas), _edges(found.gammas_synthetic)
        # Light is good and dark is bad, to colour-blind readers and in print too.
        self.mesh_ = self.ax_.pcolormesh(*edges, found.values.T, cmap="cividis", rasterized=True)
        self.colorbar_ = self.figure_.colorbar(self.mesh_, ax=self.ax_, label=self._metric())
        ends = max(edges[0][0], edges[1][0]), min(edges[0][-1], edges[1][-1])
        self.equal_line_ = self.ax_.plot(
            ends,
            ends,
            color="white",
            linewidth=1.4,
            linestyle="--",
            label="Equal scales",
            # An outline, to be seen on light cells and in the legend.
            path_effects=[withStroke(linewidth=2.6, foreground="black")],
        )[0]
        self.best_ = self.ax_.plot(
            found.best_gamma,
            found.best_gamma_synthetic,
            "o",
            markersize=9,
            markerfacecolor=POSITIVE,
            markeredgecolor="white",
            markeredgewidth=1.5,
            clip_on=False,
            label=f"Found by the fit: {found.best_gamma:.2f}, {found.best_gamma_synthetic:.2f}",
        )[0]
        self._finish(*edges)
        return self

    def _metric(self) -> str:
        name = self.found.metric.replace("_", " ")
        return name[:1].upper() + name[1:]

    def _finish(self, real: Floats, synthetic: Floats) -> None:
        ax = self.ax_
        # The pair found may lie outside a grid of one's own.
        best = self.found.best_gamma, self.found.best_gamma_synthetic
        ax.set_xlim(min(real[0], best[0]), max(real[-1], best[0]))
        ax.set_ylim(min(synthetic[0], best[1]), max(synthetic[-1], best[1]))
        ax.spines[:].set_visible(False)
        ax.set_xlabel("γ of real positives")
        ax.set_ylabel("γ of synthetic positives")
        ax.set_title(f"{self._metric()} on held-out rows: {self.found.best_value:.3f} at the mark")
        ax.legend(
            handles=[self.best_, self.equal_line_],
            # Below the axes, where it hides no pair.
            loc="upper center",
            bbox_to_anchor=(0.5, -0.09),
            ncols=2,
            fontsize=SMALL,
            frameon=False,
        )


def _edges(centres: Floats) -> Floats:
    """Edges of cells around the scales: halfway between them, and as far beyond the last."""
    if centres.size == 1:
        return centres[0] * np.array([0.5, 1.5])
    halfway = (centres[1:] + centres[:-1]) / 2
    first = max(0.0, 2 * centres[0] - halfway[0])
    return np.concatenate([[first], halfway, [2 * centres[-1] - halfway[-1]]])

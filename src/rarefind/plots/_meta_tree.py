"""A tree of trees, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from rarefind._core.checks import feature_names
from rarefind._core.types import Bools
from rarefind.metrics.scorers import deciding_estimator
from rarefind.plots._rows import name_of
from rarefind.plots.axes import SMALL, axes_or_new, figure_of
from rarefind.trees.graph import MetaTree
from rarefind.trees.layout import FONT, LINE, Box, Line, TreeLayout, lay_out
from rarefind.trees.svg import ARROW, COLOURS, DASH, FRAME, INK, START, box_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.text import Text

_POINTS_PER_INCH = 72.0
# Inches that the legend takes in one line.
_WIDE = 7.0
# Points that the title and the legend take above and below the drawing.
_ABOVE, _BELOW = 30.0, 46.0


class MetaTreeDisplay:
    """The conditions of a fitted tree of trees, from the top down to its leaves.

    Each box has a condition and the (negatives, positives) that come to it. A solid green arrow
    leads on where the condition holds, a dashed red one where it does not. The leaves stand below
    in the order of their scores, the first one left. Make it with :meth:`from_estimator`.

    Parameters
    ----------
    layout : TreeLayout
        Where everything is drawn.
    name : str, default=None
        What the title calls the model.

    Attributes
    ----------
    layout, name
        As given.
    ax_, figure_
        Where it is drawn.
    boxes_ : list of FancyBboxPatch
        Conditions by their number, then leaves by their rank.
    lines_ : list of PathPatch
        The lines from box to box, in pieces.
    texts_ : list of Text
        What the boxes say.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, figure 4.8.

    Examples
    --------
    >>> from rarefind.data import load_keel
    >>> from rarefind.plots import MetaTreeDisplay
    >>> from rarefind.trees import MetaAPClassifier
    >>> X, y = load_keel("yeast6")
    >>> model = MetaAPClassifier(random_state=0).fit(X, y)
    >>> display = MetaTreeDisplay.from_estimator(model)
    >>> len(display.boxes_) == model.n_conditions_ + model.n_leaves_
    True
    """

    ax_: Axes
    figure_: Figure
    boxes_: list[FancyBboxPatch]
    lines_: list[PathPatch]
    texts_: list[Text]

    def __init__(self, *, layout: TreeLayout, name: str | None = None) -> None:
        self.layout = layout
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Axes | None = None,
        *,
        has_missing: Bools | None = None,
        name: str | None = None,
    ) -> Self:
        """Draw a fitted tree of trees.

        Parameters
        ----------
        estimator : classifier made of one tree of trees, or Pipeline that ends in one
            Fitted.
        ax : Axes, default=None
            Where to draw; by default on a new figure, as large as the tree needs.
        has_missing : ndarray of bool, default=None
            Features whose boxes say where a missing value goes; by default none.
        name : str, default=None
            What the title calls the model; by default its class.

        Returns
        -------
        MetaTreeDisplay
        """
        check_is_fitted(estimator)
        model = deciding_estimator(estimator)
        tree, score = getattr(model, "tree_", None), getattr(model, "leaf_scores_", None)
        if not isinstance(tree, MetaTree) or score is None:
            raise ValueError(
                f"{type(model).__name__} has no tree of trees to draw: fit MetaAPClassifier."
            )
        layout = lay_out(model.named_tree(), score, feature_names(model), has_missing)
        return cls(layout=layout, name=name_of(estimator) if name is None else name).plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw the boxes and the lines.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure, as large as the tree needs.
        name : str, default=None
            What the title calls the model; by default ``self.name``.

        Returns
        -------
        self
        """
        layout = self.layout
        height = (layout.height + _ABOVE + _BELOW) / _POINTS_PER_INCH
        self.ax_ = axes_or_new(ax, figsize=(max(6.4, layout.width / _POINTS_PER_INCH), height))
        self.figure_ = figure_of(self.ax_)
        self.ax_.set_xlim(0, layout.width)
        self.ax_.set_ylim(layout.height, 0)
        self.ax_.set_aspect("equal")
        self.ax_.set_axis_off()
        self._finish(self.name if name is None else name)
        scale = self._scale()
        self.lines_ = [self._draw_line(line, scale) for line in layout.lines]
        self.boxes_ = [self._draw_box(box, scale) for box in layout.boxes]
        self.texts_ = [text for box in layout.boxes for text in self._draw_texts(box, scale)]
        return self

    def _scale(self) -> float:
        """Points on paper for one point of the drawing."""
        if self.figure_.get_layout_engine() is not None:
            self.figure_.draw_without_rendering()
        box = self.ax_.get_window_extent()
        points = _POINTS_PER_INCH / self.figure_.dpi
        return points * min(box.width / self.layout.width, box.height / self.layout.height)

    def _draw_line(self, line: Line, scale: float) -> PathPatch:
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        (x0, y0), (x1, y1) = line.start, line.end
        if line.arrives:
            tip = [(x1, y1), (x1 - ARROW / 2, y1 - ARROW - 1), (x1 + ARROW / 2, y1 - ARROW - 1)]
            self.ax_.add_patch(Polygon(tip, color=COLOURS[line.holds], linewidth=0, zorder=2))
            y1 -= ARROW
        middle = (y0 + y1) / 2
        path = Path(
            [(x0, y0), (x0, middle), (x1, middle), (x1, y1), (x1, y1 + line.run)],
            [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO],
        )
        patch = PathPatch(
            path,
            fill=False,
            edgecolor=COLOURS[line.holds],
            linewidth=1.5 * scale,
            linestyle=_dashes(line.holds),
            zorder=1,
        )
        self.ax_.add_patch(patch)
        return patch

    def _draw_box(self, box: Box, scale: float) -> FancyBboxPatch:
        from matplotlib.patches import FancyBboxPatch

        corner = box.x - box.width / 2, box.y - box.height / 2
        style = f"round,pad=0,rounding_size={4 if box.heat is None else 10}"
        patch = FancyBboxPatch(
            corner,
            box.width,
            box.height,
            boxstyle=style,
            facecolor=box_colour(box),
            edgecolor=FRAME,
            linewidth=scale,
            zorder=3,
        )
        self.ax_.add_patch(patch)
        return patch

    def _draw_texts(self, box: Box, scale: float) -> list[Text]:
        texts = []
        for i, line in enumerate(box.lines):
            last = i == len(box.lines) - 1
            texts.append(
                self.ax_.text(
                    box.x,
                    box.y + LINE * (i - (len(box.lines) - 1) / 2),
                    line,
                    parse_math=False,
                    ha="center",
                    va="center",
                    fontsize=0.92 * FONT * scale,
                    color="#4A5058" if last else INK,
                    fontweight="bold" if box.heat is not None and not last else "normal",
                    zorder=4,
                )
            )
        return texts

    def _finish(self, name: str | None) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        n_leaves = sum(box.heat is not None for box in self.layout.boxes)
        n_conditions = len(self.layout.boxes) - n_leaves
        title = f"{n_conditions} conditions, {n_leaves} leaves"
        self.ax_.set_title(f"{name}: {title}" if name else title)
        handles = [
            Line2D([], [], color=COLOURS[holds], linestyle=_dashes(holds), label=label)
            for holds, label in ((True, "the condition holds"), (False, "it does not"))
        ]
        start = Patch(facecolor=START, edgecolor=FRAME, label="an inner tree starts")
        counts = Line2D([], [], linestyle="", label="(negatives, positives)")
        self.ax_.legend(
            handles=[*handles, start, counts],
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=4 if self.ax_.get_window_extent().width / self.figure_.dpi > _WIDE else 2,
            fontsize=SMALL,
            frameon=False,
        )


def _dashes(holds: bool | None) -> Any:
    return (0, DASH) if holds is False else "-"

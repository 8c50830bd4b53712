"""Lists of several models in one picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rarefind.cli._compare import Compared

_CURVES = 5  # more would hide each other


def draw(found: list[Compared], path: Path) -> None:
    """Hits of each model with intervals, and what more checks would find by the best of them."""
    from matplotlib.figure import Figure

    from rarefind.report.pictures import save_picture

    figure = Figure(figsize=(12, max(4.2, 1.6 + 0.34 * len(found))), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_hits(left, found)
    _draw_curves(right, found)
    save_picture(figure, path)


def _draw_hits(ax: Any, found: list[Compared]) -> None:
    from rarefind.plots.axes import MODEL_COLOURS, QUIET, tidy

    places = np.arange(len(found))[::-1]
    hits = [each.found.hits for each in found]
    values = np.array([h.value for h in hits])
    spread = np.array([[h.value - h.low, h.high - h.value] for h in hits]).T.clip(0)
    ax.errorbar(values, places, xerr=spread, fmt="o", color=MODEL_COLOURS[0], elinewidth=1)
    ax.axvline(found[0].found.random_hits, color=QUIET, linestyle=":", linewidth=1)
    ax.set_yticks(places, [each.name for each in found])
    ax.set_xlim(left=0)
    ax.set_xlabel("Hits, with 95 % interval; dotted: in random order")
    ax.set_title(f"What {found[0].found.checks:,.0f} checks find")
    tidy(ax)


def _draw_curves(ax: Any, found: list[Compared]) -> None:
    from rarefind.plots import BudgetCurveDisplay

    for each in found[:_CURVES]:
        BudgetCurveDisplay.from_predictions(
            each.estimate.positive,
            each.estimate.within_folds(each.estimate.priority),
            name=each.name,
            ax=ax,
        )
    ax.set_title("What more checks of the held-out rows would find")

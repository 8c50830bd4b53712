"""The demo's page: one HTML file that needs no network to open."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rarefind._core.files import atomic_write
from rarefind.report.pictures import axes, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rarefind.cli._demo import Demo
    from rarefind.cli._demo_worlds import World


def write_page(found: Demo, path: Path) -> None:
    """Write the page; the file is whole or not there."""
    from jinja2 import Environment

    from rarefind.cli._demo import shown, verdict, what_was_done
    from rarefind.cli._demo_worlds import LIGHTGBM

    template = files("rarefind.cli").joinpath("demo.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(template)
    text = page.render(
        found=found,
        shown=shown,
        verdict=verdict(found),
        what_was_done=what_was_done(found),
        without_lightgbm=LIGHTGBM not in found.worlds[0].scores,
        card=found.model.card().as_dict(),
        rows=found.listed.to_dict(orient="records"),
        pictures={"hits": picture(_hits(found)), "scores": picture(_scores(found))},
    )
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def draw_hits(ax: Axes, worlds: list[World], budget: int) -> None:
    """Hits a day by checks a day, for each model, with bands of 95 %."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    from rarefind.cli._demo_worlds import interval
    from rarefind.plots.axes import MODEL_COLOURS, tidy

    checks = sorted({max(1, round(budget * share)) for share in (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2)})
    for name, colour in zip(worlds[0].scores, MODEL_COLOURS, strict=False):
        found = [interval(np.concatenate([w.hits_a_day(name, k) for w in worlds])) for k in checks]
        ax.plot(checks, [f.value for f in found], "o-", ms=4, color=colour, label=name)
        low, high = [f.low for f in found], [f.high for f in found]
        ax.fill_between(checks, low, high, color=colour, alpha=0.12, lw=0)
    tidy(ax)
    ax.set(xlabel="Checks a day", ylabel="Hits a day: customers with fraud found")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _hits(found: Demo) -> Figure:
    figure, ax = axes()
    draw_hits(ax, found.worlds, found.budget)
    ax.legend(frameon=False, fontsize=9)
    ax.set_title("What a day's checks find")
    return figure


def _scores(found: Demo) -> Figure:
    from rarefind.cli._demo_worlds import OURS
    from rarefind.plots import ScoreHistogramDisplay

    figure, ax = axes()
    first = found.worlds[0]
    ScoreHistogramDisplay.from_predictions(
        (first.test["fraud"] == 1).to_numpy(),
        first.scores[OURS],
        threshold=found.model.estimator_.threshold_,
        name=OURS,
        ax=ax,
    )
    return figure

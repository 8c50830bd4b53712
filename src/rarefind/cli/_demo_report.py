"""The demo's report: one HTML file that needs no network to open."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rarefind._core.files import atomic_write
from rarefind.report.pictures import axes, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rarefind.cli._demo import Demo


def write_report(found: Demo, path: Path) -> None:
    """Write the report; the file is whole or not there."""
    from jinja2 import Environment

    from rarefind.cli._demo import worth

    template = files("rarefind.cli").joinpath("demo.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(template)
    text = page.render(
        found=found,
        card=found.model.card(),
        worth={ranking.name: worth(ranking) for ranking in found.rankings},
        rows=found.listed.to_dict(orient="records"),
        pictures={
            "budget": picture(budget_picture(found)),
            "scores": picture(_scores(found)),
            "daily": picture(_daily(found)),
        },
    )
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def budget_picture(found: Demo) -> Figure:
    """What each number of payments checked finds, by both models."""
    from rarefind.plots import BudgetCurveDisplay

    figure, ax = axes()
    checks = found.budget * found.ranked["days"]
    for ranking in found.rankings:
        BudgetCurveDisplay.from_predictions(
            found.truth, ranking.score, budget=checks, name=ranking.name, ax=ax
        )
    return figure


def _scores(found: Demo) -> Figure:
    from rarefind.plots import ScoreHistogramDisplay

    figure, ax = axes()
    first = found.rankings[0]
    threshold = found.model.estimator_.threshold_
    ScoreHistogramDisplay.from_predictions(
        found.truth, first.score, threshold=threshold, name=first.name, ax=ax
    )
    return figure


def _daily(found: Demo) -> Figure:
    from rarefind.plots.axes import MODEL_COLOURS, in_percent, tidy

    figure, ax = axes()
    for ranking, colour in zip(found.rankings, MODEL_COLOURS, strict=False):
        share = ranking.daily["hits"] / ranking.daily["checks"]
        ax.plot(ranking.daily["day"], share, "o-", color=colour, label=ranking.name)
    tidy(ax)
    ax.set_ylim(0, 1)
    in_percent(ax.yaxis)
    ax.set_ylabel("Share of the checked customers with a fraud")
    ax.set_title(f"Precision of {found.budget} checks, day by day")
    ax.tick_params(axis="x", rotation=30)
    ax.legend(frameon=False)
    return figure

"""The charts of the page, each with a text for readers who cannot see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rarefind.plots import BudgetCurveDisplay
from rarefind.plots.axes import MODEL_COLOURS, QUIET, SMALL, in_percent, tidy
from rarefind.report.pictures import axes, picture

if TYPE_CHECKING:
    from rarefind._core.types import Bools, Floats

_OURS = MODEL_COLOURS[0]
# Inches; small, so that letters can be read on a narrow screen.
_SIZE = (5.2, 3.8)


def budget_curve(
    positive: Bools, scores: dict[str, Floats], checks: int, what: str
) -> dict[str, str] | None:
    """Positives found by number of checks; None where there is no positive to find."""
    if not positive.any():
        return None
    figure, ax = axes(*_SIZE)
    for name, score in scores.items():
        BudgetCurveDisplay.from_predictions(positive, score, budget=checks, name=name, ax=ax)
    others = " and ".join(scores)
    return {
        "src": picture(figure),
        "alt": f"Share of all positives found by number of checks, {what}: {others}, and random "
        f"checks; the budget of {checks:,} checks is marked.",
    }


def precision_over_time(found: dict[str, Any], what: str) -> dict[str, str]:
    """Share of the list that is positive, period by period."""
    periods = [p for p in found["periods"] if p["precision"] is not None]
    figure, ax = axes(_SIZE[0], 3.0)
    shares = np.array([[p["precision"][k] for k in ("value", "low", "high")] for p in periods])
    places = np.arange(len(periods))
    if len(periods):
        value, low, high = shares.T
        spread = np.clip([value - low, high - value], 0, None)
        ax.errorbar(places, value, yerr=spread, fmt="o", color=_OURS, capsize=3, markersize=6)
        hits, checks = (sum(p[name] for p in periods) for name in ("hits", "labelled"))
        ax.axhline(hits / checks, color=QUIET, linestyle=":", linewidth=1.2)
        ax.set_title(f"dotted: all periods together, {100 * hits / checks:.0f} %", fontsize=SMALL)
    _by_period(ax, [p["start"] for p in periods], found["per"])
    ax.set_ylim(-0.02, 1.02)
    in_percent(ax.yaxis)
    ax.set_ylabel("Positives among the checks")
    return {
        "src": picture(figure),
        "alt": f"Share of the checked rows that are positive in each {found['per']}, with 95 % "
        f"intervals, {what}.",
    }


def score_over_time(found: dict[str, Any]) -> dict[str, str]:
    """Share of rows above the threshold, period by period: needs no labels."""
    figure, ax = axes(_SIZE[0], 3.0)
    shares = [p["above_threshold"] for p in found["periods"]]
    # A bar alone would be as wide as the picture.
    bars = ax.bar(range(len(shares)), shares, color=_OURS, width=min(0.7, 0.1 * len(shares)))
    texts = [f"{100 * share:.2g} %" if share < 0.995 else "100 %" for share in shares]
    ax.bar_label(bars, texts, fontsize=8, padding=2)
    ax.set_xlim(-0.6, len(shares) - 0.4)
    ax.set_ylim(0, 1.15 * max(shares) or 1)
    _by_period(ax, [p["start"] for p in found["periods"]], found["per"])
    in_percent(ax.yaxis)
    ax.set_ylabel("Rows above the threshold")
    return {
        "src": picture(figure),
        "alt": f"Share of the rows of this file above the model's threshold in each "
        f"{found['per']}.",
    }


def calibration_curve(found: dict[str, Any], what: str) -> dict[str, str]:
    """Share of positives beside the mean probability of the rows in each bin."""
    figure, ax = axes(*_SIZE)
    bins = found["bins"]
    mean = np.array([one["mean_probability"] for one in bins])
    keys = ("value", "low", "high")
    share = np.array([[one["share_positive"][key] for key in keys] for one in bins])
    floor = 10 ** np.floor(np.log10(max(1e-5, min(mean.min(), share[:, 1:].min(initial=1.0)))))
    floor = max(float(floor), 1e-5)
    ax.plot([floor, 1], [floor, 1], color=QUIET, linestyle=":", label="perfect")
    value, low, high = np.maximum(share.T, floor)
    spread = np.clip([value - low, high - value], 0, None)
    at = np.maximum(mean, floor)
    ax.errorbar(at, value, yerr=spread, fmt="o", color=_OURS, capsize=3, label="this model")
    for scale, axis in ((ax.set_xscale, ax.xaxis), (ax.set_yscale, ax.yaxis)):
        scale("log")
        in_percent(axis)
    ax.set_xlim(floor, 1.3)
    ax.set_ylim(floor, 1.3)
    tidy(ax)
    ax.set_xlabel("Probability by the model")
    ax.set_ylabel("Share of positives")
    ax.legend(frameon=False, loc="upper left")
    return {
        "src": picture(figure),
        "alt": "Share of positives beside the probability by the model, on logarithmic scales with "
        f"95 % intervals, {what}.",
    }


def _by_period(ax: Any, starts: list[str], per: str) -> None:
    tidy(ax)
    ax.set_xticks(range(len(starts)), starts, rotation=40, ha="right", fontsize=8)
    ax.set_xlabel("Day" if per == "day" else f"{per.capitalize()} that begins on")

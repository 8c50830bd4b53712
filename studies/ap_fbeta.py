"""Average precision beside the best F-measure of simulated scores: figures A.1 to A.3."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

from rarefind.metrics import average_precision, f_beta
from rarefind.selection import best_threshold
from studies.arrays import Bools, Floats
from studies.catalogue import STUDIES
from studies.published import published_value
from studies.report import Claim, Report
from studies.sets import Sets
from studies.study import Part, Row, Study
from studies.tables import rounded

_Draw = Callable[[np.random.Generator, int], Floats]

#: Table A.1: how the scores of positives and of negatives are drawn.
_KINDS: dict[str, tuple[_Draw, _Draw]] = {
    "N(0, 1), N(0, 1)": (lambda rng, n: rng.normal(0, 1, n), lambda rng, n: rng.normal(0, 1, n)),
    "Beta(4, 1), Beta(1, 1)": (lambda rng, n: rng.beta(4, 1, n), lambda rng, n: rng.beta(1, 1, n)),
    "Beta(1, 1), Beta(1, 4)": (lambda rng, n: rng.beta(1, 1, n), lambda rng, n: rng.beta(1, 4, n)),
    "N(3, 1), N(0, 1)": (lambda rng, n: rng.normal(3, 1, n), lambda rng, n: rng.normal(0, 1, n)),
}
_ROWS = (100, 10_000)
_SHARES = (0.01, 0.5)
_SIMULATIONS, _AT_ONCE, _QUICK = 10_000, 1_000, 500
_AP = "AP"
_BEST = {1.0: "best F1", 0.5: "best F0.5", 2.0: "best F2"}
_FIGURES = {1.0: "A.1", 0.5: "A.2", 2.0: "A.3"}
_FIXED = "F1 at 0.5"
# Simulations of nearly the same share of positives; few of them say nothing.
_BANDS = np.linspace(*_SHARES, 11)
_FEWEST = 20


class APBesideFBeta(Study):
    """Appendix A of the thesis of 2019."""

    about = STUDIES["ap-fbeta"]

    def parts(self, sets: Sets, runs: int, quick: bool) -> list[Part]:
        if quick:
            return [Part("simulated scores", 0, f"0 to {_QUICK - 1}")]
        return [
            Part("simulated scores", run, f"{first} to {first + _AT_ONCE - 1}")
            for run in range(runs)
            for first in range(0, _SIMULATIONS, _AT_ONCE)
        ]

    def run(self, part: Part, sets: Sets, quick: bool) -> list[Row]:
        first, last = map(int, part.what.split(" to "))
        return [row for number in range(first, last + 1) for row in _simulated(number, part.run)]

    def report(self, found: pd.DataFrame, quick: bool) -> Report:
        wide = _simulations(found)
        report = Report(self.title, _INTRO, why=_WHY)
        report.claims += [_as_correlated(wide, beta) for beta in _BEST]
        report.claims += [
            _same_for_every_beta(wide),
            _needs_the_best_threshold(wide),
            _in_every_kind(wide),
            _at_one_share(wide),
        ]
        report.table("Correlation with average precision", rounded(_correlations(wide)))
        report.table(
            "Pearson's correlation with average precision, by the scores of positives, negatives",
            rounded(_by_kind(wide)),
        )
        report.table(
            "The same among simulations with nearly the same share of positives: the mean of the "
            "correlations in ten bands of the share",
            rounded(_by_kind_and_share(wide)),
        )
        for beta, measure in _BEST.items():
            report.picture(
                f"f{beta:g}".replace(".", ""),
                f"Figure {_FIGURES[beta]} again: every dot is a simulation, AP and the {measure}.",
                partial(_draw, wide, measure),
            )
        report.picture(
            "fixed",
            "Not in the thesis: AP and the F1 of one threshold, 0.5, for all.",
            partial(_draw, wide, _FIXED),
        )
        return report


def _simulated(number: int, run: int) -> list[Row]:
    """One simulation: a kind of scores, a number of rows, a share of positives, all at random."""
    rng = np.random.default_rng([run, number])
    kind = list(_KINDS)[rng.integers(len(_KINDS))]
    rows = int(rng.integers(_ROWS[0], _ROWS[1] + 1))
    positives = max(1, round(rows * rng.uniform(*_SHARES)))
    of_positives, of_negatives = _KINDS[kind]
    score = np.concatenate([of_positives(rng, positives), of_negatives(rng, rows - positives)])
    values = _values(np.arange(rows) < positives, score)
    params = json.dumps({"rows": rows, "positives": positives})
    return [Row(kind, measure, value, number, params) for measure, value in values.items()]


def _values(y: Bools, score: Floats) -> dict[str, float]:
    best = {
        measure: best_threshold(y, score, "f_beta", beta=beta).value
        for beta, measure in _BEST.items()
    }
    return {_AP: average_precision(y, score), **best, _FIXED: f_beta(y, score >= 0.5)}


def _simulations(found: pd.DataFrame) -> pd.DataFrame:
    """A line a simulation: its kind, its share of positives and what was measured."""
    wide = found.pivot_table(
        index=["run", "k", "method", "params"], columns="measure", values="value"
    ).reset_index()
    given = wide["params"].map(json.loads)
    return wide.assign(share=[each["positives"] / each["rows"] for each in given])


def _pearson(wide: pd.DataFrame, measure: str) -> float:
    if len(wide) < _FEWEST:
        return float("nan")
    return float(pearsonr(wide[_AP], wide[measure])[0])


def _published(measure: str = _BEST[1.0]) -> float:
    """Pearson's correlation in the text."""
    return published_value("001", "A", measure, "Pearson")


def _correlations(wide: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "measure": measure,
                "simulations": len(wide),
                "Pearson, published": _published(measure),
                "Pearson, ours": _pearson(wide, measure),
                "Spearman, ours": float(spearmanr(wide[_AP], wide[measure])[0]),
            }
            for measure in (*_BEST.values(), _FIXED)
        ]
    )


def _by_kind(wide: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for kind in _KINDS:
        own = wide[wide["method"] == kind]
        values = {measure: _pearson(own, measure) for measure in (*_BEST.values(), _FIXED)}
        lines.append(
            {"scores": kind, "simulations": len(own), "mean AP": own[_AP].mean(), **values}
        )
    return pd.DataFrame(lines)


def _by_kind_and_share(wide: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for kind in _KINDS:
        own = wide[wide["method"] == kind]
        bands = [part for _, part in own.groupby(pd.cut(own["share"], list(_BANDS)), observed=True)]
        values = {
            measure: float(pd.Series([_pearson(part, measure) for part in bands]).mean())
            for measure in _BEST.values()
        }
        lines.append({"scores": kind, **values})
    return pd.DataFrame(lines)


def _as_correlated(wide: pd.DataFrame, beta: float) -> Claim:
    own, reported = _pearson(wide, _BEST[beta]), _published(_BEST[beta])
    return Claim(
        f"AP and the {_BEST[beta]} are closely correlated (figure {_FIGURES[beta]}): at least as "
        "published.",
        bool(own >= reported),
        f"Pearson's correlation is {own:.3f} over {len(wide):,} simulations, published "
        f"{reported:.2f}.",
    )


def _same_for_every_beta(wide: pd.DataFrame) -> Claim:
    own = [_pearson(wide, measure) for measure in _BEST.values()]
    return Claim(
        "The correlation is similar for every β, within 0.02.",
        bool(max(own) - min(own) <= 0.02),
        f"It goes from {min(own):.3f} to {max(own):.3f}.",
    )


def _needs_the_best_threshold(wide: pd.DataFrame) -> Claim:
    best, fixed = _pearson(wide, _BEST[1.0]), _pearson(wide, _FIXED)
    return Claim(
        "It is so if the threshold is well set: with one that is not, F1 follows AP less.",
        bool(fixed < best),
        f"{best:.3f} with the best threshold of each simulation, {fixed:.3f} with 0.5 for all.",
    )


def _in_every_kind(wide: pd.DataFrame) -> Claim:
    table, reported = _by_kind(wide).set_index("scores")[list(_BEST.values())], _published()
    return Claim(
        f"Not in the thesis: it is as close, {reported} or more, within each of the four kinds.",
        bool((table >= reported).all(axis=None)) if table.notna().all(axis=None) else None,
        f"The smallest is {np.min(table.to_numpy()):.3f}.",
    )


def _at_one_share(wide: pd.DataFrame) -> Claim:
    table, reported = _by_kind_and_share(wide).set_index("scores"), _published()
    lowest = {kind: float(table.loc[kind].to_numpy().min()) for kind in _KINDS}
    return Claim(
        "Who optimises AP also optimises the best Fβ of the model at hand. If so, it is as close "
        f"still, {reported} or more, at one kind of scores and nearly one share of positives.",
        bool((table >= reported).all(axis=None)) if table.notna().all(axis=None) else None,
        "The smallest over β: "
        + ", ".join(f"{lowest[kind]:.2f} for {kind}" for kind in _KINDS)
        + ".",
    )


def _draw(wide: pd.DataFrame, measure: str, figure: Any) -> None:
    axes = figure.add_subplot()
    for kind in _KINDS:
        own = wide[wide["method"] == kind]
        # As an image: ten thousand circles make a file that no browser likes.
        axes.scatter(own[_AP], own[measure], 3, label=kind, rasterized=True)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    axes.set(xlabel=_AP, ylabel=measure, xlim=(0, 1), ylim=(0, 1))
    axes.legend(title="positives, negatives", fontsize="small", markerscale=3)


_INTRO = (
    "Appendix A of Frery's thesis simulates scores to show that average precision (AP) and the "
    "best Fβ over all thresholds go together. Its protocol, run again whole: 10,000 simulations, "
    "each with one of four pairs of distributions (table A.1), 100 to 10,000 rows and 1 to 50 % "
    "positives, all drawn evenly. The best threshold is exact. Fβ is the usual one: the formula in "
    "the appendix has (1 + β²) twice, which changes no correlation. Added: correlations within "
    "each pair of distributions, among simulations with nearly the same share of positives, and "
    "with F1 at one threshold for all."
)
_WHY = (
    "For β up to 1 the correlation is closer than published, for β = 2 it is looser, and it is "
    "not the same for every β; the appendix has one figure for all. How its rows and shares were "
    "drawn is not said beyond their ranges, so we do not know where the difference comes from. F2 "
    "has a floor that AP has not: alerting every row already gives F2 = 5π / (4π + 1) at a share "
    "π of positives, much where positives are many, however poor the ranking. Part of the "
    "correlation is between problems, not between models: it comes from the kinds of scores and "
    "from the share of positives, which move AP and Fβ together. Where both are held nearly "
    "still, which is where models are compared, AP and the best Fβ still go together, but less "
    "closely: to choose a model by AP is a good guide to the best Fβ, not the same thing."
)

STUDY = APBesideFBeta()

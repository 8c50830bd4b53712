"""What the values of a block of the scoreboard say: claims, tables and a picture for each half."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from _methods import AUTO, AUTOML, DEFAULTS, SGBAP
from scipy.stats import friedmanchisquare, studentized_range

from studies.report import Claim, Report
from studies.tables import Beside, beside, compare, rounded

MEASURES = ("AP", "P@k", "AUC", "Pos@Top", "F1")
COST = "processor seconds"
PUBLISHED = pd.DataFrame(columns=["dataset", "method", "metric", "k", "value"])
#: How far AutoClassifier may be behind the best of the others that are as they are.
FAR = 0.01


def add_half(report: Report, half: str, found: pd.DataFrame, total: int) -> None:
    """Add to a report what was found on the sets of a half."""
    if found.empty:
        return
    tables = {m: whole(beside(found, PUBLISHED, m)) for m in (*MEASURES, COST)}
    ap = tables["AP"].ours
    title = {"small": "Small public sets", "large": "Large tables with rare positives"}[half]
    report.text(
        f"**{title}.** {found['dataset'].nunique()} of {total} were run; the {len(ap)} that all of "
        f"the {ap.shape[1]} methods below were run on are compared."
    )
    report.claims += [
        claim.judged_if(len(ap) == total, "Not all of it is run.")
        for claim in claims(title, tables)
    ]
    report.table(f"{title}: means", summary(tables))
    best = AUTO if AUTO in ap else SGBAP
    standing = tables["AP"].standing(best).sort_values("mean rank")
    report.table(f"{title}: mean rank by AP, and {best} beside each", rounded(standing))
    for method in (AUTO, SGBAP):
        if method in ap and set(DEFAULTS) & set(ap):
            report.table(
                f"{title}: {method} beside the best of those that are as they are, by AP",
                beside_default(ap, method),
            )
    if len(ap) > 1 and ap.shape[1] > 2:
        caption = (
            f"{title}: mean ranks by average precision; methods under one bar differ by less than "
            "the critical difference (Nemenyi, 5 %)."
        )
        report.picture(f"ranks-{half}", caption, partial(draw_ranks, ap))
    every = beside(found, PUBLISHED, "AP").ours
    report.table(f"{title}: average precision, set by set", by_set(every))


def whole(table: Beside) -> Beside:
    """Without methods that were run on few of the sets, then without sets that others lack."""
    counts = table.ours.notna().sum()
    kept = [m for m in table.ours if counts[m] >= 0.8 * counts.max()]
    sets = table.ours[kept].dropna().index
    return table.of(kept, sets)


def claims(title: str, tables: dict[str, Beside]) -> list[Claim]:
    """What this library wants to hold on a half, and whether it does."""
    ap = tables["AP"].ours
    rivals = [m for m in ap if m in (*DEFAULTS, *AUTOML[1:]) or m.endswith(", tuned")]
    rivals = [m for m in rivals if not m.startswith(SGBAP)]
    if AUTO not in ap or not rivals:
        return []
    ranks = ap.round(9).rank(axis=1, ascending=False).mean()
    means = ap.mean()
    by_rank, by_mean = min(rivals, key=ranks.__getitem__), max(rivals, key=means.__getitem__)
    found = [
        Claim(
            f"{title}: AutoClassifier is ahead of every rival in mean rank by AP.",
            bool(ranks[AUTO] < ranks[by_rank]),
            f"{ranks[AUTO]:.2f}; {by_rank} has {ranks[by_rank]:.2f} (Wilcoxon p = "
            f"{compare(ap[AUTO], ap[by_rank]).p:.2g}).",
        ),
        Claim(
            f"{title}: AutoClassifier is ahead of every rival in mean AP.",
            bool(means[AUTO] > means[by_mean]),
            f"{means[AUTO]:.3f}; {by_mean} has {means[by_mean]:.3f} (Wilcoxon p = "
            f"{compare(ap[AUTO], ap[by_mean]).p:.2g}).",
        ),
    ]
    plain = [m for m in DEFAULTS if m in ap]
    if plain:
        gap = (ap[AUTO] - ap[plain].max(axis=1)).sort_values()
        behind = gap[gap < -FAR]
        worst = ", ".join(f"{name} ({value:+.3f})" for name, value in behind.head(5).items())
        found.append(
            Claim(
                f"{title}: AutoClassifier is nowhere more than {FAR} AP below the best of those "
                "that are as they are.",
                behind.empty,
                f"It is on {len(behind)} of {len(gap)} sets: {worst}."
                if len(behind)
                else f"The worst is {gap.index[0]} ({gap.iloc[0]:+.3f}).",
            )
        )
    return found


def summary(tables: dict[str, Beside]) -> pd.DataFrame:
    """Means of all measures, the best average precision first."""
    lines = pd.DataFrame({m: table.ours.mean() for m, table in tables.items()})
    ap = tables["AP"].ours
    lines["mean rank by AP"] = ap.round(9).rank(axis=1, ascending=False).mean()
    lines = lines.loc[ap.columns].sort_values("AP", ascending=False)
    lines[COST] = lines[COST].round(1)
    return rounded(lines.rename_axis("method").reset_index())


def beside_default(ap: pd.DataFrame, method: str) -> pd.DataFrame:
    """A line a set: how far a method is from the best that nobody tuned, the worst first."""
    plain = ap[[m for m in DEFAULTS if m in ap]]
    lines = pd.DataFrame(
        {
            method: ap[method],
            "best as it is": plain.max(axis=1),
            "which": plain.idxmax(axis=1),
            "difference": ap[method] - plain.max(axis=1),
        }
    )
    return rounded(lines.sort_values("difference").rename_axis("set").reset_index())


def by_set(ours: pd.DataFrame) -> pd.DataFrame:
    table = (100 * ours).round(1).rename_axis("set").reset_index()
    return table.astype(object).where(table.notna(), "–")


def draw_ranks(ours, figure):
    """The picture of critical differences (Demšar)."""
    ranks = ours.round(9).rank(axis=1, ascending=False).mean().sort_values()
    n, k = ours.shape
    axes = figure.add_subplot()
    axes.barh(list(ranks.index)[::-1], ranks.to_numpy()[::-1], color="0.8")
    axes.set_xlabel("mean rank")
    width = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    last = -1
    for i in range(k):
        j = int(np.searchsorted(ranks.to_numpy(), ranks.iloc[i] + width, side="right")) - 1
        if j > max(i, last):
            last = j
            x = 0.1 + 0.15 * i
            axes.plot([x, x], [k - 1 - i, k - 1 - j], color="tab:red", linewidth=3)
    p = friedmanchisquare(*(ours[m] for m in ours)).pvalue
    axes.set_title(f"{n} sets, critical difference {width:.2f}, Friedman p = {p:.1g}")

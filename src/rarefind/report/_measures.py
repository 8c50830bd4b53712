"""What the list finds on the file and over time, and whether probabilities are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.data.clock import Times, period_starts
from rarefind.metrics.intervals import share_interval
from rarefind.tables.lists import list_order, places

if TYPE_CHECKING:
    from rarefind.report._file import Labels, ScoredFile
    from rarefind.tables import TableModel

# Steps that people tell apart; equal steps would put nearly all rows of rare data in one bin.
_PROBABILITIES = (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 1.0)
#: From this share of known positives on, a file is taken for one that the model has seen.
_SEEN = 0.05
#: A table of more periods is too long to read.
_MOST_PERIODS = 16


def on_file(found: ScoredFile, listed: Bools) -> dict[str, Any] | None:
    """What the list finds among the labelled rows of the file."""
    if found.labels is None:
        return None
    known, positive = found.labels
    checks, hits = int((listed & known).sum()), int((listed & positive).sum())
    positives, rows = int(positive.sum()), int(known.sum())
    amount = None
    if found.amount is not None:
        amount = float(np.nansum(found.amount[listed & positive]))
    return {
        "rows": rows,
        "positives": positives,
        "checks": checks,
        "unlabelled_checks": int((listed & ~known).sum()),
        "hits": hits,
        "precision": share(hits, checks),
        "share_found": share(hits, positives),
        "amount": amount,
        "random_hits": checks * positives / rows,
    }


def seen_before(
    model: TableModel, found: ScoredFile, held_out: Times | None
) -> dict[str, Any] | None:
    """Why the file looks like the one the model was fitted on; None if it does not."""
    if found.known_ids >= max(1.0, _SEEN * model.positives_):
        return {"why": "ids", "rows": found.known_ids}
    positives = None if found.labels is None else int(found.labels.positive.sum())
    if (found.rows, positives) == (model.rows_, model.positives_):
        return {"why": "size", "rows": found.rows}
    if held_out is not None and found.times is not None:
        early = found.times.known & (found.times.instant <= held_out.instant.max())
        if early.any():
            return {"why": "time", "rows": int(early.sum())}
    return None


def list_over_time(
    times: Times | None, labels: Labels | None, listed: Bools, above: Bools | None = None
) -> dict[str, Any] | None:
    """Rows, checks and hits by period, and the share of rows above the threshold."""
    if times is None or not times.known.any():
        return None
    columns: dict[str, Array] = {"checks": listed}
    if labels is not None:
        columns["labelled"] = listed & labels.known
        columns["hits"] = listed & labels.positive
    if above is not None:
        columns["above"] = above
    per, table = over_time(times, columns)
    periods: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        period = {str(name): row[name] for name in table.columns if name != "above"}
        if labels is not None:
            period["precision"] = share(row["hits"], row["labelled"])
        if above is not None:
            period["above_threshold"] = row["above"] / row["rows"]
        periods.append(period)
    return {"per": per, "periods": periods}


def over_time(times: Times, columns: dict[str, Array]) -> tuple[str, pd.DataFrame]:
    """Sums of columns over the shortest periods that give a short table, and their length."""
    known = times.known
    for per in ("day", "week", "month", "quarter", "year"):
        periods = times.at(known).periods(per)
        if np.unique(periods).size <= _MOST_PERIODS:
            break
    counts = {name: values[known].astype(int) for name, values in columns.items()}
    found = pd.DataFrame({"rows": 1, **counts}).groupby(periods).sum()
    found.insert(0, "start", period_starts(found.index.to_numpy(), per))
    return per, found.reset_index(drop=True)


def curve_scores(
    priority: Floats, group: Ints, checks: Floats, owner: Array | None = None
) -> Floats:
    """Scores in the order of the checks, so that a curve passes through what the list finds.

    The first rows of all groups come first, then the second ones, and so on: after as many rows as
    there are checks, exactly the list is checked. ``checks`` are those of the group of each row.
    """
    order = list_order(priority, group, owner)
    share = np.full(priority.size, np.inf)  # of the checks of its group, when a row is reached
    share[order] = places(group[order]) / np.maximum(checks[order], np.finfo(float).tiny)
    score = np.empty(priority.size)
    score[np.lexsort((-priority, share))] = -np.arange(priority.size)
    return score


def calibration(positive: Bools, probability: Floats) -> dict[str, Any]:
    """The share of positives among rows of similar probability."""
    places = np.searchsorted(_PROBABILITIES[1:-1], probability, side="right")
    bins = []
    for place in np.unique(places).tolist():
        rows = places == place
        hits = int(positive[rows].sum())
        bins.append(
            {
                "from": _PROBABILITIES[place],
                "to": _PROBABILITIES[place + 1],
                "rows": int(rows.sum()),
                "mean_probability": float(probability[rows].mean()),
                "positives": hits,
                "share_positive": share(hits, float(rows.sum())),
            }
        )
    return {
        "expected": float(probability.sum()),
        "positives": int(positive.sum()),
        "bins": bins,
    }


def share(hits: float, of: float) -> dict[str, float] | None:
    """A share with its 95 % interval; None of nothing."""
    if of <= 0:
        return None
    low, high = share_interval(hits, of)
    return {"value": hits / of, "low": low, "high": high}

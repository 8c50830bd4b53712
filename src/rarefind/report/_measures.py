"""What is measured: the list on this file, over time, and whether chances are what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rarefind._core.types import Array, Bools, Floats
from rarefind.report._lists import MISSING_TIME, over_time, share

if TYPE_CHECKING:
    from rarefind.report._evidence import HeldOut
    from rarefind.report._scan import Labels, Scan
    from rarefind.tables import TableModel

# Chances that people tell apart; equal steps would put nearly all rows of rare data into one.
_CHANCES = (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 1.0)
#: From this share of known positives on, a file is taken for one that the model has seen.
_SEEN = 0.05


def on_file(found: Scan, chosen: Bools) -> dict[str, Any] | None:
    """What the list finds among the rows of the file whose target is known."""
    if found.labels is None:
        return None
    known, positive = found.labels
    checks, hits = int((chosen & known).sum()), int((chosen & positive).sum())
    positives, rows = int(positive.sum()), int(known.sum())
    amount = None
    if found.amount is not None:
        amount = float(np.nansum(found.amount[chosen & positive]))
    return {
        "rows": rows,
        "positives": positives,
        "checks": checks,
        "unknown_checks": int((chosen & ~known).sum()),
        "hits": hits,
        "precision": share(hits, checks),
        "share_found": share(hits, positives),
        "amount": amount,
        "random_hits": checks * positives / rows,
    }


def why_seen(model: TableModel, found: Scan, evidence: HeldOut | None) -> str | None:
    """Why the file looks like the one that the model learned from; None where it does not."""
    if found.known_again >= max(1.0, _SEEN * model.positives_):
        return (
            f"it holds {found.known_again:,} rows with the id of a positive that the model "
            "learned from"
        )
    positives = None if found.labels is None else int(found.labels.positive.sum())
    if (found.rows, positives) == (model.rows_, model.positives_):
        return "it has as many rows and as many positives as the training file"
    if evidence is not None and evidence.time is not None and found.time is not None:
        known = found.time[found.time != MISSING_TIME]
        if known.size and known.min() <= evidence.time.max():
            return "it holds rows from the time that the model learned from"
    return None


def list_over_time(
    time: Array | None, labels: Labels | None, chosen: Bools, above: Bools | None = None
) -> dict[str, Any] | None:
    """Rows, checks and hits by period; rows above the threshold tell of scores without labels."""
    if time is None or not (time != MISSING_TIME).any():
        return None
    columns: dict[str, Array] = {"checks": chosen.astype(int)}
    if labels is not None:
        columns["verdicts"] = (chosen & labels.known).astype(int)
        columns["hits"] = (chosen & labels.positive).astype(int)
    if above is not None:
        columns["above"] = above.astype(int)
    per, table = over_time(time, columns)
    periods: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        period = {str(name): row[name] for name in table.columns if name != "above"}
        if labels is not None:
            period["precision"] = share(row["hits"], row["verdicts"])
        if above is not None:
            period["above_threshold"] = row["above"] / row["rows"]
        periods.append(period)
    return {"per": per, "periods": periods}


def calibration(positive: Bools, probability: Floats) -> dict[str, Any]:
    """What rows with such a chance turned out to be."""
    places = np.searchsorted(_CHANCES[1:-1], probability, side="right")
    bins = []
    for place in np.unique(places).tolist():
        rows = places == place
        hits = int(positive[rows].sum())
        bins.append(
            {
                "from": _CHANCES[place],
                "to": _CHANCES[place + 1],
                "rows": int(rows.sum()),
                "said": float(probability[rows].mean()),
                "positives": hits,
                "was": share(hits, float(rows.sum())),
            }
        )
    return {
        "expected": float(probability.sum()),
        "positives": int(positive.sum()),
        "bins": bins,
    }

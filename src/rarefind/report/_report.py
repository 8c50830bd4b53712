"""All that a report says, as figures for machines, and the page made of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rarefind
from rarefind._core.budget import budget_share
from rarefind._core.types import Bools
from rarefind.metrics import budget as checks_bought
from rarefind.persistence import read_manifest
from rarefind.report import _drawn, _measured, _parts
from rarefind.report._evidence import HeldOut, fitted_budget, held_out
from rarefind.report._lists import listed, places
from rarefind.report._page import render
from rarefind.report._readable import readable
from rarefind.report._scan import Scan, scan
from rarefind.tables import TableModel, open_model

_DEFAULT_BUDGET = 200
#: How much smaller than drawn the letters of a tree may become.
_LETTERS = 0.8


def make_report(
    model_path: Path,
    data_path: Path,
    budget: str | None = None,
    top: int = 20,
    say: Callable[[str], None] = lambda what: None,
) -> tuple[str, dict[str, Any]]:
    """The page on a model file and a table file, and the figures on it."""
    say("Opening the model")
    model = open_model(model_path)
    return report_of(model, read_manifest(model_path), model_path.name, data_path, budget, top, say)


def report_of(
    model: TableModel,
    manifest: dict[str, Any],
    name: str,
    data: Path,
    budget: str | None = None,
    top: int = 20,
    say: Callable[[str], None] = lambda what: None,
) -> tuple[str, dict[str, Any]]:
    """The page on a model, which was loaded from a file of that name."""
    spend, per = _budget(model, budget)
    say(f"Reading and scoring {data.name}")
    found = scan(model, data, top)
    spend = _fitting(spend, found.rows, asked=budget is not None)
    evidence = held_out(model, spend)
    chosen = listed(found.priority, spend, per, found.time)
    say(f"Explaining {len(found.top):,} cases")
    reasons = model.explain(found.top)
    readable_part, svg = readable(model, reasons)
    say("Looking at the columns")
    figures = {
        "rarefind": rarefind.__version__,
        "model": {"file": name, "sha256": manifest.get("sha256")},
        "data": _data(data, found),
        "budget": _spent(spend, per, chosen),
        "bought": None if evidence is None else evidence.bought,
        "how": None if evidence is None else evidence.how,
        "on_file": _measured.on_file(found, chosen),
        "seen_before": _measured.why_seen(model, found, evidence),
        "profile": _parts.profile(model, found),
        **_over_time(model, found, chosen, evidence),
        "calibration": _calibration(model, found, evidence),
        "drift": _parts.drift(found),
        "readable": readable_part,
        "top": len(found.top),
        "cases": _parts.cases(model, found, reasons),
        "card": _parts.card(model, manifest),
    }
    say("Drawing")
    pictures = _pictures(figures, found, chosen, evidence)
    return render(figures, {**pictures, "tree": svg, "tree_width": _readable_width(svg)}), figures


def _readable_width(svg: str | None) -> float:
    """Pixels that a picture of a tree needs for letters that can be read."""
    found = None if svg is None else re.search(r'viewBox="0 0 (\d+) ', svg)
    return 0.0 if found is None else _LETTERS * float(found[1])


def _budget(model: TableModel, asked: str | None) -> tuple[int | float | str, str | None]:
    fitted, per = fitted_budget(model)
    if asked is None:
        return (_DEFAULT_BUDGET if fitted is None else fitted), per
    if asked.strip().rstrip("%").strip() in ("0", "0.0"):
        raise ValueError("A budget of 0 checks buys nothing: give the checks that you can afford.")
    return (int(float(asked)) if budget_share(asked) is None else asked), per


def _fitting(budget: int | float | str, rows: int, *, asked: bool) -> int | float | str:
    """A budget that the file can fill; one that was asked for and cannot is refused."""
    if budget_share(budget) is not None or int(budget) <= rows:
        return budget
    if asked:
        raise ValueError(
            f"The budget of {int(budget):,} checks is larger than the file, which has {rows:,} "
            "rows: give fewer checks."
        )
    return rows


def _data(path: Path, found: Scan) -> dict[str, Any]:
    labels = found.labels
    return {
        "file": path.name,
        "rows": found.rows,
        "columns": found.sample.shape[1],
        "labelled": 0 if labels is None else int(labels.known.sum()),
        "positives": None if labels is None else int(labels.positive.sum()),
        "sampled": len(found.sample),
    }


def _spent(budget: int | float | str, per: str | None, chosen: Bools) -> dict[str, Any]:
    share = budget_share(budget)
    return {
        "checks": int(checks_bought(budget, chosen.size)),
        "share": share,
        "per": per,
        "listed": int(chosen.sum()),
    }


def _over_time(
    model: TableModel, found: Scan, chosen: Bools, evidence: HeldOut | None
) -> dict[str, Any]:
    held = None
    if evidence is not None:
        held = _measured.list_over_time(evidence.time, evidence.labels, evidence.listed)
    threshold = float(getattr(model.estimator_, "threshold_", np.nan))
    above = None if np.isnan(threshold) else found.priority >= threshold
    on_file = _measured.list_over_time(found.time, found.labels, chosen, above)
    return {"held_out_over_time": held, "file_over_time": on_file}


def _calibration(model: TableModel, found: Scan, evidence: HeldOut | None) -> dict[str, Any] | None:
    if evidence is not None:
        measured = _measured.calibration(evidence.positive, evidence.probability)
        return {"source": "held_out", **measured}
    if found.labels is None:
        return None
    rows = found.sample.index.to_numpy()
    known, positive = (part[rows] for part in found.labels)
    if not known.any():
        return None
    column = list(model.classes_).index(model.positive_)
    chance = model.predict_proba(found.sample[known])[:, column]
    return {"source": "file", **_measured.calibration(positive[known], chance)}


def _pictures(
    figures: dict[str, Any], found: Scan, chosen: Bools, evidence: HeldOut | None
) -> dict[str, Any]:
    on_held_out, on_file = "on rows held out at the fit", "on this file"
    drawn: dict[str, Any] = dict.fromkeys(
        ("held_out_curve", "file_curve", "held_out_time", "file_time", "scores_time", "chances")
    )
    if evidence is not None:
        curves = {"This model": evidence.score, "Plain XGBoost": evidence.plain}
        checks = max(1, int(evidence.listed.sum()))
        drawn["held_out_curve"] = _drawn.budget_curve(
            evidence.positive, curves, checks, on_held_out
        )
    if found.labels is not None:
        known, positive = found.labels
        checks = max(1, int((chosen & known).sum()))
        # By places on the list, so that rows of one score count as they do in the table.
        curves = {"This model": places(found.priority[known])}
        drawn["file_curve"] = _drawn.budget_curve(positive[known], curves, checks, on_file)
    if figures["held_out_over_time"] is not None:
        drawn["held_out_time"] = _drawn.precision_over_time(
            figures["held_out_over_time"], on_held_out
        )
    by_period = figures["file_over_time"]
    if by_period is not None and "precision" in by_period["periods"][0]:
        drawn["file_time"] = _drawn.precision_over_time(by_period, on_file)
    if by_period is not None and "above_threshold" in by_period["periods"][0]:
        drawn["scores_time"] = _drawn.score_over_time(by_period)
    if figures["calibration"] is not None:
        where = on_held_out if figures["calibration"]["source"] == "held_out" else on_file
        drawn["chances"] = _drawn.reliability(figures["calibration"], where)
    return drawn

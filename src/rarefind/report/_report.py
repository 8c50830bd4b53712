"""A report: the figures, and the page made from them."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rarefind
from rarefind._core.budget import budget_share, check_budget
from rarefind._core.files import atomic_write
from rarefind._core.types import Bools, Ints, Table
from rarefind.data.read import row_numbers
from rarefind.data.row_numbers import RowNumbers, rows_named_by
from rarefind.data.table_file import AnyFile, TableFile
from rarefind.metrics import budget as checks_of_budget
from rarefind.persistence import read_manifest
from rarefind.report import _charts, _measures, _sections
from rarefind.report._estimate import HeldOutList, held_out_list
from rarefind.report._file import ScoredFile, score_file
from rarefind.report._model_summary import summarize
from rarefind.report._page import render
from rarefind.tables import TableModel, open_model
from rarefind.tables.lists import ListRequest, request_for

_DEFAULT_BUDGET = 200
#: How much smaller than drawn the letters of a tree may become.
_LETTERS = 0.8


class Report(NamedTuple):
    """What :func:`make_report` gives.

    Attributes
    ----------
    page : str
        The HTML page, which needs no other file and no network.
    figures : dict
        All numbers on the page, ready for JSON.
    """

    page: str
    figures: dict[str, Any]


def make_report(
    model: TableModel | str | Path,
    data: Table | AnyFile,
    *,
    budget: int | float | str | None = None,
    per: str | None = None,
    one_per: str | bool | None = None,
    top: int = 20,
    on_step: Callable[[str], object] = lambda what: None,
) -> Report:
    """Report what a budget finds, why, and how far to trust it.

    Parameters
    ----------
    model : TableModel, str or Path
        A fitted model, or its file. A model that ``rarefind fit`` wrote has held-out rows, by which
        the hits of a budget are estimated.
    data : table, str or Path
        New rows: a pandas or polars frame, an Arrow table, or a file as
        :func:`rarefind.data.read_table` takes it. With the target, what the list finds among these
        rows is measured as well.
    budget : int, float or str, default=None
        Checks, or a share of the rows (``"0.5%"``). By default that of the fit with its ``per`` and
        ``one_per``, or 200 checks.
    per, one_per
        As in :meth:`TableModel.rank <rarefind.TableModel.rank>`.
    top : int, default=20
        Rows of the list to show with their reasons.
    on_step : callable, optional
        Called with the name of each step, for progress.

    Returns
    -------
    Report
        The page and its figures.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> from rarefind.report import make_report
    >>> table = pd.DataFrame({"amount": [9, 12, 250, 11, 240, 13], "fraud": [0, 0, 1, 0, 1, 0]})
    >>> model = TableModel(GammaKNNClassifier(k=1), target="fraud").fit(table)
    >>> new = pd.DataFrame({"amount": [10, 260, 14, 8], "fraud": [0, 1, 0, 0]})
    >>> report = make_report(model, new, budget=2, top=1)
    >>> report.figures["on_file"]["hits"]
    1
    >>> report.page.startswith("<!doctype html>")
    True
    """
    manifest: dict[str, Any] = {}
    name = None
    if not isinstance(model, TableModel):
        on_step("Opening the model")
        path = Path(model)
        model, manifest, name = open_model(path), read_manifest(path), path.name
    if isinstance(data, str | Path):
        data = TableFile.of(data)
    request = _request(model, budget, per, one_per)
    on_step(f"Reading and scoring {data.name if isinstance(data, TableFile) else 'the table'}")
    held_out = held_out_list(model, request)
    with rows_named_by(data) if isinstance(data, TableFile) else nullcontext():
        found = score_file(model, data, request, top, probability=held_out is None)
    if request.per is None:
        request = _that_fits(request, found.rows, asked=budget is not None)
    listed = found.listed(request.budget)
    rows = found.top(listed, top)
    on_step(f"Explaining {len(rows):,} cases")
    reasons = model.explain(rows)
    summary, svg = summarize(model, reasons)
    on_step("Profiling the columns")
    figures = {
        "rarefind": rarefind.__version__,
        "model": {"file": name, "sha256": manifest.get("sha256")},
        "data": _data(data.name if isinstance(data, TableFile) else None, found),
        "budget": _budget(model, request, listed),
        "estimate": None if held_out is None else held_out.figures,
        "has_held_out_rows": model.estimate_ is not None,
        "on_file": _measures.on_file(found, listed),
        "seen_before": _measures.seen_before(
            model, found, None if held_out is None else held_out.times
        ),
        "profile": _sections.profile(model, found),
        **_over_time(model, found, listed, held_out),
        "calibration": _calibration(found, held_out),
        "drift": _sections.drift(found),
        "summary": summary,
        "top": len(rows),
        "cases": _sections.cases(model, rows, found, reasons, _row_numbers(data, rows)),
        "card": _sections.card(model, manifest),
    }
    on_step("Drawing")
    pictures = _pictures(figures, found, request, listed, held_out)
    pictures.update(tree=svg, tree_width=_readable_width(svg))
    return Report(render(figures, pictures), figures)


def write_report(
    model: TableModel | str | Path,
    data: Table | AnyFile,
    path: str | Path,
    *,
    budget: int | float | str | None = None,
    per: str | None = None,
    one_per: str | bool | None = None,
    top: int = 20,
    on_step: Callable[[str], object] = lambda what: None,
) -> Report:
    """Write the page of :func:`make_report` to a file, whole or not at all.

    Parameters
    ----------
    model, data
        As in :func:`make_report`.
    path : str or Path
        Where to write the page.
    budget, per, one_per, top, on_step
        As in :func:`make_report`.

    Returns
    -------
    Report
        The page and its figures.
    """
    report = make_report(
        model, data, budget=budget, per=per, one_per=one_per, top=top, on_step=on_step
    )
    with atomic_write(Path(path)) as part:
        part.write_text(report.page, encoding="utf-8")
    return report


def _request(
    model: TableModel,
    budget: int | float | str | None,
    per: str | None,
    one_per: str | bool | None,
) -> ListRequest:
    """What is asked for, or else what the model was fitted for."""
    if budget is not None:
        check_budget(budget)
    request = request_for(model, budget, per, one_per)
    return ListRequest(_DEFAULT_BUDGET, per, one_per) if request is None else request


def _that_fits(request: ListRequest, rows: int, *, asked: bool) -> ListRequest:
    """A budget for all rows that are fewer than the checks of the fit; one asked for is refused."""
    if asked:
        check_budget(request.budget, rows)
    elif budget_share(request.budget) is None:
        return request._replace(budget=min(int(float(request.budget)), rows))
    return request


def _data(name: str | None, found: ScoredFile) -> dict[str, Any]:
    labels = found.labels
    return {
        "file": name,
        "rows": found.rows,
        "columns": found.sample.shape[1],
        "labelled": 0 if labels is None else int(labels.known.sum()),
        "positives": None if labels is None else int(labels.positive.sum()),
        "sampled": len(found.sample),
    }


def _budget(model: TableModel, request: ListRequest, listed: Bools) -> dict[str, Any]:
    return {
        "checks": int(checks_of_budget(request.budget, listed.size)),
        "share": budget_share(request.budget),
        "per": request.per,
        "one_per": model.entity if request.one_per is True else request.one_per or None,
        "listed": int(listed.sum()),
    }


def _over_time(
    model: TableModel, found: ScoredFile, listed: Bools, held_out: HeldOutList | None
) -> dict[str, Any]:
    held = None
    if held_out is not None:
        held = _measures.list_over_time(held_out.times, held_out.labels, held_out.listed)
    threshold = float(getattr(model.estimator_, "threshold_", np.nan))
    above = None if np.isnan(threshold) else found.priority >= threshold
    on_file = _measures.list_over_time(found.times, found.labels, listed, above)
    return {"held_out_over_time": held, "file_over_time": on_file}


def _calibration(found: ScoredFile, held_out: HeldOutList | None) -> dict[str, Any] | None:
    if held_out is not None:
        measured = _measures.calibration(held_out.labels.positive, held_out.probability)
        return {"source": "held_out", **measured}
    if found.labels is None or found.probability is None:
        return None
    known, positive = found.labels
    measured = _measures.calibration(positive[known], found.probability[known])
    return {"source": "file", **measured}


def _pictures(
    figures: dict[str, Any],
    found: ScoredFile,
    request: ListRequest,
    listed: Bools,
    held_out: HeldOutList | None,
) -> dict[str, Any]:
    on_held_out, on_file = "on held-out rows", "on this file"
    pictures: dict[str, Any] = dict.fromkeys(
        ("held_out_curve", "file_curve", "held_out_time", "file_time", "scores_time", "calibration")
    )
    if held_out is not None:
        checks = max(1, int(held_out.listed.sum()))
        pictures["held_out_curve"] = _charts.budget_curve(
            held_out.labels.positive, held_out.curves, checks, on_held_out
        )
    if found.labels is not None:
        known, positive = found.labels
        checks = max(1, int((listed & known).sum()))
        score = _measures.curve_scores(
            found.priority, found.group, found.checks(request.budget), found.owner
        )
        pictures["file_curve"] = _charts.budget_curve(
            positive[known], {"This model": score[known]}, checks, on_file
        )
    if figures["held_out_over_time"] is not None:
        pictures["held_out_time"] = _charts.precision_over_time(
            figures["held_out_over_time"], on_held_out
        )
    by_period = figures["file_over_time"]
    if by_period is not None and "precision" in by_period["periods"][0]:
        pictures["file_time"] = _charts.precision_over_time(by_period, on_file)
    if by_period is not None and "above_threshold" in by_period["periods"][0]:
        pictures["scores_time"] = _charts.score_over_time(by_period)
    if figures["calibration"] is not None:
        where = on_held_out if figures["calibration"]["source"] == "held_out" else on_file
        pictures["calibration"] = _charts.calibration_curve(figures["calibration"], where)
    return pictures


def _row_numbers(data: Table | TableFile, rows: Any) -> Ints:
    """Numbers of rows in the file; in a table in memory, their positions from 0."""
    return (row_numbers(data) if isinstance(data, TableFile) else RowNumbers(0)).of(rows.index)


def _readable_width(svg: str | None) -> float:
    """Pixels that a picture of a tree needs for letters that can be read."""
    found = None if svg is None else re.search(r'viewBox="0 0 (\d+) ', svg)
    return 0.0 if found is None else _LETTERS * float(found[1])

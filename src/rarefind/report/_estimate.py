"""What to expect of a budget, by the held-out rows that a model keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats
from rarefind.data.clock import PERIODS, Times
from rarefind.report._file import Labels
from rarefind.report._measures import curve_scores

if TYPE_CHECKING:
    from rarefind.tables import BudgetEstimate, TableModel
    from rarefind.tables.lists import ListRequest


class HeldOutList(NamedTuple):
    """The list that a budget would have checked among held-out rows."""

    figures: dict[str, Any]  # what it finds, and among which rows
    labels: Labels
    probability: Floats
    listed: Bools
    times: Times | None
    curves: dict[str, Floats]  # scores in the order of the checks, by name of the model


def held_out_list(model: TableModel, request: ListRequest) -> HeldOutList | None:
    """The list for a request; None if the model has no rows held out for such a list."""
    estimate = _estimate_for(model, request)
    if estimate is None:
        return None
    value = estimate.list_value(request.budget)
    listed = estimate.listed(request.budget)
    lists, checks = estimate.lists(), estimate.checks(request.budget)
    curves = {
        name: curve_scores(score, lists, checks[lists], estimate.owner)
        for name, score in (("This model", estimate.priority), ("Plain XGBoost", estimate.plain))
    }
    return HeldOutList(
        figures={
            **value.as_dict(),
            "precision": {
                name: bound / value.checks for name, bound in value.hits._asdict().items()
            },
            "held_out": {
                "how": estimate.how,
                "rows": int(estimate.positive.size),
                "positives": int(estimate.positive.sum()),
                "rows_of_table": int(estimate.rows),
                "listed": int(listed.sum()),
            },
        },
        labels=Labels(np.ones(estimate.positive.size, dtype=bool), estimate.positive),
        probability=estimate.probability,
        listed=listed,
        times=estimate.times,
        curves=curves,
    )


def _estimate_for(model: TableModel, request: ListRequest) -> BudgetEstimate | None:
    """The estimate of the fit, for the period and the owners that are asked for."""
    estimate = model.estimate_
    if estimate is None:
        return None
    if request.per != estimate.per:
        if request.per is not None and not (request.per in PERIODS and estimate.times is not None):
            return None
        estimate = replace(estimate, per=request.per, group=None, group_rows=None)
    owner = model.entity if request.one_per is True else request.one_per or None
    if owner != estimate.one_per:
        if owner is not None and (owner != model.entity or estimate.entity is None):
            return None
        estimate = replace(
            estimate, one_per=owner, owner=None if owner is None else estimate.entity
        )
    return estimate

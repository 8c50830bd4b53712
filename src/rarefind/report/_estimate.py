"""What to expect of a budget, by the held-out rows that a model keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats
from rarefind.data.clock import Times
from rarefind.report._file import Labels
from rarefind.report._measures import curve_scores

if TYPE_CHECKING:
    from rarefind.tables import TableModel
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
    fitted = model.estimate_
    estimate = None if fitted is None else fitted.for_list(request, model.entity)
    if estimate is None:
        return None
    value = estimate.list_value(request.budget)
    listed = estimate.listed(request.budget)
    lists, checks = estimate.lists(), estimate.checks(request.budget)
    curves = {
        name: curve_scores(score, lists, checks[lists], estimate.owner)
        for name, score in (("This model", estimate.priority), ("Plain XGBoost", estimate.plain))
        if score is not None
    }
    return HeldOutList(
        figures={
            **value.as_dict(),
            "notes": estimate.notes(value, f"{model.target} = {model.positive_}"),
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

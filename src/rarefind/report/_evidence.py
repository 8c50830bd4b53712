"""What a model carries of rows it was judged on, and nothing else of the page touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rarefind._core.types import Array, Bools, Floats
from rarefind.report._lists import top_of_each
from rarefind.report._scan import Labels

if TYPE_CHECKING:
    from rarefind.metrics import Interval
    from rarefind.tables import TableModel


class HeldOut(NamedTuple):
    """Rows scored by models that had not seen them."""

    how: str
    positive: Bools
    score: Floats
    plain: Floats
    probability: Floats
    time: Array | None
    listed: Bools  # the rows that the budget would have checked
    bought: dict[str, Any]  # what it would have found, for the page and for machines

    @property
    def labels(self) -> Labels:
        """All of them are known."""
        return Labels(np.ones(self.positive.size, dtype=bool), self.positive)


def fitted_budget(model: TableModel) -> tuple[int | float | str | None, str | None]:
    """The budget that the model was fitted for, and the period it is spent in."""
    evidence = model.estimate_
    return (None, None) if evidence is None else (evidence.budget, evidence.per)


def held_out(model: TableModel, budget: int | float | str) -> HeldOut | None:
    """The evidence for a budget; None where a model carries none."""
    evidence = model.estimate_
    if evidence is None:
        return None
    bought = evidence.list_value(budget)
    score = evidence.within_folds(evidence.priority)
    checks = np.round(evidence.checks(budget)).astype(int)
    chosen = top_of_each(score, evidence.lists(), checks)
    return HeldOut(
        how=str(evidence.how),
        positive=np.asarray(evidence.positive, dtype=bool),
        score=score,
        plain=evidence.within_folds(evidence.plain),
        probability=np.asarray(evidence.probability, dtype=float),
        time=None if evidence.time is None else np.asarray(evidence.time, dtype=np.int64),
        listed=chosen,
        bought={
            "rows": int(evidence.positive.size),
            "positives": int(evidence.positive.sum()),
            "rows_of_table": int(evidence.rows),
            "checks": float(bought.checks),
            "among": float(bought.rows),
            "marked": int(chosen.sum()),
            "hits": interval(bought.hits),
            "precision": _scaled(bought.hits, float(bought.checks)),
            "share_found": interval(bought.share_found),
            "amount": None if bought.amount is None else interval(bought.amount),
            "random_hits": float(bought.random_hits),
            "plain_hits": float(bought.plain_hits),
            "plain_ahead": interval(bought.plain_ahead),
        },
    )


def interval(found: Interval) -> dict[str, float]:
    """An interval for machines."""
    return {"value": float(found.value), "low": float(found.low), "high": float(found.high)}


def _scaled(found: Interval, by: float) -> dict[str, float]:
    return {name: bound / by for name, bound in interval(found).items()}

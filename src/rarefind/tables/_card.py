"""What a model of a table is made from."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rarefind._core.types import Label

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel


@dataclass(frozen=True)
class ModelCard:
    """What a model of a table is made from, for people who have to answer for it.

    Attributes
    ----------
    estimator : str
        The class that learned.
    rows, positives : int
        Rows it learned from, and how many of them are positive.
    target : str
        The column it predicts.
    positive : label
        The value of the target that matters.
    threshold : float
        The priority from which a row is predicted positive; NaN where there is none.
    used : list of str
        Columns that it reads.
    kept_out : list of str
        Columns kept out on purpose, by ``drop``.
    roles : dict of str to str
        Columns with the time, the entity and the identifier of a row, which are not features.
    left_out : dict of str to str
        Columns that say nothing, and why.
    labels : str
        What the labels cannot tell.
    holds : list of str
        What the model, and so its file, holds about the people or cases that it learned from.
    """

    estimator: str
    rows: int
    positives: int
    target: str
    positive: Label
    threshold: float
    used: list[str]
    kept_out: list[str]
    roles: dict[str, str]
    left_out: dict[str, str]
    labels: str = "Only rows that were checked have labels: past checks chose what is known."
    holds: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        plain: bool | int | float | str | None = self.positive
        if not isinstance(plain, bool | int | float | str):
            plain = str(plain)
        threshold = self.threshold if math.isfinite(self.threshold) else None
        return {**asdict(self), "positive": plain, "threshold": threshold}


def held_about_people(model: TableModel) -> list[str]:
    """What a model holds about the people or cases that it learned from, a sentence each."""
    held = []
    if _keeps_rows(model.estimator_):
        held.append(
            f"Rows that it learned from, as numbers, in {len(model.encoder_.columns_)} columns: "
            "it compares new rows with them."
        )
    with_levels = [plan.column for plan in model.encoder_.plans_ if getattr(plan, "levels", None)]
    if with_levels:
        held.append(f"The frequent values of text columns: {', '.join(with_levels)}.")
    if model.known_values_:
        held.append(
            f"What the {len(model.known_rows_):,} known positives have in: "
            f"{', '.join(model.known_values_)}."
        )
    if model.known_names_:
        held.append(f"The identifiers ({model.id}) of {len(model.known_names_):,} known positives.")
    estimate = model.estimate_
    if estimate is not None:
        also = [
            ("time", estimate.time),
            ("amount", estimate.amount),
            ("number of the entity", estimate.entity),
        ]
        names = "".join(f", {name}" for name, values in also if values is not None)
        held.append(f"Of {estimate.positive.size:,} held-out rows the label, the scores{names}.")
    if not model.known_names_:
        held.append("No identifiers of rows or entities.")
    return held


def _keeps_rows(estimator: Any) -> bool:
    """Whether an estimator, or one that it is made of, compares rows with those of the fit."""
    members = getattr(estimator, "members_", {}).values()
    in_room = type(estimator).__module__.startswith("rarefind.neighbors")
    return in_room or any(_keeps_rows(member) for member in members)

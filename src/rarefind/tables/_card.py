"""What a model of a table is made from."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from rarefind._core.types import Label


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

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        plain: bool | int | float | str | None = self.positive
        if not isinstance(plain, bool | int | float | str):
            plain = str(plain)
        threshold = self.threshold if math.isfinite(self.threshold) else None
        return {**asdict(self), "positive": plain, "threshold": threshold}

"""What conditions are worth on rows that had no part in their choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from rarefind._core.fields import FloatArray, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats
from rarefind.metrics.intervals import share_interval

_WORTH = ("support", "precision", "recall", "lift")


def _check_sums(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    rows, positives, alerts, hits = (
        state[name] for name in ("rows", "positives", "alerts", "hits")
    )
    sound = (
        ((alerts[:, 0] > 0) == (alerts[:, 1] > 0)).all()
        and ((rows[0] > 0) == (rows[1] > 0))
        and ((positives[0] > 0) == (positives[1] > 0))
        and (positives[0] <= rows[0])
        and (hits <= alerts[:, 0] * (1 + 1e-9)).all()
    )
    if not sound:
        raise StateError("the sums are not those of rows")


@saved(
    "condition-measures",
    state=State(
        {
            "rows": FloatArray(2, low=0),
            "positives": FloatArray(2, low=0),
            "alerts": FloatArray("n", 2, low=0),
            "hits": FloatArray("n", low=0),
        },
        _check_sums,
    ),
)
class Measures(NamedTuple):
    """Weights of unseen rows, added up; of no rows where nothing was measured.

    Beside each sum of weights stands that of their squares: weights that differ tell as much as
    ``sum ** 2 / squares`` rows that weigh the same.
    """

    rows: Floats  # of all: sum, squares
    positives: Floats
    alerts: Floats  # of each condition, of shape (conditions, 2)
    hits: Floats  # of each condition, the sum alone

    @classmethod
    def of(cls, held: csr_matrix, positive: Bools, weight: Floats) -> Measures:
        """Add up."""
        both = np.column_stack([weight, weight**2])
        alerts = np.asarray(held.T @ both, dtype=float).reshape(-1, 2)
        hits = np.asarray(held.T @ (weight * positive), dtype=float)
        return cls(both.sum(axis=0), both[positive].sum(axis=0), alerts, hits)

    def table(self) -> pd.DataFrame:
        """Support, precision, recall and lift of each condition, with 95 % intervals."""
        rows = []
        rate = self.positives[0] / self.rows[0] if self.rows[0] else np.nan
        for alerts, hits in zip(self.alerts, self.hits.tolist(), strict=True):
            row = _with_interval("support", float(alerts[0]), self.rows)
            row |= _with_interval("precision", hits, alerts)
            row |= _with_interval("recall", hits, self.positives)
            rows.append(row | _with_interval("lift", hits, alerts, 1 / rate if rate else np.nan))
        columns = [f"{name}{end}" for name in _WORTH for end in ("", "_low", "_high")]
        return pd.DataFrame(rows, columns=columns, dtype=float)


def _with_interval(name: str, part: float, whole: Floats, times: float = 1.0) -> dict[str, float]:
    total, squares = float(whole[0]), float(whole[1])
    if not total:
        low, high, value = 0.0, 1.0, np.nan
    else:
        rows = total / squares  # rows that tell as much, for each unit of weight
        low, high = share_interval(min(part, total) * rows, total * rows)
        value = part / total
    return {name: value * times, f"{name}_low": low * times, f"{name}_high": high * times}

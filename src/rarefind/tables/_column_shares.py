"""What share of the score each column of a table carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rarefind._core.types import Bools, Floats

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

# Rows that are scored for all columns together, and for one: some methods score slowly.
_SCORED, _MOST_ROWS, _FEWEST_ROWS = 6_000, 200, 10


def column_shares(model: TableModel) -> dict[str, float]:
    """The share of each column; empty where it is not known.

    Where the estimator has ``feature_importances_`` it is their share, else what the fit measured.
    """
    columns = model.encoder_.original_columns_
    known = getattr(model.estimator_, "feature_importances_", None)
    if known is None:
        return dict(getattr(model, "column_shares_", {}))
    return _by_column(np.asarray(known, dtype=np.float64), columns)


def measured_shares(
    estimator: Any, encoded: pd.DataFrame, columns: Sequence[str], positive: Bools
) -> dict[str, float]:
    """How far the places of known rows move when a column takes the values of other rows.

    Half of the rows are positives, so that what tells the two classes apart counts. Empty where
    there are too many columns for that, or where no column moves anything.
    """
    names = list(dict.fromkeys(columns))
    size = min(_MOST_ROWS, len(encoded), _SCORED // len(names))
    if size < _FEWEST_ROWS:
        return {}
    rng = np.random.default_rng(0)
    own, others = (rng.permutation(np.flatnonzero(part)) for part in (positive, ~positive))
    rows = np.concatenate([own[: size // 2], others])[:size]
    values, heads = encoded.iloc[rows].to_numpy(), list(encoded.columns)
    outputs = np.array(columns)
    place = _Places(_priority(estimator, values, heads))
    moved = np.empty(len(names))
    for i, name in enumerate(names):
        changed, at = values.copy(), outputs == name
        changed[:, at] = values[rng.permutation(len(values))][:, at]
        moved[i] = np.abs(place.of(_priority(estimator, changed, heads)) - place.own).mean()
    return _by_column(moved, names)


class _Places:
    """Where scores stand among those of some rows, from 0 to 1; equal ones share a place."""

    def __init__(self, score: Floats) -> None:
        self._sorted = np.sort(score)
        self.own = self.of(score)

    def of(self, score: Floats) -> Floats:
        left, right = (np.searchsorted(self._sorted, score, side) for side in ("left", "right"))
        return np.asarray((left + right) / (2 * self._sorted.size))


def _priority(estimator: Any, values: Floats, names: list[str]) -> Floats:
    return np.asarray(estimator.priority(pd.DataFrame(values, columns=names)), dtype=np.float64)


def _by_column(weight: Floats, columns: Sequence[str]) -> dict[str, float]:
    total = float(weight.sum())
    if weight.size != len(columns) or not total > 0:
        return {}
    shares = pd.Series(weight / total).groupby(np.array(columns), sort=False).sum()
    return {str(name): float(share) for name, share in shares.items()}

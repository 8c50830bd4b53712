"""One booster in the making: XGBoost grows its trees a round at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost

from rarefind._core.types import Array, Bools, Floats
from rarefind.boosting._coding import BLOCK, Coding

#: Adds the first and second derivatives of the loss, given the scores so far and the number of the
#: round, to two arrays.
Derivatives = Callable[[Floats, int, Array, Array], None]


class Matrix:
    """Training rows as XGBoost holds them, with the coding they were made by."""

    def __init__(self, X: Floats, positive: Bools, coding: Coding, params: dict[str, Any]) -> None:
        self.coding = coding
        self.params = params | {"max_bin": max(params["max_bin"], coding.max_bin)}
        kind = xgboost.DMatrix
        more: dict[str, Any] = {}
        if params["tree_method"] == "hist":
            kind, more = xgboost.QuantileDMatrix, {"max_bin": self.params["max_bin"]}
        self.data = kind(
            coding.codes(X, params["nthread"]),
            label=positive.astype(np.float32),
            feature_types=coding.feature_types,
            enable_categorical=bool(coding.is_set.any()),
            nthread=params["nthread"],
            **more,
        )


class Run:
    """A booster on its way.

    Parameters
    ----------
    matrix : Matrix
        The training rows.
    base : float
        Score of every row before the first round.
    derivatives : callable or None
        The loss; None for the objective that the parameters of the matrix name.
    held_out : ndarray or None
        Codes of rows that are scored after every round.
    """

    def __init__(
        self,
        matrix: Matrix,
        base: float,
        derivatives: Derivatives | None,
        held_out: Array | None = None,
    ) -> None:
        self.base = base
        self.matrix, self._derivatives = matrix, derivatives
        self._held_out = None
        if held_out is not None:
            self._held_out = as_matrix(held_out, matrix.coding, matrix.params["nthread"])
        # Kept from round to round: new memory takes longer to get than to fill.
        self._score = np.empty(matrix.data.num_row())
        self._first_and_second = np.empty((2, self._score.size), dtype=np.float32)
        cached = [matrix.data] + ([] if self._held_out is None else [self._held_out])
        self.booster = xgboost.Booster(matrix.params, cached)

    def step(self, round_number: int) -> None:
        """Add the tree of one round."""
        data = self.matrix.data
        if self._derivatives is None:
            self.booster.update(data, round_number)
            return
        margin = self.booster.predict(data, output_margin=True, training=True)
        first, second = self._first_and_second
        self._first_and_second[:] = 0
        np.add(margin, self.base, out=self._score)
        self._derivatives(self._score, round_number, first, second)
        self.booster.boost(data, iteration=round_number, grad=first, hess=second)

    def held_out_scores(self) -> Floats:
        """Scores of the held-out rows by the trees so far."""
        margin = self.booster.predict(self._held_out, output_margin=True)
        return np.asarray(self.base + margin.astype(np.float64))


def as_matrix(codes: Array, coding: Coding, n_threads: int) -> Any:
    """Rows to be scored or explained."""
    return xgboost.DMatrix(
        codes,
        feature_types=coding.feature_types,
        enable_categorical=bool(coding.is_set.any()),
        nthread=n_threads,
    )


def in_blocks(X: Floats, coding: Coding, work: Callable[[Any], Array], n_threads: int) -> Array:
    """What ``work`` makes of the rows as XGBoost takes them, a block of rows at a time."""
    parts = [
        work(as_matrix(coding.codes(X[start : start + BLOCK], n_threads), coding, n_threads))
        for start in range(0, len(X), BLOCK)
    ]
    return np.concatenate(parts)

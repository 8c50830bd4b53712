"""LambdaMART for average precision, with all rows as one query."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind._typing import Floats
from rarefind.boosting._base import Rows
from rarefind.boosting._run import Derivatives, Run
from rarefind.boosting._xgboost import BoostedTreesClassifier

# The rows at the head of the list that are paired with all others: as many as there are positives.
_FEWEST, _MOST = 32, 500


class LambdaMARTClassifier(BoostedTreesClassifier):
    def _derivatives(self, rows: Rows, seed: int) -> Derivatives | None:
        return None

    def _params(self) -> dict[str, Any]:
        return super()._params() | {
            "objective": "rank:map",
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": self._pairs,
        }

    def _grow(self, rows: Rows, held_out: Floats | None, seed: int) -> Run:
        self._pairs = int(np.clip(rows.positive.sum(), _FEWEST, _MOST))
        return super()._grow(rows, held_out, seed)

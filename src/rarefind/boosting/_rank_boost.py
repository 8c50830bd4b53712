"""RankBoost: boosting of the pairs of a positive and a negative, for the area under the curve."""

from __future__ import annotations

from rarefind._typing import Floats
from rarefind.boosting._base import Rows
from rarefind.boosting._run import Derivatives
from rarefind.boosting._surrogates import pairwise_exponential
from rarefind.boosting._xgboost import BoostedTreesClassifier


class RankBoostClassifier(BoostedTreesClassifier):
    def _derivatives(self, rows: Rows, seed: int) -> Derivatives:
        def derivatives(score: Floats, number: int) -> tuple[Floats, Floats]:
            return pairwise_exponential(score, rows.positive, rows.weight)[1:]

        return derivatives

"""Boosting for the top of the list."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.boosting._lambda_mart import LambdaMARTClassifier
    from rarefind.boosting._nlb import NLBClassifier
    from rarefind.boosting._projection import ProjectionBoostingClassifier
    from rarefind.boosting._rank_boost import RankBoostClassifier
    from rarefind.boosting._sgbap import SGBAPClassifier

__all__ = [
    "LambdaMARTClassifier",
    "NLBClassifier",
    "ProjectionBoostingClassifier",
    "RankBoostClassifier",
    "SGBAPClassifier",
]

__getattr__ = lazily(
    __name__,
    {
        "LambdaMARTClassifier": "rarefind.boosting._lambda_mart",
        "NLBClassifier": "rarefind.boosting._nlb",
        "ProjectionBoostingClassifier": "rarefind.boosting._projection",
        "RankBoostClassifier": "rarefind.boosting._rank_boost",
        "SGBAPClassifier": "rarefind.boosting._sgbap",
    },
)

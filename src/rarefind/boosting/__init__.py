"""Boosting for the top of the list."""

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

"""What is chosen among: rarefind's estimators by name, in settings that need no tuning."""

from __future__ import annotations

from typing import Any

from rarefind.base import RareClassifier
from rarefind.boosting import NLBClassifier, ProjectionBoostingClassifier, SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.neighbors import (
    GammaKNNClassifier,
    LocalGammaKNNClassifier,
    ME2Classifier,
    MLFPClassifier,
)
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier


def named_estimators(
    budget: int | float | str, random_state: Any = None, n_jobs: int | None = None
) -> dict[str, RareClassifier]:
    """The estimators of the command line, by the names it has for them.

    The tree of ``metaap`` is pruned for the budget; all others rank for average precision, which
    tells more of few positives than a count among the first.
    """
    seed = {"random_state": random_state, "n_jobs": n_jobs}
    return {
        "sgbap": SGBAPClassifier(**seed),
        "xgboost": plain_xgboost(**seed),
        "gamma-knn": GammaKNNClassifier(**seed),
        "mlfp": MLFPClassifier(**seed),
        "me2": ME2Classifier(**seed),
        "metaap": MetaAPClassifier(target="precision_at_k", k=budget, **seed),
        "metaap-forest": MetaAPForestClassifier(**seed),
        "nlb": NLBClassifier(**seed),
        "projection": ProjectionBoostingClassifier(**seed),
        "conditions": ConditionClassifier(**seed),
    }


def plain_xgboost(**given: Any) -> SGBAPClassifier:
    """XGBoost with the logistic loss on bins of its own, which stops by held-out rows."""
    settings: dict[str, Any] = {
        "mix": 1.0,
        "bins": "quantile",
        "max_depth": 6,
        "subsample": 0.8,
        "colsample_bytree": 0.8,
    }
    return SGBAPClassifier(**settings | given)


def candidate_estimators(random_state: Any, n_jobs: int | None) -> dict[str, RareClassifier]:
    """What AutoClassifier chooses among: cheap and strong ones of all kinds first.

    Two boosters make all their rounds: where positives are few, rows held out inside a fit say
    little on when to stop, and columns drawn anew for each node keep the trees apart.
    """
    seed = {"random_state": random_state, "n_jobs": n_jobs}
    all_rounds: dict[str, Any] = {
        "early_stopping_rounds": None,
        "threshold": None,
        "colsample_bynode": 0.5,
    }
    return {
        "sgbap": SGBAPClassifier(**seed),
        "metaap-forest": MetaAPForestClassifier(**seed),
        "gamma-knn": GammaKNNClassifier(**seed),
        "sgbap-deep": SGBAPClassifier(
            max_depth=6, learning_rate=0.05, subsample=0.8, **all_rounds, **seed
        ),
        "sgbap-shallow": SGBAPClassifier(max_depth=2, **all_rounds, **seed),
        "forest-entropy": MetaAPForestClassifier(criterion="entropy", **seed),
        "xgboost": plain_xgboost(**seed),
        "mlfp": MLFPClassifier(**seed),
        "xgboost-aware": plain_xgboost(bins="positive-aware", **seed),
        "sgbap-log": SGBAPClassifier(surrogate="log", **seed),
        "sgbap-sigmoid": SGBAPClassifier(surrogate="sigmoid", **seed),
        "metaap": MetaAPClassifier(**seed),
        "conditions": ConditionClassifier(**seed),
        "gamma-knn-local": LocalGammaKNNClassifier(**seed),
        "nlb": NLBClassifier(**seed),
        "me2": ME2Classifier(**seed),
        "projection": ProjectionBoostingClassifier(**seed),
    }


#: The names that AutoClassifier knows, in the order in which they are tried.
CANDIDATE_NAMES = tuple(candidate_estimators(None, None))

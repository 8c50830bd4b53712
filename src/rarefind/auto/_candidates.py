"""What AutoClassifier chooses among: estimators in settings that need no tuning."""

from __future__ import annotations

from typing import Any

from rarefind.auto._registry import find_estimator
from rarefind.base import RareClassifier

# Two boosters make all their rounds: where positives are few, rows held out inside a fit say little
# about when to stop, and columns drawn anew for each node keep the trees apart.
_ALL_ROUNDS = {"early_stopping_rounds": None, "threshold": None, "colsample_bynode": 0.5}

# By name the estimator in the registry and its settings; cheap and strong ones of all families
# first.
_CANDIDATES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgbap": ("sgbap", {}),
    "metaap-forest": ("metaap-forest", {}),
    "randomized-forest": ("randomized-forest", {}),
    "gamma-knn": ("gamma-knn", {}),
    "sgbap-deep": (
        "sgbap",
        {"max_depth": 6, "learning_rate": 0.05, "subsample": 0.8, **_ALL_ROUNDS},
    ),
    "sgbap-shallow": ("sgbap", {"max_depth": 2, **_ALL_ROUNDS}),
    "forest-entropy": ("metaap-forest", {"criterion": "entropy"}),
    "xgboost": ("xgboost", {}),
    "mlfp": ("mlfp", {}),
    "xgboost-aware": ("xgboost", {"bins": "positive-aware"}),
    "sgbap-log": ("sgbap", {"surrogate": "log"}),
    "sgbap-sigmoid": ("sgbap", {"surrogate": "sigmoid"}),
    "metaap": ("metaap", {}),
    "conditions": ("conditions", {}),
    "gamma-knn-local": ("gamma-knn-local", {}),
    "nlb": ("nlb", {}),
    "me2": ("me2", {}),
    "projection": ("projection", {}),
}

#: The names that AutoClassifier knows, in the order in which they are tried.
CANDIDATE_NAMES = tuple(_CANDIDATES)


def candidate_estimators(
    names: list[str], random_state: Any, n_jobs: int | None
) -> dict[str, RareClassifier]:
    """Candidates by name."""
    found = {}
    for name in names:
        base, settings = _CANDIDATES[name]
        seed = {"random_state": random_state, "n_jobs": n_jobs}
        found[name] = find_estimator(base).make(**settings, **seed)
    return found

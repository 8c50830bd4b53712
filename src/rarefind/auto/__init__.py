"""The registry of estimators, and the choice among them for a budget."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.auto._classifier import AutoClassifier
    from rarefind.auto._compile import CompiledEstimator, compile_estimators
    from rarefind.auto._registry import EstimatorInfo, estimators, find_estimator

__all__ = [
    "AutoClassifier",
    "CompiledEstimator",
    "EstimatorInfo",
    "compile_estimators",
    "estimators",
    "find_estimator",
]

__getattr__ = lazily(
    __name__,
    {
        "AutoClassifier": "rarefind.auto._classifier",
        "CompiledEstimator": "rarefind.auto._compile",
        "EstimatorInfo": "rarefind.auto._registry",
        "compile_estimators": "rarefind.auto._compile",
        "estimators": "rarefind.auto._registry",
        "find_estimator": "rarefind.auto._registry",
    },
)

"""The choice among the estimators for a budget."""

from rarefind.auto._classifier import AutoClassifier

__all__ = ["AutoClassifier"]

"""Models that are a list of rules: learned from data, or written by experts."""

from rarefind.conditions._classifier import ConditionClassifier
from rarefind.conditions._matrix import condition_matrix
from rarefind.conditions._rule_list import RuleListClassifier

__all__ = ["ConditionClassifier", "RuleListClassifier", "condition_matrix"]

"""The language of rules, conditions and reasons: why a row stands where it stands."""

from rarefind.rules._parse import RuleError
from rarefind.rules._rule import Rule
from rarefind.rules.files import read_rules
from rarefind.rules.reasons import Condition, Reason, Similar
from rarefind.rules.rule_set import RuleReport, RuleSet

__all__ = [
    "Condition",
    "Reason",
    "Rule",
    "RuleError",
    "RuleReport",
    "RuleSet",
    "Similar",
    "read_rules",
]

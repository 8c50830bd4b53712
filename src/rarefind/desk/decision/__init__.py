"""What is decided about a transaction: its order, its rules, its model and its random share."""

from rarefind.desk.decision.book import RuleBook
from rarefind.desk.decision.decider import Decider, DeskModel, Prepared
from rarefind.desk.decision.random_share import RandomShare

__all__ = ["Decider", "DeskModel", "Prepared", "RandomShare", "RuleBook"]

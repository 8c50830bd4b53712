"""What is decided about a transaction: its order, its rules, its model and its random share."""

from rarefind.desk.decision.book import RuleBook
from rarefind.desk.decision.decider import Decider, Prepared
from rarefind.desk.decision.random_share import RandomShare
from rarefind.desk.decision.settings import DeskModel, Settings

__all__ = ["Decider", "DeskModel", "Prepared", "RandomShare", "RuleBook", "Settings"]

"""Learning from streams: a row at a time, with labels that come late."""

from rarefind.streams._onlb import ONLBClassifier
from rarefind.streams._online_boosting import OnlineBoostingClassifier
from rarefind.streams._validation import Progress

__all__ = ["ONLBClassifier", "OnlineBoostingClassifier", "Progress"]

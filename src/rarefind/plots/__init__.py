"""Pictures of a ranked list: what a budget finds, who is at the top, how models compare."""

from rarefind.plots._budget import BudgetCurveDisplay
from rarefind.plots._comparison import ComparisonDisplay
from rarefind.plots._ellipsoids import EllipsoidDisplay
from rarefind.plots._histogram import ScoreHistogramDisplay
from rarefind.plots._imbalance import ImbalanceDisplay
from rarefind.plots._meta_tree import MetaTreeDisplay
from rarefind.plots._reason import ReasonDisplay
from rarefind.plots._regions import DecisionRegionDisplay
from rarefind.plots._scales import ScaleMapDisplay
from rarefind.plots._top import TopKDisplay

__all__ = [
    "BudgetCurveDisplay",
    "ComparisonDisplay",
    "DecisionRegionDisplay",
    "EllipsoidDisplay",
    "ImbalanceDisplay",
    "MetaTreeDisplay",
    "ReasonDisplay",
    "ScaleMapDisplay",
    "ScoreHistogramDisplay",
    "TopKDisplay",
]

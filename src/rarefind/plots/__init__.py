"""Pictures of a ranked list: what a budget finds, who is at the top, how models compare."""

from rarefind.plots._budget import BudgetCurveDisplay
from rarefind.plots._comparison import ComparisonDisplay
from rarefind.plots._histogram import ScoreHistogramDisplay
from rarefind.plots._top import TopKDisplay

__all__ = [
    "BudgetCurveDisplay",
    "ComparisonDisplay",
    "ScoreHistogramDisplay",
    "TopKDisplay",
]

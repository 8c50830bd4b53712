"""Choosing: exact thresholds, splits in time, tuning and comparison of models."""

from rarefind.selection._compare import Comparison, compare
from rarefind.selection._faithfulness import Faithfulness, faithfulness
from rarefind.selection._splits import PrequentialSplit, TemporalSplit
from rarefind.selection._tune import Tuned, tune
from rarefind.selection.cross_validation import folds, out_of_fold_scores
from rarefind.selection.thresholds import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "Comparison",
    "Faithfulness",
    "PrequentialSplit",
    "TemporalSplit",
    "Tuned",
    "best_threshold",
    "compare",
    "faithfulness",
    "folds",
    "out_of_fold_scores",
    "tune",
]

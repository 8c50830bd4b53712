"""Ranking trees of trees: MetaAP, its forest, TreeRank."""

from rarefind.trees._forest import MetaAPForestClassifier
from rarefind.trees._meta_ap import MetaAPClassifier
from rarefind.trees._tree_rank import TreeRankClassifier

__all__ = ["MetaAPClassifier", "MetaAPForestClassifier", "TreeRankClassifier"]

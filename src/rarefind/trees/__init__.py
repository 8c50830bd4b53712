"""Ranking trees of trees: MetaAP, its forest, TreeRank."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.trees._forest import MetaAPForestClassifier
    from rarefind.trees._meta_ap import MetaAPClassifier
    from rarefind.trees._tree_rank import TreeRankClassifier

__all__ = ["MetaAPClassifier", "MetaAPForestClassifier", "TreeRankClassifier"]

__getattr__ = lazily(
    __name__,
    {
        "MetaAPClassifier": "rarefind.trees._meta_ap",
        "MetaAPForestClassifier": "rarefind.trees._forest",
        "TreeRankClassifier": "rarefind.trees._tree_rank",
    },
)

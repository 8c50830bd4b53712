"""Ranking trees of trees: MetaAP, its forest, TreeRank; and a forest of random cuts."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.trees._forest import MetaAPForestClassifier
    from rarefind.trees._meta_ap import MetaAPClassifier
    from rarefind.trees._randomized import RandomizedForestClassifier
    from rarefind.trees._tree_rank import TreeRankClassifier

__all__ = [
    "MetaAPClassifier",
    "MetaAPForestClassifier",
    "RandomizedForestClassifier",
    "TreeRankClassifier",
]

__getattr__ = lazily(
    __name__,
    {
        "MetaAPClassifier": "rarefind.trees._meta_ap",
        "MetaAPForestClassifier": "rarefind.trees._forest",
        "RandomizedForestClassifier": "rarefind.trees._randomized",
        "TreeRankClassifier": "rarefind.trees._tree_rank",
    },
)

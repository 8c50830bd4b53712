"""TreeRank: a tree of trees grown for the area under the ROC curve."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import with_callbacks
from rarefind._core.types import ArrayLike, Label, Table
from rarefind.trees._base import ABOVE_HALF, Start, TreeClassifier, upgrade_trees
from rarefind.trees._classifier import MAX_INNER, META_TREE_STATE, MetaTreeClassifier
from rarefind.trees._meta import Plan


@saved("tree-rank", 2, state=META_TREE_STATE, upgrade=upgrade_trees)
class TreeRankClassifier(MetaTreeClassifier):
    """TreeRank: recursively split where the area under the ROC curve grows most.

    An inner tree is grown for the area under the ROC curve; its leaves are put in the order of
    β / α, their shares of the positives and of the negatives, and cut where β' - α' of those before
    the cut is largest: there the curve with one corner has the largest area. Each side is split
    again. The leaves are scored by their position: 1 for the first, falling evenly.

    Parameters
    ----------
    inner_depth : int, sequence of int or "auto", default="auto"
        Depth of each inner tree; of several the one that ranks held-out rows best. ``"auto"``
        chooses among 1, 2 and 4.
    outer_depth : int, default=6
        Most levels of inner trees.
    scores : {"position", "precision"}, default="position"
        Score leaves by their position, as the theory has it, or by their precision.
    prune : bool, default=True
        Keep only as many outer levels as give the largest area on held-out rows.
    min_samples_leaf : int, default=1
        Fewest rows on each side of a split.
    class_weight, categorical_features, splitter, max_bins, threshold, metric, cv, pos_label, \
random_state, n_jobs, verbose
        As in :class:`MetaAPClassifier`; ``threshold=None`` takes the leaves with a score
        above 0.5.

    Attributes
    ----------
    tree_ : MetaTree
        The model. ``export_text``, ``to_svg``, ``to_graphviz``, ``to_sql`` and ``to_conditions``
        show it.
    leaf_scores_, n_conditions_, n_leaves_, inner_depth_, outer_depth_, held_out_value_, \
threshold_, value_
        As in :class:`MetaAPClassifier`; ``held_out_value_`` is an area under the ROC curve.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    References
    ----------
    .. [1] S. Clémençon and N. Vayatis, "Tree-based ranking methods", IEEE Transactions on
       Information Theory 55(9), 2009.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, section 4.3.

    Examples
    --------
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.data import load_keel
    >>> from rarefind.trees import TreeRankClassifier
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = TreeRankClassifier(random_state=0).fit(train[0], train[2])
    >>> round(roc_auc_score(train[3], model.priority(train[1])), 2)
    0.9
    """

    _parameter_constraints = {  # noqa: RUF012
        **TreeClassifier._shared_constraints,
        "inner_depth": [
            StrOptions({"auto"}),
            Interval(Integral, 1, MAX_INNER, closed="both"),
            "array-like",
        ],
        "outer_depth": [Interval(Integral, 0, 100, closed="both")],
        "scores": [StrOptions({"position", "precision"})],
        "prune": ["boolean"],
        "cv": ["cv_object"],
    }

    ties = "leaf"
    _target = "roc_auc"

    def __init__(
        self,
        inner_depth: Any = "auto",
        outer_depth: int = 6,
        *,
        scores: str = "position",
        prune: bool = True,
        min_samples_leaf: int = 1,
        class_weight: Any = None,
        categorical_features: Any = None,
        splitter: str = "auto",
        max_bins: int = 512,
        threshold: Any = "auto",
        metric: Any = "f1",
        cv: Any = 5,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.inner_depth = inner_depth
        self.outer_depth = outer_depth
        self.scores = scores
        self.prune = prune
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.splitter = splitter
        self.max_bins = max_bins
        self.threshold = threshold
        self.metric = metric
        self.cv = cv
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Table,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree and choose how many levels of it to keep.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows.
        groups : array-like of shape (n,), default=None
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        self._scores = self.scores
        self._own_threshold = 0.5 if self.scores == "precision" else ABOVE_HALF
        self._grow_and_prune(self._start(X, y, sample_weight, groups))
        return self

    def _plan(self, inner_depth: int, start: Start) -> Plan:
        return Plan(
            inner_depth=inner_depth,
            outer_depth=self.outer_depth,
            criterion="auc",
            order="precision",  # the order of β / α is the same
            target="roc_auc",
            min_rows=self.min_samples_leaf,
            n_features=start.rows.X.shape[1],
        )

    def _smoothings(self) -> tuple[float, ...]:
        return (0.0,)

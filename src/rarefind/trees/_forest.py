"""A forest of MetaAP trees, each grown on a bootstrap of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.fields import ListOf, Object, StateError
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Floats, Ints, Label, Table
from rarefind.rules import Reason
from rarefind.rules.branches import Branch
from rarefind.trees._bagging import (
    FOREST_STATE,
    BaggedClassifier,
    bootstrap,
    number_of_columns,
)
from rarefind.trees._base import Start, TreeClassifier, upgrade_trees
from rarefind.trees._borders import band_widths
from rarefind.trees._branches import branches_of_trees
from rarefind.trees._classifier import MAX_INNER
from rarefind.trees._columns import TreeColumns
from rarefind.trees._criteria import CRITERIA
from rarefind.trees._forest_reasons import explain_by_trees
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees._prune import Pruning
from rarefind.trees._ranker import Ranker
from rarefind.trees._row import row_mean

# Rows that are scored before threads have started, and before columns are worth picking.
_FEW_ROWS = 200


def _check_same_levels(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Raise where trees differ in their categories: the first one's codes serve them all."""
    first, *others = (ranker.tree.levels for ranker in state["trees_"])
    for levels in others:
        if levels.keys() != first.keys() or not all(
            np.array_equal(levels[j], first[j]) for j in first
        ):
            raise StateError("trees of the forest know different categories")


@saved(
    "metaap-forest",
    2,
    state=FOREST_STATE
    | State(
        {"trees_": ListOf(Object("tree-ranker", most={"columns": "d"}), low=1)},
        _check_same_levels,
    ),
    upgrade=upgrade_trees,
)
class MetaAPForestClassifier(BaggedClassifier):
    """The mean of many MetaAP trees: better at the top of the list than one, and not to be read.

    Each tree is grown on a bootstrap that draws as many positives and as many negatives as there
    are, so both are always in it; of rows in groups it draws whole groups. The rows a tree has not
    drawn are scored by it: these out-of-bag scores set the threshold and the probabilities, and say
    how well the forest ranks.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    inner_depth : int, default=3
        Depth of each inner tree.
    outer_depth : int, default=6
        Most levels of inner trees.
    criterion : {"max-ap", "ap", "gini", "entropy", "auc"}, default="max-ap"
        What a split of an inner tree is worth, as in :class:`MetaAPClassifier`.
    order : {"precision", "ratio"}, default="precision"
        The order of leaves before they are merged.
    max_features : {"sqrt", "third"}, int, float or None, default="sqrt"
        Columns that a split may choose among, drawn for each node: a number of them, a share, or
        None for all.
    shrinkage : float, default=5.0
        As in :class:`MetaAPClassifier`.
    smoothing : float, default=1.0
        The precision of an outer node is drawn to that of its parent as if that many rows more had
        the parent's.
    ties : {"leaf", "border"}, default="leaf"
        With ``"border"`` a tree gives a row the mean score of the leaves it is near to, as
        :class:`MetaAPClassifier` does to break ties. The mean over many trees has few ties anyway.
    min_samples_leaf : int, default=1
        Fewest different rows on each side of a split.
    class_weight, categorical_features, splitter, max_bins, metric, pos_label
        As in :class:`MetaAPClassifier`.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive; ``"auto"`` takes the exact best for
        ``metric`` on the out-of-bag scores, ``None`` is 0.5.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstraps and of the columns drawn.
    n_jobs : int, default=None
        Trees grown and asked at the same time; the result is the same.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    trees_ : list of Ranker
        The trees.
    oob_scores_ : ndarray of shape (n,)
        Mean score of each row by the trees that have not drawn it; NaN where all have, and for rows
        without weight.
    oob_average_precision_ : float
        Average precision of these.
    threshold_ : float
        The priority from which ``predict`` says positive.
    value_ : float
        ``metric`` on the out-of-bag scores at the threshold.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    With histograms the bins are cut once, by the labels of all rows; only where a split may lie is
    known to a tree of the rows it has not drawn.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 4.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.trees import MetaAPForestClassifier
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = MetaAPForestClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.69
    """

    _parameter_constraints = {  # noqa: RUF012
        **TreeClassifier._shared_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "inner_depth": [Interval(Integral, 1, MAX_INNER, closed="both")],
        "outer_depth": [Interval(Integral, 0, 100, closed="both")],
        "criterion": [StrOptions(set(CRITERIA))],
        "order": [StrOptions({"precision", "ratio"})],
        "max_features": [
            StrOptions({"sqrt", "third"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "ties": [StrOptions({"border", "leaf"})],
    }

    trees_: list[Ranker]

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        inner_depth: int = 3,
        outer_depth: int = 6,
        criterion: str = "max-ap",
        order: str = "precision",
        max_features: Any = "sqrt",
        shrinkage: float = 5.0,
        smoothing: float = 1.0,
        ties: str = "leaf",
        min_samples_leaf: int = 1,
        class_weight: Any = None,
        categorical_features: Any = None,
        splitter: str = "auto",
        max_bins: int = 512,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.inner_depth = inner_depth
        self.outer_depth = outer_depth
        self.criterion = criterion
        self.order = order
        self.max_features = max_features
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.ties = ties
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.splitter = splitter
        self.max_bins = max_bins
        self.threshold = threshold
        self.metric = metric
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
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, times how often a bootstrap draws them.
        groups : array-like of shape (n,), default=None
            Rows of one group are drawn, and left out, together.

        Returns
        -------
        self
        """
        start = self._start(X, y, sample_weight, groups)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        columns, plan, n = start.rows.columns(), self._plan(start), self.n_estimators
        total, times = np.zeros(start.codes.size), np.zeros(start.codes.size)
        self.trees_ = []
        with report_progress(self, "trees", n, start.rows.X, start.codes, self.verbose) as step:
            grown = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
                delayed(self._grow)(start, columns, plan, int(seed)) for seed in seeds
            )
            for tree in grown:
                self.trees_.append(tree.ranker)
                total[tree.out_of_bag] += tree.score
                times[tree.out_of_bag] += 1
                step()
        self._judge(start, total, times)
        return self

    def _grow(self, start: Start, columns: TreeColumns, plan: Plan, seed: int) -> _Bagged:
        rows, rng = start.rows, np.random.RandomState(seed)
        times = bootstrap(rows.is_positive, start.groups, rng)
        drawn, left_out = np.flatnonzero(times), np.flatnonzero(times == 0)
        weight = (times * rows.weight)[drawn]
        tree = grow_meta_tree(columns.take(drawn), rows.is_positive[drawn], weight, plan, seed)
        border = self.ties == "border"
        width = band_widths(tree, rows.X[drawn], weight) if border else np.empty(0)
        shape = Pruning(self.outer_depth, float(self.smoothing))
        ranker = Ranker.of(tree, shape, "precision", width)
        return _Bagged(ranker, left_out, ranker.blend(rows.X[left_out]))

    def _plan(self, start: Start) -> Plan:
        return Plan(
            inner_depth=self.inner_depth,
            outer_depth=self.outer_depth,
            criterion=self.criterion,
            order=self.order,
            target="average_precision",
            min_rows=self.min_samples_leaf,
            n_features=number_of_columns(self.max_features, start.rows.X.shape[1]),
            shrinkage=float(self.shrinkage),
        )

    def _branches(self) -> list[Branch]:
        return branches_of_trees([ranker.tree for ranker in self.trees_])

    def _priority(self, X: Floats) -> Floats:
        if len(X) <= _FEW_ROWS:
            coded = self.trees_[0].tree.encode(X)  # all trees know the same categories
            scores = (tree.blend_coded(coded) for tree in self.trees_)
        else:
            scores = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
                delayed(tree.blend)(X) for tree in self.trees_
            )
        total = np.zeros(len(X))
        for score in scores:  # always in the order of the trees, so that sums are the same
            total += score
        return total / len(self.trees_)

    def _row_function(self) -> Callable[[Floats], float]:
        return row_mean(self.trees_)

    def _explain(self, X: Floats) -> list[Reason]:
        names, trees = self._feature_names(), [ranker.tree for ranker in self.trees_]
        scores = self._priority(X)
        rows = zip(X, trees[0].encode(X), scores.tolist(), self._ranks(scores), strict=True)
        return [
            Reason(score, rank, explain_by_trees(trees, coded, raw, names))
            for raw, coded, score, rank in rows
        ]


class _Bagged(NamedTuple):
    ranker: Ranker
    out_of_bag: Ints
    score: Floats  # of the rows out of bag

"""A forest of deep trees with random cuts, some of which see the positives."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.fields import Object, RealNumber
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Floats, Ints, Label, Table
from rarefind.metrics import average_precision
from rarefind.rules import Reason
from rarefind.rules.branches import Branch
from rarefind.trees._bagging import (
    FOREST_STATE,
    BaggedClassifier,
    draw_share,
    mean_of_times,
    number_of_columns,
)
from rarefind.trees._base import Start, TreeClassifier
from rarefind.trees._criteria import CRITERIA
from rarefind.trees._cut_trees import CutTrees, leaves_of_rows, smooth_scores
from rarefind.trees._forest_reasons import explain_by_steps
from rarefind.trees._level_order import LevelOrder
from rarefind.trees._random_cuts import CodedRows, CutPlan, CutTree, grow_by_cuts

#: Smoothings that ``smoothing="auto"`` chooses among, and what it takes without rows to choose by.
SMOOTHINGS = (0.25, 0.0, 1.0, 4.0)
# Trees grown, and rows scored, in one task of a thread.
_TREES_A_TASK, _ROWS_A_TASK = 8, 4096
_NO_LIMIT = 2**31 - 1
_DIGITS = 4


@saved(
    "randomized-forest",
    state=FOREST_STATE
    | State(
        {
            "trees_": Object("cut-trees", columns="d"),
            "smoothing_": RealNumber(0),
        },
    ),
)
class RandomizedForestClassifier(BaggedClassifier):
    """Deep trees with random cuts: a row's priority is the mean precision of the leaves it is in.

    Like extremely randomised trees [1]_, each node draws a few columns and in each a cut at random,
    and keeps the best. What is different serves the few positives, and keeps trees apart:

    - In half of the trees a cut lies between the least and the greatest value of the node; in the
      others between a positive and a negative of the node drawn at random. Such cuts are where the
      positives are, whatever the outliers and the columns that are nearly constant.
    - Each tree draws how many columns its nodes try, from half the square root to all of them:
      few make smooth rankings, many pass over columns that say nothing.
    - Each tree holds out a fifth of the positives and of the negatives, and is grown on the other
      positives and on a number of negatives between 20 for each of them and all. The rows held out
      set the threshold, the probabilities and the smoothing, and say how well the forest ranks.
    - The precision of a leaf is drawn to that of its parent, so that few rows tie.

    Parameters
    ----------
    n_estimators : int, default=500
        Number of trees.
    max_features : {"mixed", "sqrt", "third"}, int, float or None, default="mixed"
        Columns that a node draws: a number of them, a share, or None for all. With ``"mixed"`` each
        tree has its own, drawn evenly in its logarithm between half the square root and all.
    cuts : {"mixed", "range", "pairs"}, default="mixed"
        Between the least and the greatest value of the node, between a positive and a negative of
        it, or every second tree in one of the two ways.
    criterion : {"entropy", "gini"}, default="entropy"
        What the best of the cuts that a node draws has most of.
    smoothing : float or "auto", default="auto"
        The precision of a node is drawn to that of its parent as if that many rows more had the
        parent's. ``"auto"`` takes the one of 0, 0.25, 1 and 4 that ranks the rows best that trees
        hold out.
    max_depth : int or None, default=None
        Most conditions on the way to a leaf; None grows trees until leaves are of one class.
    min_samples_leaf : int, default=1
        Fewest rows on each side of a cut.
    max_samples : float, default=0.8
        The share of the rows, of each class, that a tree may be grown on; the others are held out.
    negative_ratio : float or None, default=20
        The fewest negatives for each positive of a tree; how many a tree has is drawn evenly in the
        logarithm between that and all that are not held out. None always takes these.
    class_weight, categorical_features, splitter, max_bins, metric, pos_label
        As in :class:`MetaAPClassifier`. Categories are put in the order of their precision, where a
        cut is like that of a number; a new category counts as a missing value.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive; ``"auto"`` takes the exact best for
        ``metric`` on the out-of-bag scores, ``None`` is 0.5.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows, columns and cuts drawn.
    n_jobs : int, default=None
        Trees grown, and rows scored, at the same time; the result is the same.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    trees_ : CutTrees
        The nodes of all trees.
    smoothing_ : float
        The smoothing that is used.
    oob_scores_ : ndarray of shape (n,)
        Mean score of each row by the trees that held it out; NaN where none did, and for rows
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
    With more than 50,000 rows columns are cut into bins that see the positives, once and by the
    labels of all rows; only where a cut may lie is known to a tree of the rows it holds out.
    The same holds for the order of categories.

    References
    ----------
    .. [1] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning
       63(1), 2006.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.trees import RandomizedForestClassifier
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = RandomizedForestClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.67
    """

    _parameter_constraints = {  # noqa: RUF012
        **TreeClassifier._shared_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": [
            StrOptions({"mixed", "sqrt", "third"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "cuts": [StrOptions({"mixed", "range", "pairs"})],
        "criterion": [StrOptions({"entropy", "gini"})],
        "smoothing": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_samples": [Interval(Real, 0, 1, closed="neither")],
        "negative_ratio": [Interval(Real, 0, None, closed="neither"), None],
    }

    trees_: CutTrees
    smoothing_: float

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        max_features: Any = "mixed",
        cuts: str = "mixed",
        criterion: str = "entropy",
        smoothing: Any = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_samples: float = 0.8,
        negative_ratio: float | None = 20,
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
        self.max_features = max_features
        self.cuts = cuts
        self.criterion = criterion
        self.smoothing = smoothing
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_samples = max_samples
        self.negative_ratio = negative_ratio
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
            Weights of the rows.
        groups : array-like of shape (n,), default=None
            Rows of one group are drawn, and left out, together.

        Returns
        -------
        self
        """
        start = self._start(X, y, sample_weight, groups)
        rows = start.rows
        levels = LevelOrder.of(rows.X, rows.is_positive, rows.weight, rows.is_set)
        coded = np.ascontiguousarray(levels.encode(rows.X))
        numbers = rows._replace(X=coded, is_set=np.zeros_like(rows.is_set))
        start = start._replace(rows=numbers)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        trees, total, times = self._grow_all(start, seeds)
        best = self._best_smoothing(start, total, times)
        self.smoothing_ = self._smoothings()[best]
        self.trees_ = CutTrees.of(trees, self.smoothing_, levels)
        self._judge(start, total[best], times)
        return self

    def _smoothings(self) -> tuple[float, ...]:
        return SMOOTHINGS if self.smoothing == "auto" else (float(self.smoothing),)

    def _grow_all(self, start: Start, seeds: Ints) -> tuple[list[CutTree], Floats, Floats]:
        """The trees; for each smoothing the out-of-bag sum of scores of each row; how many."""
        rows, n = start.rows, start.codes.size
        coded = CodedRows.of(rows.columns())
        weight = np.empty(0) if (rows.weight == 1).all() else rows.weight
        total, times = np.zeros((len(self._smoothings()), n)), np.zeros(n)
        trees: list[CutTree] = []

        def grow_some(first: int) -> list[_JudgedTree]:
            some = seeds[first : first + _TREES_A_TASK]
            return [
                self._grow(start, coded, weight, first + i, int(seed))
                for i, seed in enumerate(some)
            ]

        tasks = range(0, seeds.size, _TREES_A_TASK)
        with report_progress(self, "trees", seeds.size, rows.X, start.codes, self.verbose) as step:
            grown = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
                delayed(grow_some)(first) for first in tasks
            )
            for some in grown:
                for bagged in some:
                    trees.append(bagged.tree)
                    total[:, bagged.held_out] += bagged.score
                    times[bagged.held_out] += 1
                    step()
        return trees, total, times

    def _grow(
        self, start: Start, coded: CodedRows, weight: Floats, number: int, seed: int
    ) -> _JudgedTree:
        rows, rng = start.rows, np.random.RandomState(seed)
        plan = CutPlan(
            self._columns_of_tree(rows.X.shape[1], rng),
            self.cuts == "pairs" or (self.cuts == "mixed" and number % 2 == 1),
            CRITERIA[self.criterion],
            self.min_samples_leaf,
            self.max_depth or _NO_LIMIT,
        )
        drawn = draw_share(
            rows.is_positive, start.groups, self.max_samples, self.negative_ratio, rng
        )
        positives, negatives, held_out = drawn
        tree = CutTree(*grow_by_cuts(coded, positives, negatives, weight, plan, seed))
        leaf = leaves_of_rows(rows.X, held_out, tree)
        scores = [smooth_scores(tree.left, tree.sums, m)[leaf] for m in self._smoothings()]
        return _JudgedTree(tree, held_out, np.array(scores))

    def _columns_of_tree(self, d: int, rng: np.random.RandomState) -> int:
        if self.max_features != "mixed":
            return number_of_columns(self.max_features, d)
        fewest = max(1.0, np.sqrt(d) / 2)
        return round(float(fewest * (d / fewest) ** rng.uniform()))

    def _best_smoothing(self, start: Start, total: Floats, times: Floats) -> int:
        """The smoothing that ranks the rows best that trees held out."""
        known = times > 0
        positive, weight = start.rows.is_positive[known], start.own_weight[known]
        if len(total) == 1 or not positive.any() or positive.all():
            return 0
        means = [mean_of_times(each, times)[known] for each in total]
        values = [average_precision(positive, mean, sample_weight=weight) for mean in means]
        return int(np.argmax(values))

    def _branches(self) -> list[Branch]:
        trees = range(self.trees_.n_trees)
        return [branch for tree in trees for branch in self.trees_.branches(tree)]

    def _priority(self, X: Floats) -> Floats:
        coded = self.trees_.levels.encode(X)
        if len(X) <= _ROWS_A_TASK:
            return self.trees_.mean_score(coded)
        scores = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self.trees_.mean_score)(coded[first : first + _ROWS_A_TASK])
            for first in range(0, len(X), _ROWS_A_TASK)
        )
        return np.concatenate(scores)

    def _row_function(self) -> Callable[[Floats], float]:
        trees = self.trees_
        return lambda row: float(trees.mean_score(trees.levels.encode(row[np.newaxis]))[0])

    def _explain(self, X: Floats) -> list[Reason]:
        names, scores, coded = (
            self._feature_names(),
            self._priority(X),
            self.trees_.levels.encode(X),
        )
        rows = zip(X, coded, scores.tolist(), self._ranks(scores), strict=True)
        return [
            Reason(score, rank, explain_by_steps(self._steps(own), raw, names, _DIGITS))
            for raw, own, score, rank in rows
        ]

    def _steps(self, coded: Floats) -> list[Floats]:
        row = np.ascontiguousarray(coded)
        return [self.trees_.steps(row, tree) for tree in range(self.trees_.n_trees)]


class _JudgedTree(NamedTuple):
    tree: CutTree
    held_out: Ints
    score: Floats  # (smoothings, rows held out)

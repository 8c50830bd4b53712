"""MetaAP: a tree of trees grown for average precision, or for a budget of checks."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import with_callbacks
from rarefind._core.types import ArrayLike, Label, Table
from rarefind.metrics import budget
from rarefind.trees._base import ABOVE_HALF, Start, TreeClassifier, upgrade_trees
from rarefind.trees._classifier import MAX_INNER, META_TREE_STATE, MetaTreeClassifier
from rarefind.trees._criteria import CRITERIA
from rarefind.trees._meta import Plan
from rarefind.trees._prune import SMOOTHINGS


@saved("metaap", 2, state=META_TREE_STATE, upgrade=upgrade_trees)
class MetaAPClassifier(MetaTreeClassifier):
    """MetaAP: one small tree of trees that ranks for the top of the list, and can be read.

    A tree is grown on all rows; its leaves are put in the order of their precision and merged into
    two sides where the average precision of ranking one before the other is highest. Each side is
    split again in the same way. Several conditions may lead to the same part of the list: the model
    is a graph, mostly a small one. Its leaves are numbered in the order of the list.

    Grown on folds as well, it is cut back to as many levels as rank the held-out rows best.

    Parameters
    ----------
    inner_depth : int, sequence of int or "auto", default="auto"
        Depth of each inner tree; of several the one that ranks held-out rows best. ``"auto"``
        chooses among 1, 2 and 4; 1 is an ordinary tree.
    outer_depth : int, default=6
        Most levels of inner trees.
    criterion : {"max-ap", "ap", "gini", "entropy", "auc"}, default="max-ap"
        What a split of an inner tree is worth: ``"max-ap"`` is the better of the average precisions
        of ranking either side first, ``"ap"`` the published sum of both.
    order : {"precision", "ratio"}, default="precision"
        The order of leaves before they are merged; ``"ratio"`` is the published
        (1 - precision) / recall.
    scores : {"precision", "position"}, default="precision"
        Score leaves by their precision, smoothed, or as published by their position only.
    target : {"average_precision", "precision_at_k"}, default="average_precision"
        What the leaves are merged and the levels chosen for.
    k : int, float or str, default=None
        The budget of ``target="precision_at_k"``: checks among as many rows as are fitted
        (``200``), or a share of the rows (``0.005``, ``"0.5%"``).
    shrinkage : float, default=5.0
        While growing by ``"max-ap"`` and merging by precision, the precision of a side counts as if
        that many rows more had the precision of all: a handful of rows does not win by chance.
    prune : bool, default=True
        Keep only as many outer levels as rank held-out rows best.
    smoothing : float or "auto", default="auto"
        The precision of an outer node is drawn to that of its parent as if that many rows more had
        the parent's. ``"auto"`` chooses among 1, 4, 16 and 64 on the folds.
    ties : {"border", "leaf"}, default="border"
        Rank rows of one leaf by the borders they are near and what lies beyond these, or leave them
        tied.
    min_samples_leaf : int, default=1
        Fewest rows on each side of a split.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes while growing.
    categorical_features : array-like of int, str or bool, default=None
        Columns whose numbers are codes of categories (levels): a split sends a set of categories
        one way and the others the other way. All sets are tried up to 8 categories, beyond that
        those with the highest precisions.
    splitter : {"auto", "exact", "histogram"}, default="auto"
        Split between any two values, or only between bins that see the positives; ``"auto"`` takes
        bins beyond 50,000 rows.
    max_bins : int, default=512
        Most bins of a column.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive. ``"auto"`` takes the exact best for
        ``metric`` on the held-out rows; ``None`` is 0.5.
    metric : str or callable, default="f1"
        What the threshold maximises: a name for :func:`rarefind.metrics.count_metric` or a
        function of ``(tp, fp, fn, tn)``.
    cv : int or splitter, default=5
        Folds, fewer when a class has fewer rows. Nothing is held out where there is nothing to
        choose: ``prune=False``, numbers for ``inner_depth`` and ``smoothing``, and
        ``threshold=None``.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.
    n_jobs : int, default=None
        Folds grown at the same time; the result is the same.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    tree_ : MetaTree
        The model. ``export_text``, ``to_svg``, ``to_graphviz``, ``to_sql`` and ``to_conditions``
        show it.
    leaf_scores_ : ndarray
        Score of each outer node of ``tree_``.
    n_conditions_, n_leaves_ : int
        Size of the model.
    inner_depth_, outer_depth_, smoothing_
        What was given or chosen.
    held_out_value_ : float
        ``target`` on the held-out rows, mean of the folds, of what was chosen, so rather high; NaN
        when nothing was held out.
    threshold_ : float
        The priority from which ``predict`` says positive.
    value_ : float
        ``metric`` on the held-out rows at the threshold, so rather high as well; NaN when nothing
        was held out.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    A row's priority is the precision of its leaf, drawn towards those of the leaves above it. With
    ``ties="border"`` it is moved towards the scores of other leaves by the share it would have in
    them if each threshold were a band as wide as its rows lie from it on average, and always less
    than half the way to the next leaf of the list.

    Missing values go to the side that makes the split better, and in a column without any at fit to
    the larger side. The published form is ``criterion="ap", order="ratio", scores="position",
    ties="leaf"``, with both depths chosen from 2 to 10.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 4.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.trees import MetaAPClassifier
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = MetaAPClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.66
    """

    _parameter_constraints = {  # noqa: RUF012
        **TreeClassifier._shared_constraints,
        "inner_depth": [
            StrOptions({"auto"}),
            Interval(Integral, 1, MAX_INNER, closed="both"),
            "array-like",
        ],
        "outer_depth": [Interval(Integral, 0, 100, closed="both")],
        "criterion": [StrOptions(set(CRITERIA))],
        "order": [StrOptions({"precision", "ratio"})],
        "scores": [StrOptions({"precision", "position"})],
        "target": [StrOptions({"average_precision", "precision_at_k"})],
        "k": [Real, str, None],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "prune": ["boolean"],
        "smoothing": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "ties": [StrOptions({"border", "leaf"})],
        "cv": ["cv_object"],
    }

    _target = "average_precision"

    def __init__(
        self,
        inner_depth: Any = "auto",
        outer_depth: int = 6,
        *,
        criterion: str = "max-ap",
        order: str = "precision",
        scores: str = "precision",
        target: str = "average_precision",
        k: Any = None,
        shrinkage: float = 5.0,
        prune: bool = True,
        smoothing: Any = "auto",
        ties: str = "border",
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
        self.criterion = criterion
        self.order = order
        self.scores = scores
        self.target = target
        self.k = k
        self.shrinkage = shrinkage
        self.prune = prune
        self.smoothing = smoothing
        self.ties = ties
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
        """Grow the tree and choose its shape.

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
        # Positions are scored to the lower end of a leaf's share of the list.
        self._own_threshold = 0.5 if self.scores == "precision" else ABOVE_HALF
        start = self._start(X, y, sample_weight, groups)
        self._share = self._share_of_rows(start.codes.size)
        self._grow_and_prune(start)
        return self

    def refit_budget(self, k: int | float | str) -> Self:
        """Merge the leaves of the grown tree for another budget, without growing it again.

        As many outer levels are kept, and scores are smoothed as much, as find most positives among
        about the first ``k`` held-out rows; levels only with ``prune=True``. The threshold follows.

        Parameters
        ----------
        k : int, float or str
            Checks among as many rows as were fitted, or a share of the rows (``"0.5%"``).

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if not self._held_out:
            raise ValueError(
                "refit_budget needs held-out rows, and this model was fitted without any: fit it "
                "with prune=True or threshold='auto'."
            )
        self._refit_budget(budget(k, self.n_rows_) / self.n_rows_)
        return self

    def _share_of_rows(self, n: int) -> float | None:
        if self.target == "precision_at_k":
            if self.k is None:
                raise ValueError("target='precision_at_k' needs k: checks (200) or a share (0.5%).")
            return budget(self.k, n) / n
        if self.k is not None:
            raise ValueError(
                "k is the budget of target='precision_at_k': set that target, or leave k out."
            )
        return None

    def _plan(self, inner_depth: int, start: Start) -> Plan:
        rows = start.rows
        return Plan(
            inner_depth=inner_depth,
            outer_depth=self.outer_depth,
            criterion=self.criterion,
            order=self.order,
            target="average_precision",
            min_rows=self.min_samples_leaf,
            n_features=rows.X.shape[1],
            shrinkage=float(self.shrinkage),
            budget=None if self._share is None else self._share * rows.weight.sum(),
        )

    def _smoothings(self) -> tuple[float, ...]:
        if self.scores == "position":
            return (0.0,)
        return SMOOTHINGS if self.smoothing == "auto" else (float(self.smoothing),)

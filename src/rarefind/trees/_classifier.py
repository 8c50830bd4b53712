"""What the classifiers made of one tree of trees share: growing, pruning, drawing, reasons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rarefind._core.fields import (
    Choice,
    Flag,
    FloatArray,
    ListOf,
    Maybe,
    Object,
    Perhaps,
    RealNumber,
    Size,
    StateError,
    Whole,
)
from rarefind._core.sklearn_compat import report_progress
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints, Table
from rarefind.data.categories import by_place
from rarefind.rules import Reason
from rarefind.rules.branches import Branch
from rarefind.rules.sql_columns import SqlColumns, own_columns
from rarefind.rules.sql_words import sql_name
from rarefind.selection.cross_validation import folds_of_used
from rarefind.trees._base import TREE_STATE, Start, TreeClassifier
from rarefind.trees._borders import band_widths
from rarefind.trees._branches import branches_of_trees
from rarefind.trees._columns import TreeColumns
from rarefind.trees._graphviz import to_graphviz
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees._paths import LeafRule, explain_path, leaf_ranks, to_conditions
from rarefind.trees._prune import HeldOutRanking, Pruning, mean_of_folds
from rarefind.trees._ranker import Ranker, shape_priorities
from rarefind.trees._row import row_priority
from rarefind.trees._sql import tree_query
from rarefind.trees._text import export_text
from rarefind.trees.graph import MetaTree
from rarefind.trees.layout import ValueWords
from rarefind.trees.svg import to_svg

#: Inner depths that ``inner_depth="auto"`` chooses among.
INNER_DEPTHS = (1, 2, 4)
MAX_INNER = 20


def _check_tree(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if state["_width"].size not in (0, state["_grown"].conditions.feature.size):
        raise StateError("'_width' is not that of the conditions")
    if state["n_leaves_"] != int(state["_ranker"].tree.is_leaf.sum()):
        raise StateError("'n_leaves_' is not the number of leaves")
    if len({len(fold) for fold in state["_held_out"]}) > 1:
        raise StateError("'_held_out' has not the same shapes in each fold")


#: What a classifier made of one tree of trees keeps in a model file.
META_TREE_STATE = TREE_STATE | State(
    {
        "_is_encoded": Perhaps(Flag()),
        "_scores": Choice("precision", "position"),
        "_own_threshold": RealNumber(0, 1),
        "_share": Perhaps(Maybe(RealNumber(0, 1))),
        "held_out_value_": RealNumber(nan=True),
        "_grown": Object("meta-tree", most={"columns": "d"}),
        "n_rows_": Whole(2),
        "inner_depth_": Whole(1, MAX_INNER),
        "_width": FloatArray("*", low=0),
        "_held_out": ListOf(ListOf(Object("meta-tree-held-out"), low=1)),
        "_ranker": Object("tree-ranker", most={"columns": "d"}, conditions="conditions"),
        "outer_depth_": Whole(),
        "smoothing_": RealNumber(0),
        "n_conditions_": Size("conditions"),
        "n_leaves_": Whole(1),
    },
    _check_tree,
)


class _FoldTree(NamedTuple):
    """A tree that has not seen the rows held out."""

    tree: MetaTree
    width: Floats
    held: Ints
    ranked: list[HeldOutRanking]  # for each shape
    values: Floats  # what these rankings are worth


class MetaTreeClassifier(TreeClassifier):
    """Base of classifiers made of one tree of trees.

    A subclass says how it is grown (:meth:`_plan`), what held-out rows are to be ranked well for
    (``_target``) and among which smoothings to choose (:meth:`_smoothings`).
    """

    inner_depth: Any
    outer_depth: int
    prune: bool
    ties: str
    cv: Any
    random_state: Any
    n_jobs: int | None
    verbose: int

    _grown: MetaTree
    _width: Floats
    _ranker: Ranker
    inner_depth_: int
    outer_depth_: int
    n_conditions_: int
    n_leaves_: int

    #: How leaves are scored: by smoothed precision or by position.
    _scores: str
    #: What the ranking of held-out rows is worth, and the share of them that will be checked.
    _target: str
    _share: float | None = None

    @abstractmethod
    def _plan(self, inner_depth: int, start: Start) -> Plan:
        """How a tree is grown."""

    @abstractmethod
    def _smoothings(self) -> tuple[float, ...]:
        """The smoothings to choose among."""

    def _grow_and_prune(self, start: Start) -> None:
        """Grow trees on folds and on all rows; keep the shape that held-out rows ask for."""
        rows = start.rows
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        depths = self._inner_depths()
        plans = [self._plan(depth, start) for depth in depths]
        shapes = self._shapes()
        pairs = self._pairs(start, seed, choices=len(plans) * len(shapes))
        columns = rows.columns()
        steps = len(pairs) * len(plans) + 1
        with report_progress(self, "trees", steps, rows.X, start.codes, self.verbose) as step:
            trees = self._grow_folds(start, columns, plans, shapes, pairs, seed, step)
            chosen, shape = self._choose(trees, shapes)
            plan = plans[chosen]
            self._grown = grow_meta_tree(columns, rows.is_positive, rows.weight, plan, seed)
            step()
        self.n_rows_, self.inner_depth_ = start.codes.size, depths[chosen]
        self._width = self._bands(self._grown, rows.X, rows.weight)
        self._held_out = [fold.ranked for fold in trees[chosen]]
        self._take_shape(shape)
        if pairs:
            self._calibrate(*self._held_out_scores(start, trees[chosen], shape))
        else:
            self._leave_uncalibrated()

    def _inner_depths(self) -> list[int]:
        if isinstance(self.inner_depth, Integral):
            return [int(self.inner_depth)]
        depths = list(INNER_DEPTHS if isinstance(self.inner_depth, str) else self.inner_depth)
        if not depths or not all(depth in range(1, MAX_INNER + 1) for depth in depths):
            raise ValueError(
                f"inner_depth is a depth from 1 to {MAX_INNER}, several of them, or 'auto'; "
                f"not {self.inner_depth!r}."
            )
        return [int(depth) for depth in depths]

    def _pairs(self, start: Start, seed: int, choices: int) -> list[tuple[Ints, Ints]]:
        """Folds, where there is something to choose by them."""
        if self.threshold != "auto" and (
            start.one_is_alone or (self.threshold is None and choices == 1)
        ):
            return []
        labels = self.classes_[start.codes]
        return folds_of_used(
            start.rows.X, labels, self.cv, start.used, groups=start.groups, random_state=seed
        )

    def _shapes(self) -> list[Pruning]:
        depths = range(self.outer_depth + 1) if self.prune else [self.outer_depth]
        return [Pruning(depth, m) for depth in depths for m in self._smoothings()]

    def _grow_folds(
        self,
        start: Start,
        columns: TreeColumns,
        plans: list[Plan],
        shapes: list[Pruning],
        pairs: list[tuple[Ints, Ints]],
        seed: int,
        step: Callable[[], None],
    ) -> list[list[_FoldTree]]:
        """The trees of all folds, for each plan."""

        def grow_fold(train: Ints, held: Ints) -> list[_FoldTree]:
            train = np.sort(train)
            part = start.rows.part(columns, train)
            positive, weight = start.rows.is_positive[train], start.rows.weight[train]
            found = []
            for plan in plans:
                own = plan.scale(weight.sum() / start.rows.weight.sum())
                tree = grow_meta_tree(part, positive, weight, own, seed)
                width = self._bands(tree, start.rows.X[train], weight)
                found.append(self._judge(start, tree, width, held, shapes))
                step()
            return found

        grown = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(grow_fold)(train, held) for train, held in pairs
        )
        return [[fold[i] for fold in grown] for i in range(len(plans))]

    def _choose(self, trees: list[list[_FoldTree]], shapes: list[Pruning]) -> tuple[int, Pruning]:
        """The plan, and the shape, that rank held-out rows best: the first of equal ones."""
        self.held_out_value_ = np.nan
        if not trees[0]:
            return 0, max(shapes, key=lambda shape: (shape.depth, -shape.smoothing))
        values = np.array([mean_of_folds([fold.values for fold in plan]) for plan in trees])
        plan, shape = divmod(int(np.nanargmax(values)), len(shapes))
        self.held_out_value_ = float(values[plan, shape])
        if self._share is not None:
            self.held_out_value_ = _precision([f.ranked[shape] for f in trees[plan]], self._share)
        return plan, shapes[shape]

    def _judge(
        self, start: Start, tree: MetaTree, width: Floats, held: Ints, shapes: list[Pruning]
    ) -> _FoldTree:
        """See what a tree makes, in every shape, of the rows held out."""
        weight, positive = start.own_weight[held], start.rows.is_positive[held]
        ranked, values = [], []
        for score in shape_priorities(tree, shapes, self._scores, width, start.rows.X[held]):
            whole = HeldOutRanking.of(score, weight, positive)
            ranked.append(whole.thin())
            values.append(self._worth(whole, ranked[-1]))
        return _FoldTree(tree, width, held, ranked, np.array(values))

    def _worth(self, whole: HeldOutRanking, thinned: HeldOutRanking) -> float:
        """What a ranking is worth; a budget is judged as ``refit_budget`` will judge others."""
        return whole.worth(self._target) if self._share is None else thinned.around(self._share)

    def _held_out_scores(
        self, start: Start, trees: list[_FoldTree], shape: Pruning
    ) -> tuple[Floats, Bools, Floats]:
        scores = [
            Ranker.of(fold.tree, shape, self._scores, fold.width).priority(start.rows.X[fold.held])
            for fold in trees
        ]
        held = np.concatenate([fold.held for fold in trees])
        return np.concatenate(scores), start.rows.is_positive[held], start.own_weight[held]

    def _refit_budget(self, share: float) -> None:
        """Take the shape that ranks the held-out rows best around another budget."""
        values = [[ranked.around(share) for ranked in fold] for fold in self._held_out]
        best = int(np.argmax(np.mean(values, axis=0)))
        chosen = [fold[best] for fold in self._held_out]
        self._share, self.held_out_value_ = share, _precision(chosen, share)
        self._take_shape(self._shapes()[best])
        scores, positive, weight = zip(*(ranked.rows() for ranked in chosen), strict=True)
        self._calibrate(np.concatenate(scores), np.concatenate(positive), np.concatenate(weight))

    def _bands(self, tree: MetaTree, X: Floats, weight: Floats) -> Floats:
        return band_widths(tree, X, weight) if self.ties == "border" else np.empty(0)

    def _take_shape(self, shape: Pruning) -> None:
        """Use the grown tree in this shape."""
        self._ranker = Ranker.of(self._grown, shape, self._scores, self._width)
        self.outer_depth_, self.smoothing_ = shape
        self.n_conditions_ = self.tree_.conditions.feature.size
        self.n_leaves_ = int(self.tree_.is_leaf.sum())

    @property
    def tree_(self) -> MetaTree:
        """The model: conditions and outer nodes."""
        return self._ranker.tree

    @property
    def leaf_scores_(self) -> Floats:
        """Score of each outer node of ``tree_``."""
        return self._ranker.score

    def _branches(self) -> list[Branch]:
        return branches_of_trees([self.tree_, self._grown])

    def _priority(self, X: Floats) -> Floats:
        return self._ranker.priority(X)

    def _row_function(self) -> Callable[[Floats], float]:
        return row_priority(self._ranker)

    def _explain(self, X: Floats) -> list[Reason]:
        names, scores = self._feature_names(), self._priority(X)
        rows = zip(X, self.tree_.encode(X), scores.tolist(), self._ranks(scores), strict=True)
        return [
            Reason(score, rank, explain_path(self.tree_, coded, raw, names))
            for raw, coded, score, rank in rows
        ]

    def apply(self, X: Table) -> Ints:
        """Rank of the leaf each row falls in; leaf 1 is the first of the list.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        rows = self._check_rows(X)
        return leaf_ranks(self.tree_, self.leaf_scores_)[self.tree_.apply(rows)]

    def export_text(self) -> str:
        """The whole model as text: conditions, leaves, and what leads where.

        With ``ties="border"`` each threshold has its band behind it, and the text says how bands
        move a row within its leaf.

        Returns
        -------
        str
        """
        tree, _, names = self._drawn()
        return export_text(self._ranker._replace(tree=tree), names)

    def to_sql(self, dialect: str = "ansi", table: str = "rows", output: str = "priority") -> str:
        """A query that gives each row of a table its priority, to the last bit.

        With ``ties="border"`` it is several times longer, as it follows each row to all leaves that
        it is near to; a tree with far more than a thousand conditions or leaves may be refused.

        Parameters
        ----------
        dialect : {"ansi", "sqlite", "duckdb", "postgresql", "mysql"}, default="ansi"
            How names are quoted and numbers are written.
        table : str, default="rows"
            The table, with a column for each feature by its name; a missing value is NULL.
        output : str, default="priority"
            Name of the column with the priority.

        Returns
        -------
        str
            All columns of the table, and the priority.
        """
        check_is_fitted(self)
        columns = own_columns(self, self._feature_names(), dialect)
        columns.check_output(output)
        return self._query(columns, sql_name(table, dialect), output)

    def _query(self, columns: SqlColumns, rows: str, output: str) -> str:
        """The query on features that are read from the columns of a table."""
        return tree_query(self._ranker, columns, rows, output)

    def to_graphviz(self) -> str:
        """The model in the language of Graphviz, which need not be installed.

        Returns
        -------
        str
        """
        return to_graphviz(*self._drawn(), has_missing=self._has_missing)

    def to_svg(self, names: list[str] | None = None, words: ValueWords | None = None) -> str:
        """The model as a picture for a browser or a report.

        Parameters
        ----------
        names : list of str, default=None
            What the columns are called; by default as at fit.
        words : rarefind.trees.layout.ValueWords, default=None
            How values are written, where the columns hold codes of others.

        Returns
        -------
        str
        """
        tree, score, own = self._drawn()
        return to_svg(tree, score, names or own, self._has_missing, words)

    def to_conditions(self, most: int = 10_000) -> list[LeafRule]:
        """The model as rules: every way to a leaf, its conditions merged, the first leaves first.

        Parameters
        ----------
        most : int, default=10_000
            More rules than these are refused.

        Returns
        -------
        list of LeafRule
            Each row meets the conditions of one of them, if columns without missing values at fit
            have none. Ties that near borders break are not in them.
        """
        return to_conditions(*self._drawn(), most=most, has_missing=self._has_missing)

    def named_tree(self) -> MetaTree:
        """The tree to be shown: levels of categories stand for their codes.

        Returns
        -------
        MetaTree
            As ``tree_``, but for the names.
        """
        check_is_fitted(self)
        names, levels = self._feature_names(), dict(self.tree_.levels)
        for j, own in by_place(getattr(self, "categories_", {}), names).items():
            codes = levels.get(j, np.empty(0)).astype(np.intp).tolist()
            levels[j] = np.array([str(own[code]) for code in codes], dtype=object)
        return self.tree_._replace(levels=levels)

    def _drawn(self) -> tuple[MetaTree, Floats, list[str]]:
        return self.named_tree(), self.leaf_scores_, self._feature_names()


def _precision(held_out: list[HeldOutRanking], share: float) -> float:
    return float(np.mean([fold.precision(share) for fold in held_out]))

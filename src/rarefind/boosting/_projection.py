"""XGBoost on directions that are learned by weighted PCA while boosting."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.checks import level_columns
from rarefind._core.deadline import deadline
from rarefind._core.fields import Flag, Object, RealNumber
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.threads import limit_threads
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label
from rarefind.boosting._base import SHARED_STATE, BoostingRows, TrainingPart, check_trees
from rarefind.boosting._coding import BLOCK
from rarefind.boosting._directions import (
    Contest,
    DirectionRounds,
    ProjectedColumns,
    Projection,
    best_columns,
    boosted_directions,
    drawn,
    has_three_values,
    rca_axes,
    weighted_pca,
)
from rarefind.boosting._projection_tree import TreeParams
from rarefind.boosting._run import Derivatives, Run
from rarefind.boosting._surrogates import add_logistic
from rarefind.boosting._xgboost import BoostedTreesClassifier
from rarefind.rules.branches import BranchList, Combination

# Least loadings that are tried: directions that mix columns, and ones that compare them.
_LOADINGS = (0.05, 0.4)
# Share of a direction's squared standardised loadings from which on one column is the direction.
_DOMINANT = 0.95


@saved(
    "projection-boosting",
    state=SHARED_STATE
    | State(
        {
            "_has_one_part": Flag(),
            "_projection": Object("projection", d="d", given="given"),
            "base_score_": RealNumber(),
        },
        check_trees,
    ),
)
class ProjectionBoostingClassifier(BoostedTreesClassifier):
    """Gradient boosting on columns and on directions that the boosting itself finds.

    A tree compares one column with a number, so a boundary that lies across columns, such as an
    amount that is high for the card's mean, takes it many splits. Here trees also split on sums of
    columns. A first boosting learns these: in each round the rows are weighted by the second
    derivatives of the logistic loss, which are large where the score is unsure, and a weighted PCA
    gives the directions in which those rows vary. The tree of the round chooses among the columns,
    the components of the round and the components kept so far; those it uses are kept. Then the
    least important columns and directions are left out, some at a time, and XGBoost is trained on
    the set that ranked rows held out from the choice best.

    A direction is a short formula in the units of the columns: small loadings are left out, the
    others have four digits. :meth:`describe_directions` says them in words. With folds, each learns
    its own directions and columns from its own rows; where there is but one, or an ``eval_set``,
    the last model takes those of it.

    Parameters
    ----------
    directions : {"weighted-pca", "pca", "rca", "none"}, default="weighted-pca"
        Where directions come from: the rounds; all components of one PCA; the map of
        :class:`rarefind.distances.RCA` with the classes as chunklets, in which rows weigh the same;
        or none are made.
    max_rounds : int, default=100
        Most rounds in which directions are learned.
    patience : int, default=10
        Stop after that many rounds in which no new direction was kept.
    max_directions : int, default=20
        Most directions that are kept, those that gain most.
    min_loading : float or "auto", default="auto"
        Loadings of a direction smaller than that are 0, for columns of variance 1 and directions of
        length 1. The largest always stays. ``"auto"`` learns directions with 0.05, which mix many
        columns, and with 0.4, which compare two or three, and takes those that rank rows held out
        of the sample better.
    projected_features : array-like or None, default=None
        Columns that directions are made of, by number, name or one truth value a column; by default
        those with more than two different values that are not categories.
    max_samples : int, default=10_000
        Most rows that directions and columns are chosen by: positives up to half of them, and
        negatives at random, weighted so that both add up to what they were.
    eliminate : bool, default=True
        Whether the least important columns and directions are left out.
    n_estimators : int, default=300
        Most rounds of the last boosting, of one tree each.
    learning_rate, max_depth, min_child_weight, gamma, reg_lambda, reg_alpha
        As in :class:`SGBAPClassifier`. Trees that choose directions are at most 8 deep.
    subsample : float, default=1.0
        Share of the rows that the tree of a round is grown on.
    colsample_bytree, colsample_bylevel, colsample_bynode, tree_method, bins, max_bins
        As in :class:`SGBAPClassifier`.
    categorical_features, early_stopping_rounds, eval_metric, k, cv, threshold, metric
        As in :class:`SGBAPClassifier`.
    pos_label, random_state, n_jobs, verbose
        As in :class:`SGBAPClassifier`.

    Attributes
    ----------
    directions_ : ndarray of shape (n_directions, d)
        Loadings of the directions that trees may split on, in the units of the columns.
    columns_ : list of str
        Names of the columns that trees may split on.
    n_leaves_ : int
        Leaves of all trees.
    feature_importances_ : ndarray of shape (d,)
        Share of each column in what all splits gain; that of a direction is shared by the squares
        of its loadings of columns of variance 1.
    n_rounds_, validation_curve_, booster_, base_score_, threshold_, value_
        As in :class:`SGBAPClassifier`.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    In a direction the missing values of a column that had some in the training rows are its mean.
    Where a column had none, a direction that uses it is missing as well, and trees send it where
    the training loss is least.

    A direction in ``trees_to_dataframe`` and ``booster_`` is "d0", "d1" and so on, after the
    columns. Reasons name columns: the Shapley value of a direction is shared among its columns by
    how far each moves it off its mean, that of a missing direction among the missing ones.

    A direction of one column alone is that column, and is not kept. Sets of columns are compared on
    a quarter of the sample, on up to four where quarters hold few positives, after at most 100
    rounds. The thesis removes one column at a time; here three in ten go at once.

    References
    ----------
    .. [1] N. Ajakan, "Ingénierie de la représentation des variables pour la classification binaire
       à partir des données déséquilibrées", master's thesis, Université Laval, Québec, sections
       3.4.3 and 3.5. Sampling, bins and readable loadings are ours.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.boosting import ProjectionBoostingClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = ProjectionBoostingClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.65
    """

    # Directions are sums over the columns of a row.
    reads_columns = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "directions": [StrOptions({"weighted-pca", "pca", "rca", "none"})],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "max_directions": [Interval(Integral, 1, None, closed="left")],
        "min_loading": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "projected_features": ["array-like", None],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "eliminate": ["boolean"],
        **BoostedTreesClassifier._parameter_constraints,
    }
    _parameter_constraints.pop("monotone_constraints")
    # The order of a direction's values is not that of a column's.
    monotone_constraints = None

    _projection: Projection

    #: It learns directions before its rounds.
    stops_quickly = False
    fits_in_time = False

    def __init__(
        self,
        *,
        directions: str = "weighted-pca",
        max_rounds: int = 100,
        patience: int = 10,
        max_directions: int = 20,
        min_loading: float | str = "auto",
        projected_features: Any = None,
        max_samples: int = 10_000,
        eliminate: bool = True,
        n_estimators: int = 300,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        min_child_weight: float | str = "auto",
        gamma: float = 0.0,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        tree_method: str = "hist",
        bins: str = "positive-aware",
        max_bins: int = 256,
        categorical_features: Any = None,
        early_stopping_rounds: int | None = 50,
        eval_metric: str = "average_precision",
        k: float | str | None = None,
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.directions = directions
        self.max_rounds = max_rounds
        self.patience = patience
        self.max_directions = max_directions
        self.min_loading = min_loading
        self.projected_features = projected_features
        self.max_samples = max_samples
        self.eliminate = eliminate
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.gamma = gamma
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.tree_method = tree_method
        self.bins = bins
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.k = k
        self.cv = cv
        self.threshold = threshold
        self.metric = metric
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def directions_(self) -> Floats:
        """Loadings of the directions, in the units of the columns."""
        check_is_fitted(self)
        return self._projection.loadings.copy()

    @property
    def columns_(self) -> list[str]:
        """Names of the columns that trees may split on."""
        check_is_fitted(self)
        names = self._feature_names()
        return [names[j] for j in self._projection.columns]

    @property
    def n_leaves_(self) -> int:
        """Leaves of all trees."""
        check_is_fitted(self)
        return sum(tree.count("leaf=") for tree in self._trees.booster().get_dump())

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in what all splits gain, that of directions among their columns."""
        check_is_fitted(self)
        kept = self._projection
        gain = self._gain_shares(kept.size)
        found = gain[kept.columns.size :] @ kept.standardise() ** 2
        found[kept.columns] += gain[: kept.columns.size]
        return np.asarray(found)

    def describe_directions(self, top: int = 3) -> pd.DataFrame:
        """Say what the directions are.

        Parameters
        ----------
        top : int, default=3
            Most columns of a direction that its words name, those that say most in it.

        Returns
        -------
        DataFrame
            A row for each direction: ``direction`` ("d0", "d1", …), ``words``, ``gain`` (its share
            in what all splits gain) and ``loadings``, the whole formula in the columns' units.
        """
        check_is_fitted(self)
        if top < 1:
            raise ValueError(f"top={top}: give a number of columns, at least 1.")
        kept, names = self._projection, self._feature_names()
        rows = []
        for loadings, axis in zip(kept.loadings, kept.standardise(), strict=True):
            order = np.argsort(-np.abs(axis), kind="stable")[:top]
            shown = [int(j) for j in order if loadings[j] != 0]
            whole = np.flatnonzero(loadings).tolist()
            rows.append((_in_words(axis, shown, names), _formula(loadings, whole, names)))
        words, formulas = zip(*rows, strict=True) if rows else ((), ())
        return pd.DataFrame(
            {
                "direction": _direction_names(len(rows)),
                "words": list(words),
                "gain": self._gain_shares(kept.size)[kept.columns.size :],
                "loadings": list(formulas),
            }
        )

    def _tree_names(self) -> list[str]:
        return self.columns_ + _direction_names(len(self._projection.loadings))

    def _derivatives(self, rows: BoostingRows, seed: int) -> Derivatives:
        positive, weight, n_jobs = rows.positive, rows.weight, effective_n_jobs(self.n_jobs)

        def derivatives(score: Floats, number: int, first: Array, second: Array) -> None:
            add_logistic(score, positive, weight, 1.0, first, second, n_jobs)

        return derivatives

    def _parts(
        self,
        rows: BoostingRows,
        used: Bools,
        groups: ArrayLike | None,
        judges: BoostingRows | None,
        seed: int,
    ) -> list[TrainingPart]:
        parts = super()._parts(rows, used, groups, judges, seed)
        self._has_one_part = len(parts) == 1
        return parts

    def _grow(self, rows: BoostingRows, held_out: Floats | None, seed: int) -> Run:
        # The model on all rows comes last, and takes what the only part has learned.
        if held_out is not None or not self._has_one_part:
            self._projection = self._learn(rows, seed)
        kept = self._projection
        if held_out is not None:
            held_out = kept.extend(held_out)
        own = rows._replace(X=kept.extend(rows.X))
        return self._grow_on(own, held_out, seed, kept.sets(self._is_set))

    def _learn(self, rows: BoostingRows, seed: int) -> Projection:
        """Directions and columns by these rows alone."""
        sample = drawn(rows, self.max_samples, seed)
        params, d = self._params(rows), rows.X.shape[1]
        most = self.max_directions
        contest = Contest(params, self.n_estimators, self._worth, seed, d, most, deadline())

        def judge(found: Projection, eliminate: bool) -> tuple[Ints, float]:
            own = sample._replace(X=found.extend(sample.X))
            return best_columns(own, found.sets(self._is_set), contest, eliminate)

        columns = ProjectedColumns.learn(rows, self._columns_to_project(rows.X))
        least = self._least_loadings(columns)
        threads = effective_n_jobs(self.n_jobs)

        def try_limit(limit: float) -> tuple[Projection, float]:
            own = self._loadings(rows, sample, columns, limit, max(1, threads // len(least)))
            found = columns.projection(own, d)
            kept, worth = judge(found, eliminate=False)
            return found.only(kept), worth

        best = Projection.none(d)
        if least:
            work = Parallel(n_jobs=min(threads, len(least)), require="sharedmem")
            # One thread of matrix products: in any number of them the directions are the same.
            with limit_threads(1, "blas"):
                found = work(delayed(try_limit)(limit) for limit in least)
            best = max(found, key=lambda pair: pair[1])[0]
        return best.only(judge(best, eliminate=True)[0]) if self.eliminate else best

    def _least_loadings(self, columns: ProjectedColumns) -> tuple[float, ...]:
        """Least loadings to try; none where there are no directions."""
        if self.directions == "none" or not columns.number.size:
            return ()
        return _LOADINGS if self.min_loading == "auto" else (float(self.min_loading),)

    def _loadings(
        self,
        rows: BoostingRows,
        sample: BoostingRows,
        columns: ProjectedColumns,
        least: float,
        threads: int,
    ) -> Floats:
        """Directions of the projected columns, in their units."""
        if self.directions == "weighted-pca":
            params = self._params(rows)
            shape = TreeParams(**{name: params[name] for name in TreeParams._fields})
            rounds = DirectionRounds(shape, self.max_rounds, self.patience, least, threads)
            return boosted_directions(sample, self._is_set, columns, rounds)
        Z = columns.standardise(rows.X)
        if self.directions == "pca":
            axes = weighted_pca(Z, rows.weight)
        else:
            axes = rca_axes(Z, rows.positive)
        return columns.readable(axes, least)

    def _columns_to_project(self, X: Floats) -> Bools:
        """Which columns directions are made of."""
        if self.projected_features is None:
            several = [not s and has_three_values(X[:, j]) for j, s in enumerate(self._is_set)]
            return np.array(several)
        try:
            wanted = level_columns(self.projected_features, self._feature_names())
        except ValueError as error:
            sentence = str(error).replace("categorical_features", "projected_features")
            raise ValueError(sentence) from None
        if (wanted & self._is_set).any():
            raise ValueError(
                "projected_features names a column of categories, which cannot be added up: "
                "leave it out."
            )
        return wanted

    def _by_trees(self, X: Floats, **what: bool) -> Array:
        ask, kept = super()._by_trees, self._projection
        starts = range(0, len(X), BLOCK)
        return np.concatenate([ask(kept.extend(X[s : s + BLOCK]), **what) for s in starts])

    def _margins(self, X: Floats) -> Array:
        ask, kept = super()._margins, self._projection
        starts = range(0, len(X), BLOCK)
        return np.concatenate([ask(kept.extend(X[s : s + BLOCK])) for s in starts])

    def _contributions(self, X: Floats) -> Floats:
        """Shapley values of the trees, those of directions shared among their columns."""
        return self._projection.share_out(X, super()._contributions(X))

    def tree_branches(self) -> BranchList:
        kept, d = self._projection, self.n_features_in_
        # Trees number the columns they are given: the kept ones first, then the directions.
        number = [*kept.columns.tolist(), *range(d, d + len(kept.loadings))]
        branches = super().tree_branches().branches
        combinations = []
        for loadings in kept.loadings:
            used = np.flatnonzero(loadings)
            parts = used, loadings[used], kept.fill[used]
            combinations.append(Combination(*(tuple(part.tolist()) for part in parts)))
        return BranchList(
            [{number[j]: test for j, test in branch.items()} for branch in branches], combinations
        )


def _direction_names(n: int) -> list[str]:
    return [f"d{number}" for number in range(n)]


def _in_words(axis: Floats, shown: list[int], names: list[str]) -> str:
    """What a high value of a direction means, by the columns that say most in it."""
    if axis[shown[0]] ** 2 >= _DOMINANT or len(shown) == 1:
        return names[shown[0]]
    high = _join_names([names[j] for j in shown if axis[j] > 0])
    low = _join_names([names[j] for j in shown if axis[j] < 0])
    return f"{high} high for {low}" if low else f"{high} high together"


def _join_names(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _formula(loadings: Floats, shown: list[int], names: list[str]) -> str:
    text = f"{loadings[shown[0]]:.4g} * {names[shown[0]]}"
    for j in shown[1:]:
        sign = "-" if loadings[j] < 0 else "+"
        text += f" {sign} {abs(loadings[j]):.4g} * {names[j]}"
    return text

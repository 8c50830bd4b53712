"""A tree ensemble broken into conditions, and boiled down to a short list of them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix
from sklearn.base import _fit_context
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import has_fit_parameter

from rarefind._core.checks import check_classes_left, training_weights
from rarefind._core.fields import BoolArray, FloatArray, IntArray, Perhaps, RealNumber, Whole
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.conditions._choice import shortest, sizes_to_try
from rarefind.conditions._condition_list import ConditionList, drop_unused
from rarefind.conditions._ensembles import break_up, check_same_columns
from rarefind.conditions._fitting import ensemble_scores, fit_ensemble
from rarefind.conditions._list_classifier import CONDITION_LIST_STATE, ConditionListClassifier
from rarefind.conditions._matrix import BranchArrays, with_combinations
from rarefind.conditions._measures import Measures
from rarefind.conditions._rounding import opposite, round_threshold, shorten
from rarefind.conditions._stumps import Boosting, distinct, eliminations, merge_rows, with_parts
from rarefind.metrics import average_precision
from rarefind.rules.branches import Branch, Combination
from rarefind.selection import best_threshold
from rarefind.selection.cross_validation import check_positives_held_out, folds_of_used

# With fewer rows of a class than these none are kept out to measure conditions on.
_FEWEST_TO_MEASURE = 20
# Of weights, and so of scores: what is read is what is used.
_DECIMALS = 3
# Folds are held out until they hold this many positives: more make the choice no better.
_ENOUGH_POSITIVES = 300
# With more negatives than these, and than so many for each positive, folds learn from some of them.
_ENOUGH_NEGATIVES, _NEGATIVES_EACH = 200_000, 200
# Branches of which parts are tried, as a multiple of the longest list.
_WITH_PARTS = 2


class _LabelledRows(NamedTuple):
    """Rows to learn from, or to judge by."""

    X: Floats
    positive: Bools
    weight: Floats
    groups: Array | None = None

    def take(self, rows: Ints) -> _LabelledRows:
        groups = None if self.groups is None else self.groups[rows]
        return _LabelledRows(self.X[rows], self.positive[rows], self.weight[rows], groups)

    def thin(self, seed: int) -> _LabelledRows:
        """All positives and enough negatives, which have the weight of all."""
        positives, negatives = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        most = max(_ENOUGH_NEGATIVES, _NEGATIVES_EACH * positives.size)
        if negatives.size <= most:
            return self
        drawn = np.random.default_rng(seed).choice(negatives, most, replace=False)
        more = self.weight[negatives].sum() / self.weight[drawn].sum()
        found = self.take(np.sort(np.concatenate([positives, drawn])))
        return found._replace(weight=found.weight * np.where(found.positive, 1.0, more))


class _EnsembleConditions(NamedTuple):
    """The different conditions of an ensemble on its rows."""

    branches: list[Branch]
    combinations: list[Combination]
    held: csr_matrix  # which of them hold for which rows


def _upgrade(version: int, state: dict[str, Any]) -> dict[str, Any]:
    names = {"_listed": "_condition_list"}
    return {names.get(name, name): value for name, value in state.items()}


@saved(
    "conditions",
    2,
    state=CONDITION_LIST_STATE
    | State(
        {
            "_is_level": Perhaps(BoolArray("d")),
            "sizes_": IntArray("*", low=0),
            "values_": FloatArray("*", nan=True),
            "ensemble_value_": RealNumber(nan=True),
            "n_branches_": Whole(),
        }
    ),
    upgrade=_upgrade,
)
class ConditionClassifier(ConditionListClassifier):
    """A tree ensemble boiled down to a short list of conditions, which is the model.

    Every branch of every tree is a condition: a few thresholds that all hold. Conditions that
    hold for the same rows are one. Trees of depth one, boosted on the conditions, give each a
    weight; those that gain least go, the others are weighted anew, and so on down to one. The
    shortest list that keeps the ensemble's quality on held-out rows is the model: it scores by
    itself, and the ensemble is not kept.

    Parameters
    ----------
    estimator : estimator, default=None
        The ensemble: XGBoost, LightGBM, scikit-learn's trees, forests and GradientBoosting, or a
        rarefind classifier made of trees. By default 100 trees of depth 3 by XGBoost.
    prefit : bool, default=False
        Take ``estimator`` as it is fitted already; so is a
        :class:`sklearn.frozen.FrozenEstimator` always, which searches and ``clone`` leave fitted.
        Then give ``fit`` rows that it has not seen, because on others it seems better than it is,
        and the labels that it knows; a bare booster gives the probability of the positive ones.
    max_conditions : int, default=40
        Longest list.
    tolerance : float, default=0.01
        Share of the ensemble's ``eval_metric`` on held-out rows that the list may lose. The
        shortest list within it is kept; where none is, that share of the best list's.
    eval_metric : {"average_precision", "f1"}, default="average_precision"
        What is kept; F1 is that of the best threshold.
    parts : bool, default=True
        Whether some of a branch's thresholds may be a condition, without the others: such are
        tried for the branches that gain most. Without it conditions are whole branches.
    negative_weights : bool, default=False
        Whether conditions may lower the score. Without them every condition speaks for a positive,
        and so can be a reason and an alert by itself.
    n_estimators : int, default=100
        Rounds in which weights are found.
    learning_rate : float, default=0.3
        What each round's weight is multiplied by.
    reg_lambda : float, default=1.0
        Shrinkage of weights.
    measure_size : float or None, default=0.2
        Share of the rows that nothing is learned from, to measure the conditions on. None learns
        from all rows, and measures nothing. With fewer than 20 rows in a class nothing is measured.
    categorical_features : array-like or None, default=None
        Columns of categories, by number, name or one truth value a column, for an estimator that
        splits on sets of categories; XGBoost takes whole numbers from 0 on.
    cv : int, splitter or iterable, default=5
        The folds. No more of them are used than it takes to hold out 300 positives.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive. ``"auto"`` takes the exact best for
        ``metric`` on the held-out rows; None is 0.
    metric : str or callable, default="f1"
        What the threshold maximises: a name that :func:`rarefind.metrics.count_metric` knows, or a
        function of ``(tp, fp, fn, tn)``.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of the ensemble if it has none.
    n_jobs : int, default=None
        Threads; -1 for all cores.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    conditions_ : DataFrame
        One row a condition, the weightiest first: ``rule`` (text that :class:`rarefind.rules.Rule`
        reads), ``weight``, and on rows that nothing was learned from ``support``, ``precision``,
        ``recall`` and ``lift``, each with ``_low`` and ``_high``, its 95 % interval.
    start_ : float
        Score of a row for which no condition holds.
    n_conditions_ : int
        Length of the list.
    sizes_, values_ : ndarray
        Lengths that were tried, and ``eval_metric`` of each on held-out rows.
    ensemble_value_ : float
        The same of the ensemble.
    n_branches_ : int
        Different conditions of the ensemble.
    threshold_ : float
        The priority from which ``predict`` says positive.
    value_ : float
        ``metric`` on the held-out rows at the threshold.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    Weights have three decimals, and thresholds are moved to round numbers between the values that
    they part: what is read is what is used, and :meth:`export_text`, :meth:`to_sql` and
    :meth:`to_json` give the same scores to the last bit.

    With more than 200,000 negatives, and more than 200 for each positive, the lists of the folds,
    by which length and threshold are chosen, are made from so many of them with the weight of all.
    The list itself is made from all rows.

    References
    ----------
    .. [1] N. Ajakan, "Ingénierie de la représentation des variables pour la classification binaire
       à partir des données déséquilibrées", master thesis, Université Laval, chapters 3 and 4.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.conditions import ConditionClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = ConditionClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.52
    """

    _allows_missing = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "prefit": ["boolean"],
        "max_conditions": [Interval(Integral, 1, 1000, closed="both")],
        "tolerance": [Interval(Real, 0, 1, closed="left")],
        "eval_metric": [StrOptions({"f1", "average_precision"})],
        "parts": ["boolean"],
        "negative_weights": ["boolean"],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "reg_lambda": [Interval(Real, 0, None, closed="left")],
        "measure_size": [Interval(Real, 0, 0.5, closed="right"), None],
        "categorical_features": ["array-like", None],
        "cv": ["cv_object"],
        "threshold": [StrOptions({"auto"}), Real, None],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        prefit: bool = False,
        max_conditions: int = 40,
        tolerance: float = 0.01,
        eval_metric: str = "average_precision",
        parts: bool = True,
        negative_weights: bool = False,
        n_estimators: int = 100,
        learning_rate: float = 0.3,
        reg_lambda: float = 1.0,
        measure_size: float | None = 0.2,
        categorical_features: Any = None,
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.prefit = prefit
        self.max_conditions = max_conditions
        self.tolerance = tolerance
        self.eval_metric = eval_metric
        self.parts = parts
        self.negative_weights = negative_weights
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.reg_lambda = reg_lambda
        self.measure_size = measure_size
        self.categorical_features = categorical_features
        self.cv = cv
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
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; one of weight 0 is not there.
        groups : array-like of shape (n,), default=None
            Rows of one group are never on both sides of a fold.

        Returns
        -------
        self
        """
        self._count_metric()
        if self.prefit and self.estimator is None:
            raise ValueError("prefit=True needs a fitted estimator: give estimator=.")
        X, codes = self._start_fit(X, y, self.pos_label)
        check_consistent_length(X, groups)
        weight = training_weights(X, codes, sample_weight, None)
        used = weight > 0
        check_classes_left(codes, used, 2)
        grouped = None if groups is None else np.asarray(groups)
        rows = _LabelledRows(X, self._is_positive(codes), weight / weight[used].mean(), grouped)
        if self._is_fitted():
            names = self._feature_names() if hasattr(self, "feature_names_in_") else None
            check_same_columns(self.estimator, X.shape[1], names)
        self._is_level = self._level_columns()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        learned, unseen = self._split(rows, used, seed)
        parts = self._parts(rows, learned, seed)
        own = rows.take(np.flatnonzero(learned))
        # The ensemble, its conditions, and the list of them, each time.
        steps = 3 * (len(parts) + 1)
        with report_progress(self, "steps to lists", steps, X, codes, self.verbose) as step:
            size = self._choose(own, parts, seed, step)
            self._keep(own, size, seed, step)
        held = self._condition_list.held(rows.X[unseen], self.n_jobs)
        self._measures = Measures.of(held, rows.positive[unseen], rows.weight[unseen])
        return self

    def _split(self, rows: _LabelledRows, used: Bools, seed: int) -> tuple[Bools, Ints]:
        """Rows to learn from, and the numbers of those to measure conditions on."""
        rarest = min(rows.positive[used].sum(), (~rows.positive[used]).sum())
        if self.measure_size is None or rarest < _FEWEST_TO_MEASURE:
            return used, np.empty(0, dtype=np.intp)
        folds = self._folds(rows, used, max(2, round(1 / self.measure_size)), seed)
        unseen = np.flatnonzero(used)[folds[0][1]]
        learned = used.copy()
        learned[unseen] = False
        if rows.groups is not None:  # those that are left must still fall into folds
            for side in (rows.positive, ~rows.positive):
                if len(set(rows.groups[learned & side].tolist())) < 2:
                    return used, np.empty(0, dtype=np.intp)
        return learned, unseen

    def _parts(self, rows: _LabelledRows, learned: Bools, seed: int) -> list[Any]:
        """Pairs of rows to make lists from and rows to judge them by."""
        positive = rows.positive[learned]
        if self.threshold != "auto" and min(positive.sum(), (~positive).sum()) < 2:
            return []  # a row that is alone in its class cannot be held out
        parts, enough = [], 0
        for train, held in self._folds(rows, learned, self.cv, seed):
            parts.append((np.sort(train), held))
            enough += int(positive[held].sum())
            if enough >= _ENOUGH_POSITIVES:
                break
        return parts

    def _folds(self, rows: _LabelledRows, used: Bools, cv: Any, seed: int) -> Any:
        labels = rows.positive[used].astype(int)
        groups = None if rows.groups is None else rows.groups[used]
        return folds_of_used(rows.X[used], labels, cv, used, groups=groups, random_state=seed)

    def _choose(
        self, rows: _LabelledRows, parts: list[Any], seed: int, step: Callable[[], None]
    ) -> int:
        """How long the list is to be; threshold and probabilities by the lists of that length."""
        sizes = sizes_to_try(self.max_conditions)
        self.sizes_, self.values_, self.ensemble_value_ = np.array(sizes), np.empty(0), np.nan
        self._leave_uncalibrated()
        if not parts:
            return self.max_conditions
        judged = rows.take(np.concatenate([held for _, held in parts]))
        whole: list[Floats] = []
        by_size: list[list[Floats]] = []
        for train, held in parts:
            own = rows.take(train)
            if self._learns_from_weights():
                own = own.thin(seed)
            ensemble, scores = self._try(own, rows.X[held], sizes, seed, step)
            whole.append(ensemble)
            by_size.append(scores)
        pooled = [np.concatenate(scores) for scores in zip(*by_size, strict=True)]
        self.ensemble_value_ = self._worth(np.concatenate(whole), judged)
        self.values_ = np.array([self._worth(score, judged) for score in pooled])
        chosen = shortest(
            self.sizes_, self.values_, self.max_conditions, self.ensemble_value_, self.tolerance
        )
        self._calibrate(pooled[chosen], judged.positive, judged.weight)
        if self.threshold == "auto":
            self.threshold_ = round_threshold(self.threshold_, pooled[chosen])
        return sizes[chosen]

    def _try(
        self,
        rows: _LabelledRows,
        held_out: Floats,
        sizes: list[int],
        seed: int,
        step: Callable[[], None],
    ) -> tuple[Floats, list[Floats]]:
        """Scores of held-out rows by the ensemble, and by a list of each length."""
        ensemble = self._ensemble(rows, seed)
        step()
        found = self._conditions(ensemble, rows)
        step()
        tests = BranchArrays.of(found.branches)
        there = tests.matrix(with_combinations(held_out, found.combinations), self.n_jobs)
        scales = eliminations(found.held, rows.positive, rows.weight, self._boosting(), sizes)
        scores = [scale.score(there) for scale in scales]
        step()
        label = self.pos_label_ if self._is_fitted() else 1
        return ensemble_scores(ensemble, held_out, label), scores

    def _keep(self, rows: _LabelledRows, size: int, seed: int, step: Callable[[], None]) -> None:
        """Make the list of that length from all rows that are learned from."""
        ensemble = self._ensemble(rows, seed)
        step()
        found = self._conditions(ensemble, rows)
        step()
        sizes = [s for s in sizes_to_try(self.max_conditions) if s >= size]
        *_, scale = eliminations(found.held, rows.positive, rows.weight, self._boosting(), sizes)
        self.n_branches_ = len(found.branches)
        X = with_combinations(rows.X, found.combinations)
        has_missing = np.asarray(np.isnan(X).any(axis=0))
        start, kept = scale.start, []
        for c, weight in zip(scale.columns.tolist(), scale.weights.tolist(), strict=True):
            branch = shorten(found.branches[c], X, has_missing)
            turned = opposite(branch, has_missing) if weight < 0 else None
            if turned is not None:  # a condition that speaks for positives reads better
                start, branch, weight = start + weight, turned, -weight
            if round(weight, _DECIMALS):
                kept.append((round(weight, _DECIMALS), branch))
        kept.sort(key=lambda pair: -pair[0])
        branches, combinations = drop_unused(
            [branch for _, branch in kept], found.combinations, self.n_features_in_
        )
        weights = np.array([weight for weight, _ in kept])
        start = round(start, _DECIMALS)
        self._condition_list = ConditionList(
            start, weights, BranchArrays.of(branches), combinations
        )
        step()

    def _learns_from_weights(self) -> bool:
        own = self.estimator is None or self._is_fitted()
        return own or has_fit_parameter(self.estimator, "sample_weight")

    def _is_fitted(self) -> bool:
        """Whether the estimator is taken as it is."""
        return self.prefit or isinstance(self.estimator, FrozenEstimator)

    def _ensemble(self, rows: _LabelledRows, seed: int) -> Any:
        if self._is_fitted():
            return self.estimator
        names, threads = self._feature_names(), effective_n_jobs(self.n_jobs)
        return fit_ensemble(self.estimator, *rows, names, self._is_level, seed, threads)

    def _conditions(self, ensemble: Any, rows: _LabelledRows) -> _EnsembleConditions:
        """The different conditions of an ensemble."""
        broken = break_up(ensemble)
        X = with_combinations(rows.X, broken.combinations)
        branches, held = distinct(broken.branches, X, self.n_jobs)
        if self.parts:
            merged, positive, weight = merge_rows(held, rows.positive, rows.weight)
            _, gains = self._boosting().fit(merged.tocsc(), positive, weight)
            best = np.argsort(-gains, kind="stable")[: _WITH_PARTS * self.max_conditions]
            whole = [branches[c] for c in best if gains[c] > 0]
            branches, held = distinct(with_parts(whole), X, self.n_jobs)
        return _EnsembleConditions(branches, broken.combinations, held)

    def _boosting(self) -> Boosting:
        return Boosting(
            self.n_estimators, self.learning_rate, self.reg_lambda, self.negative_weights
        )

    def _worth(self, score: Floats, rows: _LabelledRows) -> float:
        """What a ranking of held-out rows is worth."""
        check_positives_held_out(rows.positive)
        if self.eval_metric == "average_precision":
            return average_precision(rows.positive, score, sample_weight=rows.weight)
        return best_threshold(rows.positive, score, "f1", sample_weight=rows.weight).value

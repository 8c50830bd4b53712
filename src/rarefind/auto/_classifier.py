"""The best of the estimators for a budget and a time limit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import _fit_context, clone
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.deadline import seconds_of
from rarefind._core.fields import (
    DictOf,
    Either,
    Flag,
    ListOf,
    Object,
    PlainText,
    RealNumber,
    StateError,
    Whole,
)
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Floats, Label, Table
from rarefind.auto._candidates import CANDIDATE_NAMES, candidate_estimators
from rarefind.auto._choice import ChosenCandidates, Settled, choose, fit_chosen, score_kind
from rarefind.auto._contender import Contender
from rarefind.auto._member import InputColumns, Member, merge_reasons
from rarefind.auto._rows import Known, check_times
from rarefind.auto._rungs import rungs
from rarefind.auto._search import Search
from rarefind.auto._time_limit import TimeLimit
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.metrics import budget as number_of_checks
from rarefind.rules import Reason

# With fewer rows of a class none are left to hold out of what is held out already.
_FEWEST = 3


def _check_members(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    members = state["_members"]
    names = [member.name for member in members]
    if len(set(names)) != len(names) or set(state["fitted_on_"]) != set(names):
        raise StateError("'_members' are not those that were fitted")
    if len(members) > 1 and any(member.scale is None for member in members):
        raise StateError("a member has no scale by which its scores are ranked")
    if len(members) > 1 and state["_calibration"] is None:
        raise StateError("the mean of members has no calibration")
    if sizes["classes"] != 2 or any(len(m.estimator.classes_) != 2 for m in members):
        raise StateError("there are more than two classes")
    if len({len(column) for column in state["_board"].values()}) > 1:
        raise StateError("'_board' is not a table")


@saved(
    "auto",
    state=CLASSIFIER_STATE
    | State(
        {
            "_members": ListOf(Object("auto-member", most={"least": "d"}, d="d"), low=1),
            "best_name_": PlainText(),
            "beats_chance_": Flag(),
            "interrupted_": Flag(),
            "fitted_on_": DictOf(PlainText(), Whole()),
            "_board": DictOf(
                PlainText(), ListOf(Either(PlainText(), Flag(), RealNumber(nan=True, inf=True)))
            ),
        },
        _check_members,
    ),
)
class AutoClassifier(RareClassifier):
    """The best of rarefind's estimators, and of plain XGBoost, for a budget and a time limit.

    Candidates are fitted to few rows first, the better half of them to more, and so on
    (successive halving). Each is judged by rows that it has not seen, as they are: out of fold, or
    with ``times`` by rows that came later. What counts is precision among the ``budget`` rows to
    check, and average precision. Where few positives are held out, which candidate is the
    best is within noise: then the mean of the ranks of those that are nearly as good, of different
    families, is taken. Where there are many, it is taken only if it is clearly better than the best
    one. What was chosen is fitted to all rows in the end.

    Parameters
    ----------
    budget : int, float or str, default=100
        Rows that will be checked: a number, of as many rows as are fitted, or a share (``"0.5%"``).
    time_limit : str, float or None, default="5m"
        How long the fit may take: ``"90s"``, ``"5m"``, ``"1h"`` or a number of seconds. Where it is
        short, fewer candidates are tried on fewer rows. None sets no limit.
    trials : int or None, default=None
        So many evaluations of candidates instead of a time limit. The same seed then gives the same
        model on any machine and any number of cores, which a time limit cannot guarantee.
    candidates : list of str, mapping or None, default=None
        Some of :meth:`candidate_names`, or estimators of rarefind by names of your own. Cheap and
        strong ones first: they are tried in this order.
    categorical_features : array-like or None, default=None
        Columns of categories, by number, name or one truth value a column. Trees split on sets of
        levels; for distances each level becomes a column.
    cv : int, splitter or iterable, default=5
        The folds that candidates are judged by, without ``times``. No more of them are used than it
        takes to hold out 300 positives.
    threshold : "auto" or float, default="auto"
        The priority from which a row is predicted positive. ``"auto"`` takes the exact best for
        ``metric`` on held-out rows.
    metric : str or callable, default="f1"
        What the threshold maximises: a name that :func:`rarefind.metrics.count_metric` knows, or a
        function of ``(tp, fp, fn, tn)``.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, samples and candidates.
    n_jobs : int, default=None
        Threads; -1 for all cores.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    leaderboard_ : DataFrame
        The candidates, best first: ``candidate``, ``precision_at_k`` and ``average_precision`` on
        held-out rows with their spread over folds (``_sd``), ``rows`` that it was fitted to when it
        was judged, ``folds``, ``seconds``, and whether it is ``chosen``.
    best_name_ : str
        The best candidate.
    members_ : dict
        The fitted estimators that were chosen, by name: one, or several whose ranks are averaged.
    fitted_on_ : dict
        How many rows each member was fitted to.
    beats_chance_ : bool
        Whether the best candidate ranks held-out rows better than chance, beyond noise.
    interrupted_ : bool
        Whether Ctrl-C ended the search.
    threshold_ : float
        The priority from which ``predict`` says positive.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`~rarefind.base.RareClassifier`.

    Notes
    -----
    The priority of one member is its own score. That of several is the mean of their ranks among
    held-out rows, from 0 to 1.

    Ctrl-C during the search ends it as the time limit would; during the last fit the best model so
    far is kept.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.auto import AutoClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = AutoClassifier(budget=20, trials=2, candidates=["gamma-knn", "metaap"],
    ...                        random_state=0).fit(train[0], train[2])
    >>> model.best_name_
    'gamma-knn'
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.65
    """

    _allows_missing = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "budget": [Real, str],
        "time_limit": [Real, str, None],
        "trials": [Interval(Integral, 1, None, closed="left"), None],
        "candidates": [Mapping, "array-like", None],
        "categorical_features": ["array-like", None],
        "cv": ["cv_object"],
        "threshold": [StrOptions({"auto"}), Real],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        budget: int | float | str = 100,
        time_limit: str | float | None = "5m",
        trials: int | None = None,
        candidates: Any = None,
        categorical_features: Any = None,
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.budget = budget
        self.time_limit = time_limit
        self.trials = trials
        self.candidates = candidates
        self.categorical_features = categorical_features
        self.cv = cv
        self.threshold = threshold
        self.metric = metric
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @staticmethod
    def candidate_names() -> list[str]:
        """The names that ``candidates`` knows, in the order in which they are tried."""
        return list(CANDIDATE_NAMES)

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Table,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
    ) -> Self:
        """Choose and fit.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        groups : array-like of shape (n,), default=None
            Rows of one group are never on both sides of a fold. With ``times`` it is the past that
            is learned from, in which groups may have been before.
        times : array-like of shape (n,), default=None
            When each row was: numbers or dates. Candidates are judged by rows that came later than
            those they learn from.

        Returns
        -------
        self
        """
        limit = TimeLimit(math.inf if self.trials is not None else seconds_of(self.time_limit))
        metric = self._count_metric()
        X, codes = self._start_fit(X, y, self.pos_label)
        check_consistent_length(X, groups)
        positive = self._is_positive(codes)
        self._check_enough(int(positive.sum()), int((~positive).sum()))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        grouped = None if groups is None else np.asarray(groups)
        known = Known(X, positive, grouped, check_times(times, codes.size))
        names = self._feature_names()
        is_level = self._level_columns()
        columns = InputColumns(names, hasattr(self, "feature_names_in_"), is_level)
        share = number_of_checks(self.budget, codes.size) / codes.size
        folds = known.folds(5 if self.cv is None else self.cv, seed)
        contenders, steps = self._contenders(seed), rungs(known, folds)
        total = len(contenders) * len(steps) if self.trials is None else int(self.trials)
        with report_progress(self, "models", total, X, codes, self.verbose) as step:
            search = Search(
                known, folds, columns, contenders, share, seed, self.n_jobs, limit, step
            )
            with _without_noise():
                if self.trials is None:
                    search.run(steps)
                else:
                    search.run_trials(steps, self.trials)
            if not search.judged():
                raise next(c.failure for c in contenders if c.failure is not None)
            choice = choose(search)
            self._keep(search, choice, fit_chosen(search, choice, metric, self.threshold))
        return self

    def _check_enough(self, positives: int, negatives: int) -> None:
        if min(positives, negatives) < _FEWEST:
            raise ValueError(
                f"There are {positives} positives and {negatives} negatives: to choose among "
                f"models takes at least {_FEWEST} of each. Give more rows, or fit one estimator."
            )

    def _contenders(self, seed: int) -> list[Contender]:
        if isinstance(self.candidates, Mapping):
            given = {str(name): clone(e) for name, e in self.candidates.items()}
            for name, estimator in given.items():
                _check_ours(name, estimator)
                known = estimator.get_params(deep=False)
                if known.get("random_state", 0) is None:
                    estimator.set_params(random_state=seed)
        else:
            given = candidate_estimators(_known_names(self.candidates), seed, self.n_jobs)
            for estimator in given.values():
                estimator.set_params(metric=self.metric)
        if not given:
            raise ValueError("candidates is empty: give at least one, or None for all.")
        return [Contender(name, estimator) for name, estimator in given.items()]

    def _keep(self, search: Search, choice: ChosenCandidates, settled: Settled) -> None:
        """Keep the members, and what the search found out."""
        self._members: list[Member] = settled.members
        for member in self._members:
            if "n_jobs" in member.estimator.get_params(deep=False):
                member.estimator.set_params(n_jobs=self.n_jobs)
        self._calibration = settled.calibration
        self._reference = settled.reference
        self.threshold_ = settled.threshold
        self.best_name_ = choice.best.name
        self.beats_chance_ = choice.beats_chance
        self.interrupted_ = search.interrupted
        n = search.known.positive.size
        self.fitted_on_ = {m.name: n if m.rows is None else int(m.rows.size) for m in self._members}
        self._board: dict[str, list[Any]] = choice.board()
        self._warn(search)

    def _warn(self, search: Search) -> None:
        """Warn where the model saw few rows, or ranks no better than chance."""
        n = search.known.positive.size
        few = {name: rows for name, rows in self.fitted_on_.items() if rows < n}
        if few:
            fitted = ", ".join(f"{name} was fitted to {rows}" for name, rows in few.items())
            warnings.warn(
                f"The time was not enough to fit all {n} rows: {fitted}. "
                "A longer time_limit may give a better model.",
                UserWarning,
                stacklevel=4,
            )
        if not self.beats_chance_:
            found = float(self.leaderboard_["average_precision"].iloc[0])
            warnings.warn(
                f"None of the {len(search.judged())} models tried ranks held-out rows "
                f"better than chance (average precision {found:.3g}; "
                f"{search.known.positive.mean():.3g} of the rows are positive): "
                "do not rely on this ranking.",
                UserWarning,
                stacklevel=4,
            )

    @property
    def leaderboard_(self) -> pd.DataFrame:
        """The candidates, best first, with what they were worth on held-out rows."""
        check_is_fitted(self)
        return pd.DataFrame(self._board)

    @property
    def members_(self) -> dict[str, Any]:
        """The fitted estimators that were chosen, by name."""
        check_is_fitted(self)
        return {member.name: member.estimator for member in self._members}

    def _priority(self, X: Floats) -> Floats:
        if len(self._members) == 1:
            return self._members[0].priority(X)
        total = np.zeros(len(X))
        for member in self._members:
            total += member.rank(X)
        return total / len(self._members)

    def _probability(self, scores: Floats) -> Floats:
        if self._calibration is None:  # of its only member the scores are its own
            return self._members[0].probability(scores)
        kind = score_kind(len(self._members))
        return kind.probability(scores, self._calibration, self.threshold_)

    def _explain(self, X: Floats) -> list[Reason]:
        names, scores = self._feature_names(), self._priority(X)
        reasons = [member.explain(X, names) for member in self._members]
        if len(reasons) == 1:
            return [self._ranked(reason) for reason in reasons[0]]
        return [
            self._ranked(merge_reasons(list(own), float(score), None))
            for score, *own in zip(scores, *reasons, strict=True)
        ]

    def _ranked(self, reason: Reason) -> Reason:
        if self._reference is None:
            return reason
        (rank,) = self._ranks(np.array([reason.score]))
        return replace(reason, rank_in_reference=rank)


@contextmanager
def _without_noise() -> Iterator[None]:
    """Without the warnings of threads whose work is given up when the time is over."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=r"[\s\S]*tasks.* executed|[\s\S]*workers have been"
        )
        yield


def _known_names(candidates: Any) -> list[str]:
    if candidates is None:
        return list(CANDIDATE_NAMES)
    names = [candidates] if isinstance(candidates, str) else list(candidates)
    for name in names:
        if name not in CANDIDATE_NAMES:
            raise ValueError(
                f"There is no candidate {name!r}: known are {', '.join(CANDIDATE_NAMES)}, or give "
                "estimators of your own as a mapping of names to them."
            )
    return names


def _check_ours(name: str, estimator: Any) -> None:
    if not isinstance(estimator, RareClassifier) or estimator.reads_tables:
        raise ValueError(
            f"The candidate {name!r} is a {type(estimator).__name__}: candidates are estimators of "
            "rarefind that take rows of numbers."
        )

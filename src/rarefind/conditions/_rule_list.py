"""Experts' rules as an estimator, to stand beside models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from sklearn.base import _fit_context
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from rarefind._core.checks import check_classes_left, training_weights
from rarefind._core.fields import FloatArray, Perhaps, PlainText, RealNumber, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Label, Table
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.data.frames import as_frame
from rarefind.row_scorer import RowScorer
from rarefind.rules import Condition, Reason, Rule, RuleSet
from rarefind.rules.syntax import And, Column, Compare, IsIn, IsMissing, Minus, Node, Number
from rarefind.selection.cross_validation import check_positives_held_out, folds_of_used


def _check_rules(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if len(_compile(state["_text"])) != sizes["rules"]:
        raise StateError("'_weights' are not those of the rules")


@saved(
    "rule-list",
    state=CLASSIFIER_STATE
    | State(
        {
            "_text": PlainText(),
            "start_": RealNumber(),
            "_weights": FloatArray("rules"),
            "_own_threshold": Perhaps(RealNumber()),
        },
        _check_rules,
    ),
)
class RuleListClassifier(RareClassifier):
    """A set of rules as a classifier: the score is the sum of the weights of those that fire.

    So rules of experts can be compared with models, on the same rows and by the same measures. It
    reads tables as they are, with texts and missing values; columns of an array are x0, x1, …

    Parameters
    ----------
    rules : RuleSet, dict of str, or str
        The rules, their texts by name, or the text of a file of rules
        (:meth:`rarefind.rules.RuleSet.from_text`).
    weights : {"learned", "equal"} or dict, default="learned"
        What a rule adds to the score where it fires. ``"learned"`` is by logistic regression, which
        does not count twice what two rules say both; ``"equal"`` is 1 each, so that the score is
        the number of rules that fire; a dict gives weights by name, and 0 for the others.
    C : float, default=1.0
        Inverse of the shrinkage of learned weights.
    cv : int, splitter or iterable, default=5
        Folds for learned weights, whose held-out rows set threshold and probabilities. Weights that
        are given see no labels, so that all rows do.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive. ``"auto"`` takes the exact best for
        ``metric``; None is 0, even odds, for learned weights and any score above 0 for
        others.
    metric : str or callable, default="f1"
        What the threshold maximises: a name that :func:`rarefind.metrics.count_metric` knows, or a
        function of ``(tp, fp, fn, tn)``.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.
    n_jobs : int, default=None
        Not used; here because all estimators have it.

    Attributes
    ----------
    rules_ : RuleSet
        The rules.
    weights_ : dict
        The weight of each rule by its name; 0 for a learned one that never fired.
    start_ : float
        Score of a row on which no rule fires.
    threshold_ : float
        The priority from which ``predict`` says positive.
    value_ : float
        ``metric`` at the threshold.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind.conditions import RuleListClassifier
    >>> table = pd.DataFrame({
    ...     "amount": [900, 20, 35, 700, 15, 40, 25, 800, 30, 10],
    ...     "country": ["US", "FR", "FR", "US", None, "US", "FR", "FR", "FR", "BE"]})
    >>> fraud = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    >>> rules = {"large": "amount > 500", "abroad": "country != 'FR'"}
    >>> model = RuleListClassifier(rules, weights="equal").fit(table, fraud)
    >>> model.priority(table).tolist()
    [2.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    >>> print(model.explain(table.head(1))[0])
    Score 2, above 80.0 % of the known rows, because amount > 500, country != 'FR'.
    """

    _allows_missing = True
    reads_tables = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "rules": "no_validation",
        "weights": [StrOptions({"learned", "equal"}), dict],
        "C": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "threshold": [StrOptions({"auto"}), Real, None],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        rules: RuleSet | Mapping[str, str] | str | None = None,
        *,
        weights: Any = "learned",
        C: float = 1.0,
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rules = rules
        self.weights = weights
        self.C = C
        self.cv = cv
        self.threshold = threshold
        self.metric = metric
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Table,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Weigh the rules on labelled rows, and set threshold and probabilities.

        Parameters
        ----------
        X : table or array-like of shape (n, d)
            The rows, with the columns that the rules name.
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
        rules = _as_rule_set(self.rules)
        frame, codes = self._start_fit(X, y, self.pos_label)
        check_consistent_length(codes, groups)
        self._text = rules.to_json()
        weight = training_weights(codes[:, np.newaxis], codes, sample_weight, None)
        used = weight > 0
        check_classes_left(codes, used, 2)
        fired = rules.fires_on(frame)[used].astype(np.float64)
        positive, weight = self._is_positive(codes[used]), weight[used] / weight[used].mean()
        self.start_, self._weights = self._weigh(fired, positive, weight)
        # Given weights start at 0: any rule that fires then makes an alert.
        self._own_threshold = 0.0 if self._learns() else float(np.nextafter(0, 1))
        if not self._learns():
            self._calibrate(fired @ self._weights, positive, weight)
        elif self.threshold == "auto" or np.bincount(codes[used]).min() >= 2:
            own = None if groups is None else np.asarray(groups)[used]
            self._calibrate(*self._held_out(fired, positive, weight, used, own))
        else:
            self._leave_uncalibrated()
        return self

    def _held_out(
        self, fired: Floats, positive: Bools, weight: Floats, used: Bools, groups: Array | None
    ) -> tuple[Floats, Bools, Floats]:
        """Scores of rows by weights that were learned from others."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        labels = positive.astype(int)
        found = folds_of_used(fired, labels, self.cv, used, groups=groups, random_state=seed)
        scores = []
        for train, held in found:
            start, weights = self._weigh(fired[train], positive[train], weight[train])
            scores.append(start + fired[held] @ weights)
        rows = np.concatenate([held for _, held in found])
        check_positives_held_out(positive[rows])
        return np.concatenate(scores), positive[rows], weight[rows]

    def _weigh(self, fired: Floats, positive: Bools, weight: Floats) -> tuple[float, Floats]:
        """Where scores start, and what each rule adds."""
        names = [rule.name for rule in self.rules_]
        if isinstance(self.weights, dict):
            unknown = [name for name in self.weights if name not in names]
            if unknown:
                raise ValueError(f"weights names {unknown[0]!r}, which is not a rule.")
            return 0.0, np.array([float(self.weights.get(name, 0.0)) for name in names])
        if self.weights == "equal":
            return 0.0, np.ones(len(names))
        model = LogisticRegression(C=self.C, max_iter=1000).fit(fired, positive, weight)
        return float(model.intercept_[0]), np.asarray(model.coef_[0])

    def _learns(self) -> bool:
        return isinstance(self.weights, str) and self.weights == "learned"

    @property
    def rules_(self) -> RuleSet:
        """The rules."""
        check_is_fitted(self, "_text")
        return _compile(self._text)

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each rule by its name."""
        check_is_fitted(self)
        names = [rule.name for rule in self.rules_]
        return dict(zip(names, self._weights.tolist(), strict=True))

    def _check_training_rows(self, X: Table, y: ArrayLike) -> tuple[Any, Array]:
        if not _is_frame(X):
            return self._as_named_frame(super()._check_training_rows(X, y)[0]), column_or_1d(
                y, warn=True
            )
        labels = column_or_1d(y, warn=True)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, labels)
        if _num_samples(X) < 2:
            raise ValueError(f"Found {_num_samples(X)} row: learning needs rows of two classes.")
        return as_frame(X), labels

    def _check_rows(self, X: Table) -> Any:
        check_is_fitted(self)
        if not _is_frame(X):
            return self._as_named_frame(super()._check_rows(X))
        validate_data(self, X, reset=False, skip_check_array=True)
        return as_frame(X)

    def _as_named_frame(self, X: Floats) -> pl.DataFrame:
        return pl.DataFrame(X, schema=self._feature_names(), orient="row")

    def _priority(self, X: Any) -> Floats:
        fired = self.rules_.fires_on(X)
        score = np.full(len(fired), float(self.start_))
        for j, weight in enumerate(self._weights.tolist()):  # in order, whatever the other rows
            score += np.where(fired[:, j], weight, 0.0)
        return score

    def row_scorer(self) -> RowScorer:
        """What scores one row at a time, as :meth:`priority` does but in microseconds.

        Returns
        -------
        RowScorer
            Its rows have the columns that the rules name.
        """
        check_is_fitted(self)
        rules, names = list(self.rules_), self._feature_names()
        columns = dict.fromkeys(name for rule in rules for name in rule.columns)
        weighed = list(zip(rules, self._weights.tolist(), strict=True))
        start = float(self.start_) + 0.0  # -0 is 0, as in a sum

        def read(values: Any) -> Mapping[str, Any]:
            return values if isinstance(values, Mapping) else dict(zip(names, values, strict=True))

        def score(record: Mapping[str, Any]) -> float:
            total = start
            for rule, weight in weighed:
                if rule.fires(record):
                    total += weight
            return total

        return RowScorer(list(columns), read, score, self._row_probability)

    def _explain(self, X: Any) -> list[Reason]:
        fired, scores = self.rules_.fires_on(X), self._priority(X)
        rules = list(self.rules_)
        reasons = []
        for own, score, rank in zip(fired, scores.tolist(), self._ranks(scores), strict=True):
            held = [(rules[j], float(self._weights[j])) for j in np.flatnonzero(own)]
            reasons.append(Reason(score, rank, _because(held)))
        return reasons


@lru_cache(maxsize=64)
def _compile(text: str) -> RuleSet:
    return RuleSet.from_json(text)


def _as_rule_set(rules: Any) -> RuleSet:
    if isinstance(rules, RuleSet):
        found = rules
    elif isinstance(rules, str):
        found = RuleSet.from_text(rules)
    elif isinstance(rules, Mapping):
        found = RuleSet(rules)
    else:
        raise ValueError("RuleListClassifier needs rules: a RuleSet, a dict of texts or a text.")
    if not len(found):
        raise ValueError("RuleListClassifier needs at least one rule.")
    return found


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and not isinstance(X, np.ndarray)


def _because(held: list[tuple[Rule, float]]) -> list[Condition]:
    """What the rules that fired and raise the score say, each part once."""
    total = sum(weight for _, weight in held if weight > 0)
    said: dict[str, Condition] = {}
    for rule, weight in held:
        if weight <= 0:
            continue
        tree = rule._tree
        parts = tree.items if isinstance(tree, And) else (tree,)
        for part in parts:
            share = weight / total / len(parts)
            text = str(part)
            before = said[text].weight if text in said else 0.0
            said[text] = replace(_said(part), weight=before + share)
    return sorted(said.values(), key=lambda condition: -condition.weight)


def _said(part: Node) -> Condition:
    """One part of a rule; where it is not a plain comparison, its text says what it is."""
    text = str(part)
    named = next((node.name for node in part.walk() if isinstance(node, Column)), "")
    if isinstance(part, Compare) and isinstance(part.left, Column):
        value = _literal(part.right)
        if value is not None and part.op != "!=":
            return Condition(named, part.op, value, text)
        if value is not None:
            return Condition(named, "not in", (value,), text)
    if isinstance(part, IsIn) and isinstance(part.part, Column):
        values = tuple(value.value for value in part.values)
        return Condition(named, "not in" if part.negated else "in", values, text)
    if isinstance(part, IsMissing) and isinstance(part.part, Column):
        return Condition(named, "=", "present" if part.negated else "missing", text)
    return Condition(named, "holds", text, text)


def _literal(node: Node) -> Any:
    if isinstance(node, Minus) and isinstance(node.part, Number):
        return -node.part.value
    return getattr(node, "value", None)

"""A fitted model among others: its score as a rank that compares with theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import get_tags

from rarefind._core.fields import FloatArray, IntArray, Maybe, Object, PlainText, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints
from rarefind.auto._preparation import Preparation
from rarefind.auto._rows import Known
from rarefind.rules import Condition, Reason

_MOST_KNOTS = 4096
# Of scores so close to each other, the next ones are not taken to be far beyond them.
_LEAST_SPREAD = 1e-3
_CONDITIONS_SHOWN = 5


def _check_knots(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if not sizes["n"]:
        raise StateError("there is no score")


@saved(
    "rank-scale",
    state=State(
        {
            "score": FloatArray("n", strict=True),
            "rank": FloatArray("n", low=0, high=1, rising=True),
        },
        _check_knots,
    ),
)
class RankScale(NamedTuple):
    """The share of held-out rows below a score: rises wherever the score does.

    Between two held-out scores it is interpolated, and beyond the last it nears 0 or 1.
    """

    score: Floats
    rank: Floats

    @classmethod
    def of(cls, score: Floats, weight: Floats) -> Self:
        """Take the scores of held-out rows in, and how many rows each stands for."""
        known, place = np.unique(np.arcsinh(score), return_inverse=True)
        own = np.bincount(place, weights=weight)
        # Half of the rows with a score count as below it.
        rank = (np.cumsum(own) - own / 2) / own.sum()
        if known.size > _MOST_KNOTS:
            odds = np.log(rank / (1 - rank))
            wanted = np.linspace(odds[0], odds[-1], _MOST_KNOTS)
            kept = np.unique(np.searchsorted(odds, wanted).clip(0, known.size - 1))
            known, rank = known[kept], rank[kept]
        return cls(known, rank)

    def of_scores(self, score: Floats) -> Floats:
        """The rank of each score."""
        x = np.arcsinh(score)
        first, last = self.score[0], self.score[-1]
        spread = max(last - first, _LEAST_SPREAD)
        rank = np.interp(x, self.score, self.rank)
        under, over = np.maximum(first - x, 0.0) / spread, np.maximum(x - last, 0.0) / spread
        rank = np.where(under > 0, self.rank[0] / (1 + under), rank)
        return np.where(over > 0, 1 - (1 - self.rank[-1]) / (1 + over), rank)


def _check_given(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """A member is given the columns as they are, or as they are prepared for it."""
    if sizes["classes"] != 2 or state["estimator"].reads_tables:
        raise StateError("'estimator' is not one that ranks rows of numbers")
    if state["preparation"] is None:
        return {"d": sizes["given"], "least": sizes["given"]}
    if state["preparation"].source.size != sizes["given"]:
        raise StateError("'estimator' was fitted to another number of columns")
    return {"least": int(state["preparation"].source.max()) + 1}


@saved(
    "auto-member",
    state=State(
        {
            "name": PlainText(),
            "estimator": Object(d="given", classes="classes"),
            "preparation": Maybe(Object("auto-preparation")),
            "rows": Maybe(IntArray("rows", low=0, strict=True)),
            "scale": Maybe(Object("rank-scale")),
        },
        _check_given,
    ),
)
class Member(NamedTuple):
    """A fitted model, the rows it was fitted to, and how its score becomes a rank."""

    name: str
    estimator: Any
    #: For a model that cannot take the rows as they are.
    preparation: Preparation | None
    #: The numbers of the rows it was fitted to; None for all.
    rows: Ints | None
    scale: RankScale | None

    @classmethod
    def fit(
        cls,
        name: str,
        estimator: Any,
        known: Known,
        rows: Ints,
        columns: InputColumns,
        seed: int,
        threads: int | None,
    ) -> Self:
        """Fit a copy of an estimator to some of the rows."""
        model, own = clone(estimator), known
        if rows.size < known.positive.size:
            own = known.take(rows)
        given = model.get_params(deep=False)
        if type(given.get("cv")) is int:
            model.set_params(cv=known.inner(rows, seed))
        fixed = {"pos_label": True, "n_jobs": threads}
        model.set_params(**{n: v for n, v in fixed.items() if n in given})
        X: Any = own.X
        preparation = None
        if not get_tags(model).input_tags.allow_nan:
            preparation = Preparation.learn(X, columns.is_level)
            X = preparation.transform(X)
        else:
            if columns.is_level.any() and "categorical_features" in given:
                model.set_params(categorical_features=np.flatnonzero(columns.is_level).tolist())
            if columns.are_named:
                X = pd.DataFrame(X, columns=columns.names, copy=False)
        if own.groups is None:
            model.fit(X, own.positive)
        else:
            model.fit(X, own.positive, groups=own.groups)
        # The folds were of this fit, and row numbers are nothing to keep.
        model.set_params(**{n: given[n] for n in ("cv", "pos_label") if n in given})
        whole = rows.size == known.positive.size
        return cls(name, model, preparation, None if whole else rows, None)

    def priority(self, X: Floats) -> Floats:
        """The model's own score."""
        return np.asarray(self.estimator._priority(self._prepare(X)))

    def rank(self, X: Floats) -> Floats:
        """The score as a share of held-out rows below it."""
        assert self.scale is not None
        return self.scale.of_scores(self.priority(X))

    def probability(self, scores: Floats) -> Floats:
        """The model's own probability of the positive class, from its scores."""
        return np.asarray(self.estimator._probability(scores))

    def explain(self, X: Floats, names: list[str]) -> list[Reason]:
        """The model's reasons, in the columns of the rows as they are."""
        reasons = self.estimator._explain(self._prepare(X))
        if self.preparation is not None:
            made = self.estimator._feature_names()
            reasons = [
                replace(
                    reason,
                    because=self.preparation.in_own_columns(reason.because, row, made, names),
                )
                for reason, row in zip(reasons, X, strict=True)
            ]
        if self.rows is None:
            return list(reasons)
        return [
            replace(
                reason,
                similar=[
                    s if s.row < 0 else replace(s, row=int(self.rows[s.row]))
                    for s in reason.similar
                ],
            )
            for reason in reasons
        ]

    def _prepare(self, X: Floats) -> Floats:
        return X if self.preparation is None else self.preparation.transform(X)


class InputColumns(NamedTuple):
    """What the columns are called, and which hold levels."""

    names: list[str]
    are_named: bool
    is_level: Bools


def merge_reasons(reasons: list[Reason], score: float, rank: float | None) -> Reason:
    """The reason of a mean of members: their conditions by weight, a column once."""
    found: dict[str, Condition] = {}
    net: dict[str, float] = {}
    for reason in reasons:
        for condition in reason.because:
            name, own = condition.feature, condition.weight / len(reasons)
            before = found.get(name)
            found[name] = replace(
                before or condition, weight=own + (before.weight if before else 0.0)
            )
            net[name] = net.get(name, 0.0) + (-own if condition.lowers else own)
    directed = [replace(condition, lowers=net[name] < 0) for name, condition in found.items()]
    because = sorted(directed, key=lambda condition: -condition.weight)
    similar = next((reason.similar for reason in reasons if reason.similar), [])
    return Reason(score, rank, because[:_CONDITIONS_SHOWN], similar)

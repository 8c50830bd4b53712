"""Rules written by experts, compared with models of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator

from rarefind.conditions import RuleListClassifier
from rarefind.tables._model import Scores

if TYPE_CHECKING:
    import pandas as pd

    from rarefind._core.types import Floats
    from rarefind.rules import RuleSet


class RuleModel(BaseEstimator):
    """Rules that are fitted to a table and judged as a :class:`TableModel` is.

    Parameters
    ----------
    rules : RuleSet
        The rules, in the columns of the table.
    estimator, target, positive, time, entity, amount, id, drop
        As in :class:`TableModel`; ``estimator`` and ``drop`` are for what rules are compared with.
    """

    def __init__(
        self,
        rules: RuleSet,
        estimator: Any = None,
        target: str = "y",
        positive: Any = None,
        *,
        time: str | None = None,
        entity: str | None = None,
        amount: str | None = None,
        id: str | None = None,
        drop: Any = (),
    ) -> None:
        self.rules = rules
        self.estimator = estimator
        self.target = target
        self.positive = positive
        self.time = time
        self.entity = entity
        self.amount = amount
        self.id = id
        self.drop = drop

    def fit(self, table: pd.DataFrame) -> Self:
        """Learn the weight of each rule."""
        learner = RuleListClassifier(self.rules, pos_label=self.positive, random_state=0)
        self.estimator_ = learner.fit(table.drop(columns=self.target), table[self.target])
        self.classes_, self.positive_ = learner.classes_, learner.pos_label_
        return self

    def priority(self, table: pd.DataFrame) -> Floats:
        """Scores of rows."""
        return self.estimator_.priority(table.drop(columns=self.target))

    def predict_proba(self, table: pd.DataFrame) -> Floats:
        """Probabilities of rows."""
        return self.estimator_.predict_proba(table.drop(columns=self.target))

    def _fit_and_score(self, rows: pd.DataFrame, held_out: pd.DataFrame) -> Scores:
        """Learn from some rows and score others."""
        self.fit(rows)
        table = held_out.drop(columns=self.target)
        return Scores(*self.estimator_.priority_and_probability(table))

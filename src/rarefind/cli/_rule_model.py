"""Experts' rules in the place of a model of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    import pandas as pd

    from rarefind._core.types import Floats
    from rarefind.rules import RuleSet


class RuleModel(BaseEstimator):
    """Rules that are fitted to tables and asked for scores as a ``TableModel`` is."""

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
        """Learn what each rule weighs."""
        from rarefind.conditions import RuleListClassifier

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

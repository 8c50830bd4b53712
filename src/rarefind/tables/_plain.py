"""XGBoost as most people use it: what a list is compared with."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from xgboost import XGBClassifier
from xgboost.callback import TrainingCallback

from rarefind._core.deadline import deadline
from rarefind._core.types import Floats, Ints, Table
from rarefind.data import TableEncoder, check_target
from rarefind.data.frames import as_frame

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel
    from rarefind.tables._rule_model import RuleModel

PLAIN: dict[str, Any] = {
    "n_estimators": 100,
    "max_depth": 6,
    "learning_rate": 0.1,
    "tree_method": "hist",
}


class PlainXGBoost:
    """XGBoost as most people use it, with text as categories; each part is learned once.

    Parameters
    ----------
    model : TableModel
        What the columns mean.
    table : pandas or polars frame, or Arrow table
        Rows with labels.
    seconds : float, default=inf
        Time for each part: it makes as many rounds as there are seconds for.

    Attributes
    ----------
    rounds : int
        The fewest rounds that there was time for in a part.
    """

    def __init__(
        self, model: TableModel | RuleModel, table: Table, seconds: float = math.inf
    ) -> None:
        roles = [model.target, model.time, model.entity, model.id]
        self._drop = [*(name for name in roles if name is not None), *model.drop]
        self._frame = as_frame(table)
        label = check_target(self._frame, model.target, model.positive)
        self._truth = (self._frame[model.target] == label).to_numpy()
        self._seconds = seconds
        self._known: dict[int, Floats] = {}
        self.rounds = int(PLAIN["n_estimators"])

    @property
    def is_done(self) -> bool:
        """Whether it made all its rounds in every part; a list is not compared with less."""
        return self.rounds == PLAIN["n_estimators"]

    def scores(self, number: int, train: Ints, held: Ints) -> Floats:
        """Scores of the rows of a part, learned from the others."""
        if number not in self._known:
            self._known[number] = self._learned(train, held)
        return self._known[number]

    def _learned(self, train: Ints, held: Ints) -> Floats:
        end = min(deadline(), time.monotonic() + self._seconds)
        learned, ahead = self._frame.iloc[train], self._frame.iloc[held]
        encoder = TableEncoder(levels="code", drop=self._drop).fit(learned)
        sets = set(encoder.level_outputs_)
        kinds = ["c" if name in sets else "q" for name in encoder.get_feature_names_out()]
        plain = XGBClassifier(
            **PLAIN, feature_types=kinds, enable_categorical=True, callbacks=[_EndAt(end)]
        )
        plain.fit(encoder.transform(learned), self._truth[train].astype(int))
        self.rounds = min(self.rounds, plain.get_booster().num_boosted_rounds())
        return plain.predict_proba(encoder.transform(ahead))[:, 1].astype(float)


class _EndAt(TrainingCallback):
    """Ends the rounds of XGBoost at a time."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self._end = end

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Say whether the time is over."""
        return time.monotonic() > self._end

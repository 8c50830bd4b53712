"""Stochastic gradient boosting of a surrogate of average precision."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._typing import Bools, Floats, Label
from rarefind.boosting._base import Rows
from rarefind.boosting._run import Derivatives
from rarefind.boosting._surrogates import SURROGATES, logistic
from rarefind.boosting._xgboost import BoostedTreesClassifier


class SGBAPClassifier(BoostedTreesClassifier):
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostedTreesClassifier._parameter_constraints,
        "surrogate": [StrOptions(set(SURROGATES))],
        "mix": [Interval(Real, 0, 1, closed="both")],
        "sharpness": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"prior", "logistic"})],
        "init_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        surrogate: str = "exp",
        mix: float = 0.0,
        sharpness: float = 1.0,
        init: str = "prior",
        init_rounds: int = 50,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        gamma: float = 0.0,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        subsample: float = 0.5,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        tree_method: str = "hist",
        bins: str = "positive-aware",
        max_bins: int = 512,
        monotone_constraints: Any = None,
        categorical_features: Any = None,
        early_stopping_rounds: int | None = 20,
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
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            min_child_weight=min_child_weight,
            gamma=gamma,
            reg_lambda=reg_lambda,
            reg_alpha=reg_alpha,
            subsample=subsample,
            colsample_bytree=colsample_bytree,
            colsample_bylevel=colsample_bylevel,
            colsample_bynode=colsample_bynode,
            tree_method=tree_method,
            bins=bins,
            max_bins=max_bins,
            monotone_constraints=monotone_constraints,
            categorical_features=categorical_features,
            early_stopping_rounds=early_stopping_rounds,
            eval_metric=eval_metric,
            k=k,
            cv=cv,
            threshold=threshold,
            metric=metric,
            pos_label=pos_label,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.surrogate = surrogate
        self.mix = mix
        self.sharpness = sharpness
        self.init = init
        self.init_rounds = init_rounds

    def _params(self) -> dict[str, Any]:
        return super()._params() | {"subsample": 1.0}  # batches are drawn here

    def _rounds_before_stopping(self) -> int:
        return min(self.init_rounds, self.n_estimators) if self.init == "logistic" else 0

    def _derivatives(self, rows: Rows, seed: int) -> Derivatives:
        batch = Batches(rows.positive, self.subsample, seed)
        surrogate, n_jobs = SURROGATES[self.surrogate], effective_n_jobs(self.n_jobs)

        def derivatives(score: Floats, number: int) -> tuple[Floats, Floats]:
            drawn = batch.draw(number)
            part = rows.positive[drawn], rows.weight[drawn]
            mix = 1.0 if number < self._rounds_before_stopping() else self.mix
            found = []
            if mix < 1:
                found.append((1 - mix, surrogate(score[drawn], *part, self.sharpness, n_jobs)))
            if mix > 0:
                found.append((mix, logistic(score[drawn], *part)))
            first, second = np.zeros(score.size), np.zeros(score.size)
            first[drawn] = sum(share * g for share, (_, g, _) in found)
            second[drawn] = sum(share * h for share, (_, _, h) in found)
            return first, second

        return derivatives


class Batches:
    """The rows of each round: the same share of positives and of negatives, drawn anew."""

    def __init__(self, positive: Bools, share: float, seed: int) -> None:
        self._classes = [np.flatnonzero(positive), np.flatnonzero(~positive)]
        self._share, self._seed, self._n = share, seed, positive.size

    def draw(self, number: int) -> Any:
        """Which rows the round takes: all of them, or a truth value a row."""
        if self._share == 1:
            return slice(None)
        rng = np.random.default_rng((self._seed, number))
        taken = np.zeros(self._n, dtype=bool)
        for rows in self._classes:
            count = max(1, round(self._share * rows.size))
            place = rng.random(rows.size, dtype=np.float32)
            taken[rows] = place <= np.partition(place, count - 1)[count - 1]
        return taken

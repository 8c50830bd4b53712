"""Boosters whose score is the sum of XGBoost's trees."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xgboost
from joblib import effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.fields import RealNumber
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Label
from rarefind.boosting._base import BOOSTING_STATE, BoostingClassifier, BoostingRows
from rarefind.boosting._branches import booster_branches
from rarefind.boosting._coding import SCORED, Coding
from rarefind.boosting._forest import FEW_ROWS
from rarefind.boosting._run import Derivatives, Matrix, Run, in_blocks
from rarefind.boosting._trees import Trees
from rarefind.rules.branches import BranchList

# Positives from which on the least weight of a leaf is 1: of fewer no leaf could be split off.
_ENOUGH_FOR_ONE = 50
_SHARE = Interval(Real, 0, 1, closed="right")


#: What every sum of trees keeps in a model file.
BOOSTED_TREES_STATE = BOOSTING_STATE | State({"base_score_": RealNumber()})


class BoostedTreesClassifier(BoostingClassifier):
    """Base of boosters made of XGBoost's trees; a subclass gives the loss."""

    reads_columns = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostingClassifier._shared_constraints,
        "min_child_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "reg_alpha": [Interval(Real, 0, None, closed="left")],
        "subsample": [_SHARE],
        "colsample_bytree": [_SHARE],
        "colsample_bylevel": [_SHARE],
        "colsample_bynode": [_SHARE],
        "tree_method": [StrOptions({"hist", "approx", "exact"})],
        "monotone_constraints": [dict, "array-like", None],
    }

    def __init__(
        self,
        *,
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
        monotone_constraints: Any = None,
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
        self.monotone_constraints = monotone_constraints
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

    @abstractmethod
    def _derivatives(self, rows: BoostingRows, seed: int) -> Derivatives | None:
        """The loss on these rows; None for an objective of XGBoost's own, named in `_params`."""

    @property
    def booster_(self) -> xgboost.Booster:
        """XGBoost's booster, on codes of the columns; its margins lack ``base_score_``."""
        check_is_fitted(self)
        return self._trees.booster(effective_n_jobs(self.n_jobs))

    def trees_to_dataframe(self) -> pd.DataFrame:
        """All nodes of all trees, with thresholds in the units of the columns.

        Returns
        -------
        DataFrame
            As from :meth:`xgboost.Booster.trees_to_dataframe`: a row goes to ``Yes`` if its value
            is below ``Split`` or among the levels in ``Category``, to ``Missing`` if it is missing.
        """
        table = self.booster_.trees_to_dataframe()
        names = self._tree_names()
        inner = np.flatnonzero(table["Feature"] != "Leaf")
        splits = table["Split"].to_numpy(dtype=float, copy=True)
        category = table["Category"].astype(object).to_numpy(copy=True)
        spoken = table["Feature"].to_numpy(dtype=object, copy=True)
        sets = np.flatnonzero(self._coding.is_set).tolist()
        levels = dict(zip(sets, self._coding.levels, strict=True))
        for i in inner:
            j = int(spoken[i][1:])
            spoken[i] = names[j]
            if j in levels:
                category[i] = [float(levels[j][int(code)]) for code in category[i]]
            else:
                splits[i] = self._coding.value(j, splits[i])
        return table.assign(Feature=spoken, Split=splits, Category=category)

    def _tree_names(self) -> list[str]:
        """Names of the columns that trees split on."""
        return self._feature_names()

    def _params(self, rows: BoostingRows) -> dict[str, Any]:
        """Parameters of XGBoost."""
        least = self.min_child_weight
        if least == "auto":
            least = min(1.0, rows.positive.sum() / _ENOUGH_FOR_ONE)
        return {
            "learning_rate": self.learning_rate,
            "max_depth": self.max_depth,
            "min_child_weight": float(least),
            "gamma": self.gamma,
            "reg_lambda": self.reg_lambda,
            "reg_alpha": self.reg_alpha,
            "subsample": self.subsample,
            "colsample_bytree": self.colsample_bytree,
            "colsample_bylevel": self.colsample_bylevel,
            "colsample_bynode": self.colsample_bynode,
            "tree_method": self.tree_method,
            "max_bin": self.max_bins,
            "base_score": 0.0,
            "nthread": effective_n_jobs(self.n_jobs),
            "verbosity": 0,
        } | self._constraints()

    def _constraints(self) -> dict[str, Any]:
        directions = _directions(self.monotone_constraints, self._feature_names())
        if not directions.any():
            return {}
        if directions[self._is_set].any():
            raise ValueError(
                "monotone_constraints names a column of categories, which have no order: "
                "leave it out."
            )
        return {"monotone_constraints": f"({','.join(map(str, directions))})"}

    def _grow(self, rows: BoostingRows, held_out: Floats | None, seed: int) -> Run:
        return self._grow_on(rows, held_out, seed, self._is_set)

    def _grow_on(
        self, rows: BoostingRows, held_out: Floats | None, seed: int, is_set: Bools
    ) -> Run:
        """A model before its first round, on columns of which some are categories."""
        if self.tree_method == "exact" and is_set.any():
            raise ValueError(
                "tree_method='exact' cannot split categories: leave "
                "categorical_features out, or take another tree_method."
            )
        params = self._params(rows) | {"seed": seed}
        binned = self.bins == "positive-aware" and self.tree_method != "exact"
        max_bins = self.max_bins if binned else None
        coding = Coding.learn(rows.X, rows.positive, is_set, max_bins, params["nthread"])
        positives = float(rows.weight[rows.positive].sum())
        base = float(np.log(positives / (rows.weight.sum() - positives)))
        matrix = Matrix(rows.X, rows.positive, coding, params)
        held = None if held_out is None else coding.codes(held_out, params["nthread"])
        return Run(matrix, base, self._derivatives(rows, seed), held)

    def _keep(self, grown: Run) -> None:
        self._trees, self._coding = Trees.of(grown.booster), grown.matrix.coding
        self.base_score_ = grown.base

    def _priority(self, X: Floats) -> Floats:
        return np.asarray(self.base_score_ + self._margins(X).astype(np.float64))

    def _margins(self, X: Floats) -> Array:
        """Sums of the trees, by XGBoost from the codes as they lie, but for few rows."""
        if len(X) <= FEW_ROWS:
            return self._trees.forest(self._coding).margins(X)
        threads = effective_n_jobs(self.n_jobs)
        ask = partial(self._trees.booster(threads).inplace_predict, predict_type="margin")
        coding = self._trees.scoring(self._coding) or self._coding
        starts = range(0, len(X), SCORED)
        return np.concatenate([ask(coding.codes(X[i : i + SCORED], threads)) for i in starts])

    def _contributions(self, X: Floats) -> Floats:
        """Exact Shapley values of the trees, without the mean, which stands last."""
        return self._by_trees(X, pred_contribs=True).astype(np.float64)[:, :-1]

    def _bases(self, X: Floats) -> Floats:
        mean = self._trees.means(lambda: self._by_trees(X[:1], pred_contribs=True)[0, -1:])
        return np.full(len(X), self.base_score_ + float(mean[0]))

    def tree_branches(self) -> BranchList:
        """Every branch of every tree, as tests on columns."""
        return BranchList(booster_branches(self._trees, self._coding), [])

    def _by_trees(self, X: Floats, **what: bool) -> Array:
        threads = effective_n_jobs(self.n_jobs)
        ask = partial(self._trees.booster(threads).predict, **what)
        return in_blocks(X, self._coding, ask, threads)


def _directions(constraints: Any, names: list[str]) -> Array:
    """−1, 0 or 1 for each column."""
    if constraints is None:
        return np.zeros(len(names), dtype=int)
    if isinstance(constraints, dict):
        given = {names[c] if c in range(len(names)) else c: d for c, d in constraints.items()}
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"monotone_constraints names {unknown[0]!r}, which is not a column.")
        found = np.array([given.get(name, 0) for name in names])
    else:
        found = np.asarray(constraints)
        if found.shape != (len(names),):
            raise ValueError(
                f"monotone_constraints has {found.size} directions for {len(names)} columns."
            )
    if not np.isin(found, (-1, 0, 1)).all():
        raise ValueError("Each of monotone_constraints must be -1, 0 or 1.")
    return found.astype(int)

"""Fitting the ensemble, and its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xgboost
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from rarefind._core.types import Array, Bools, Floats, Label
from rarefind.conditions._ensembles import unfreeze
from rarefind.metrics import ranking_scores

_LARGEST_LEVEL = 10_000


def fit_ensemble(
    estimator: Any,
    X: Floats,
    positive: Bools,
    weight: Floats,
    groups: Array | None,
    names: list[str],
    is_level: Bools,
    seed: int,
    n_threads: int,
) -> Any:
    """Fit a copy of the estimator, or our own choice, to rows whose positives are 1."""
    if estimator is None:
        ensemble: Any = xgboost.XGBClassifier(
            n_estimators=100, max_depth=3, learning_rate=0.1, min_child_weight=0.1, n_jobs=n_threads
        )
    else:
        ensemble = clone(estimator)
    params = ensemble.get_params()
    unsaid: dict[str, Any] = {"random_state": seed}
    if is_level.any():
        unsaid |= _category_params(ensemble, X, is_level)
    ensemble.set_params(**{k: v for k, v in unsaid.items() if k in params and params[k] is None})
    if _is_single_precision(ensemble):
        _check_single_precision(ensemble, X, names)
    if "pos_label" in params:  # labels are ours here
        ensemble.set_params(pos_label=1)
    offered = {"sample_weight": weight} | ({} if groups is None else {"groups": groups})
    given = {k: v for k, v in offered.items() if has_fit_parameter(ensemble, k)}
    # Its own parameters may name columns; others take no such names, or not these.
    table: Any = pd.DataFrame(X, columns=names) if hasattr(ensemble, "priority") else X
    return ensemble.fit(table, positive.astype(int), **given)


def _is_single_precision(ensemble: Any) -> bool:
    """Whether it turns columns into numbers of 32 bits, as XGBoost and scikit-learn's trees do."""
    own = hasattr(ensemble, "priority")
    return not own and not type(ensemble).__module__.startswith("lightgbm")


def _check_single_precision(ensemble: Any, X: Floats, names: list[str]) -> None:
    """Refuse columns of which nothing would be left."""
    largest = np.nanmax(np.abs(X), axis=0, initial=0.0)
    limits = np.finfo(np.float32)
    bad = (largest > limits.max) | ((largest > 0) & (largest < limits.tiny))
    if bad.any():
        column = int(bad.argmax())
        raise ValueError(
            f"Column {names[column]!r} has numbers up to {largest[column]:.3g}, and "
            f"{type(ensemble).__name__} takes them from {limits.tiny:.2g} to {limits.max:.2g}: "
            "measure the column in another unit or leave it out."
        )


def _category_params(ensemble: Any, X: Floats, is_level: Bools) -> dict[str, Any]:
    """Parameters that say which columns are categories."""
    if "categorical_features" in ensemble.get_params():
        return {"categorical_features": np.flatnonzero(is_level).tolist()}
    if not isinstance(ensemble, xgboost.XGBModel):
        raise ValueError(
            f"{type(ensemble).__name__} has no parameter categorical_features: name the columns of "
            "categories by its own parameters, or take XGBoost or a rarefind classifier."
        )
    levels = X[:, is_level]
    levels = levels[~np.isnan(levels)]
    if not ((levels >= 0) & (levels == np.floor(levels)) & (levels <= _LARGEST_LEVEL)).all():
        raise ValueError(
            f"XGBoost takes categories as whole numbers from 0 to {_LARGEST_LEVEL:,}: "
            "encode them so (rarefind.TableModel does)."
        )
    ensemble.set_params(enable_categorical=True)
    return {"feature_types": ["c" if levels else "q" for levels in is_level]}


def ensemble_scores(ensemble: Any, X: Floats, pos_label: Label) -> Floats:
    """Scores of rows by the ensemble, higher for positives."""
    ensemble = unfreeze(ensemble)
    if isinstance(ensemble, xgboost.Booster):
        return np.asarray(ensemble.predict(xgboost.DMatrix(X), validate_features=False))
    if not hasattr(ensemble, "classes_"):  # LightGBM's booster
        return np.asarray(ensemble.predict(X))
    if pos_label not in ensemble.classes_:
        known = " and ".join(map(str, ensemble.classes_))
        raise ValueError(
            f"The estimator was fitted to the labels {known}, and y has {pos_label}: give fit "
            "the labels that the estimator knows."
        )
    names = getattr(ensemble, "feature_names_in_", None)
    table: Any = X if names is None else pd.DataFrame(X, columns=names)
    return np.asarray(ranking_scores(ensemble, table, pos_label))

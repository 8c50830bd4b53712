"""What every estimator says of a table it cannot take."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind._typing import Floats


def feature_names(estimator: Any) -> list[str]:
    """Names of the columns the estimator was fitted to, or x0, x1, …"""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{i}" for i in range(estimator.n_features_in_)]
    return list(map(str, names))


def refuse_missing(estimator: Any, X: Floats, allow_nan: bool = False) -> None:
    """Name the first column with a value that is no number."""
    bad = np.isinf(X) if allow_nan else ~np.isfinite(X)
    if not bad.any():
        return
    column = int(bad.any(axis=0).argmax())
    what = "NaN" if np.isnan(X[bad[:, column], column]).any() else "inf"
    taken = "finite numbers and NaN" if allow_nan else "finite numbers"
    raise ValueError(
        f"Column {feature_names(estimator)[column]!r} holds {what} in "
        f"{int(bad[:, column].sum())} of {len(X)} rows: {type(estimator).__name__} takes {taken} "
        "only; fill the column (sklearn.impute.SimpleImputer) or leave it out."
    )

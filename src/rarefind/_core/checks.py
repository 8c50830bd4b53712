"""What estimators read from their input, and their errors on what they cannot take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from rarefind._core.memory import total_memory
from rarefind._core.text import is_number
from rarefind._core.types import Array, ArrayLike, Bools, Floats


def feature_names(estimator: Any) -> list[str]:
    """Names of the columns the estimator was fitted to, or x0, x1, …"""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{i}" for i in range(estimator.n_features_in_)]
    return list(map(str, names))


# Distances are sums of squares, and solvers square them again: beyond these numbers they overflow
# or vanish.
LARGEST_TO_SQUARE, _SMALLEST_TO_SQUARE = 1e70, 1e-70


@contextmanager
def clear_errors(estimator: Any, X: Any) -> Iterator[None]:
    """Say which column has texts, and which estimator takes no sparse rows, where they are met."""
    name = type(estimator).__name__
    if issparse(X):
        raise TypeError(
            f"{name} does not take sparse rows: pass X.toarray(), or fewer columns where that "
            "does not fit into memory."
        )
    try:
        yield
    except ValueError as error:
        found = _first_text(X) if "could not convert string" in str(error) else None
        if found is None:
            raise
        column, text = found
        taken = "numbers"
        if hasattr(estimator, "categorical_features"):
            taken = f'numbers and categories (X[{column!r}].astype("category"))'
        raise ValueError(
            f"Column {column!r} holds text ({text!r}), and {name} takes {taken}: encode it with "
            "rarefind.data.TableEncoder, or fit the table with rarefind.TableModel."
        ) from None


def _first_text(X: Any) -> tuple[str, str] | None:
    """The first text of a table that is not a number, and its column."""
    values = np.asarray(X, dtype=object)
    if values.ndim != 2:
        return None
    names = getattr(X, "columns", [f"x{j}" for j in range(values.shape[-1])])
    for name, column in zip(names, values.T, strict=True):
        for value in column:
            if isinstance(value, str) and not is_number(value):
                return str(name), value
    return None


def check_finite(estimator: Any, X: Floats, allow_nan: bool = False) -> None:
    """Raise on the first column with a value that the estimator cannot take.

    That is one that is not a finite number or, for an estimator that ``_squares_values``, one whose
    square's square is not.
    """
    bad = np.isinf(X) if allow_nan else ~np.isfinite(X)
    if not bad.any():
        if squares_values(estimator):
            _check_squares(estimator, X)
        return
    column = int(bad.any(axis=0).argmax())
    what = "NaN" if np.isnan(X[bad[:, column], column]).any() else "inf"
    taken = "finite numbers and NaN" if allow_nan else "finite numbers"
    raise ValueError(
        f"Column {feature_names(estimator)[column]!r} holds {what} in "
        f"{int(bad[:, column].sum())} of {len(X)} rows: {type(estimator).__name__} takes {taken} "
        "only; fill the column (sklearn.impute.SimpleImputer) or leave it out."
    )


def squares_values(estimator: Any) -> bool:
    """Whether the estimator measures distances; given ones are only compared."""
    given = getattr(estimator, "distance", None) == "precomputed"
    return getattr(estimator, "_squares_values", False) and not given


def _check_squares(estimator: Any, X: Floats) -> None:
    if X.min(initial=0.0) >= -LARGEST_TO_SQUARE and X.max(initial=0.0) <= LARGEST_TO_SQUARE:
        return
    too_large = np.abs(X) > LARGEST_TO_SQUARE
    column = int(too_large.any(axis=0).argmax())
    raise ValueError(
        f"Column {feature_names(estimator)[column]!r} holds "
        f"{X[too_large[:, column], column][0]:.3g}, and {type(estimator).__name__} squares its "
        f"numbers, which it can up to {LARGEST_TO_SQUARE:g}: scale the column "
        "(sklearn.preprocessing.MaxAbsScaler) or leave it out."
    )


def check_spread(estimator: Any, X: Floats) -> None:
    """Raise on training rows whose differences are so small that their squares are 0."""
    if not squares_values(estimator):
        return
    spread = X.max(axis=0) - X.min(axis=0)
    if 0 < spread.max() < _SMALLEST_TO_SQUARE:
        column = int(spread.argmax())
        raise ValueError(
            f"All columns vary by less than {_SMALLEST_TO_SQUARE:g} "
            f"({feature_names(estimator)[column]!r} most, by {spread[column]:.3g}), and "
            f"{type(estimator).__name__} squares its numbers: measure the columns in smaller units."
        )


def check_matrices(estimator: Any, n_columns: int, matrices: int) -> None:
    """Raise before work that needs so many square matrices of the columns, if they do not fit.

    They may take a quarter of the memory: the rows, and whatever else runs, need some too.
    """
    needed, most = 8 * n_columns**2 * matrices, total_memory() / 4
    if needed > most:
        raise ValueError(
            f"{type(estimator).__name__} keeps {matrices} matrices of {n_columns:,} × "
            f"{n_columns:,} columns, {needed / 2**30:.1f} GiB where {most / 2**30:.1f} GiB are "
            "allowed: reduce the columns first (sklearn.decomposition.PCA keeps the distances "
            "with no more components than there are rows)."
        )


def training_weights(
    X: Floats, y: Array, sample_weight: ArrayLike | None, class_weight: Any
) -> Floats:
    """Weight of each row: its own times that of its class."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y)
    return np.asarray(weight)


def level_columns(categorical: Any, names: list[str]) -> Bools:
    """Which columns have levels: by number, by name, or one truth value a column."""
    d = len(names)
    is_set = np.zeros(d, dtype=bool)
    if categorical is None:
        return is_set
    given = list(categorical)
    if given and all(isinstance(name, bool | np.bool_) for name in given):
        if len(given) != d:
            raise ValueError(
                f"categorical_features holds {len(given)} truth values for {d} columns."
            )
        return np.array(given, dtype=bool)
    for name in given:
        if isinstance(name, str):
            if name not in names:
                raise ValueError(f"categorical_features names {name!r}, which is not a column.")
            is_set[names.index(name)] = True
        elif isinstance(name, Integral) and -d <= int(name) < d:
            is_set[int(name)] = True
        else:
            raise ValueError(f"categorical_features holds {name!r}; there are {d} columns.")
    return is_set


def check_classes_left(codes: Array, used: Bools, n_classes: int) -> None:
    """Refuse weights that leave a class without rows."""
    if np.unique(codes[used]).size < n_classes:
        raise ValueError(
            "All rows with weight are of one class: learning needs two classes."
            if n_classes == 2
            else "No row of some class has weight: learning needs rows of every class."
        )

"""A plane through a table: where its rows fall on it, and the rows that its points stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind._core.types import Floats, Table
from rarefind.data.frames import as_frame
from rarefind.plots.axes import percent


class Plane(Protocol):
    """Two coordinates for a row, and a row for two coordinates."""

    labels: tuple[str, str]

    def place(self, rows: Table) -> Floats:
        """Coordinates of rows, of shape (n, 2)."""

    def rows_at(self, points: Floats) -> Table:
        """The rows that points of the plane stand for, in the form of the table given."""


def plane_of(X: Table, features: Sequence[Any] | None = None) -> Plane:
    """The plane of two columns, else of the first two principal components."""
    width = as_frame(X).shape[1]
    if features is not None:
        return FeaturePlane(X, features)
    if width == 2:
        return FeaturePlane(X, (0, 1))
    if width < 2:
        raise ValueError("A plane needs two columns, and the table has 1.")
    return PrincipalPlane(X)


class FeaturePlane:
    """Two columns of the table; the others stay at their median, or most frequent value."""

    def __init__(self, X: Table, features: Sequence[Any]) -> None:
        self._like = X
        frame = as_frame(X)
        self._columns = [_place_of(name, X, frame) for name in _two(features)]
        names = [str(frame.columns[column]) for column in self._columns]
        _numbers(frame[names])
        self.labels = (names[0], names[1])
        self._typical = pd.concat(
            [_typical(frame.iloc[:, [i]]) for i in range(frame.shape[1])], axis=1
        )

    def place(self, rows: Table) -> Floats:
        """Coordinates of rows: their values in the two columns."""
        return _numbers(as_frame(rows).iloc[:, self._columns])

    def rows_at(self, points: Floats) -> Table:
        """Rows with these values in the two columns, and the usual ones in the others."""
        rows = self._typical.iloc[np.zeros(len(points), dtype=np.intp)].reset_index(drop=True)
        for column, values in zip(self._columns, points.T, strict=True):
            rows = rows.assign(**{str(rows.columns[column]): values})
        return _in_form_of(self._like, rows)


class PrincipalPlane:
    """The first two principal components of the standardised columns.

    Standardised, because else the column with the largest unit would be the plane. The other
    components are 0, the mean of the table.
    """

    def __init__(self, X: Table) -> None:
        self._like = X
        frame = as_frame(X)
        self._names = frame.columns
        self._components = make_pipeline(StandardScaler(), PCA(2, svd_solver="full"))
        self._components.fit(_numbers(frame))
        first, second = self._components[-1].explained_variance_ratio_
        self.labels = (
            f"First principal component ({percent(float(first))} of the variance)",
            f"Second principal component ({percent(float(second))} of the variance)",
        )

    def place(self, rows: Table) -> Floats:
        """Coordinates of rows: their two components."""
        return np.asarray(self._components.transform(_numbers(as_frame(rows))))

    def rows_at(self, points: Floats) -> Table:
        """Rows with these two components and no other."""
        rows = self._components.inverse_transform(points)
        return _in_form_of(self._like, pd.DataFrame(rows, columns=self._names))


def _two(features: Sequence[Any]) -> list[Any]:
    chosen = list(features)
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ValueError(f"features must name two columns, not {features!r}.")
    return chosen


def _place_of(feature: Any, X: Table, frame: pd.DataFrame) -> int:
    """The place of a column given by name or by number."""
    names = list(X.columns) if isinstance(X, pd.DataFrame) else list(frame.columns)
    if feature in names:
        return names.index(feature)
    if isinstance(feature, int | np.integer) and -len(names) <= feature < len(names):
        return int(feature) % len(names)
    raise ValueError(f"There is no column {feature!r}: the table has {len(names)} columns.")


def _numbers(frame: pd.DataFrame) -> Floats:
    """The columns as numbers; an error names the first that has something else."""
    columns = []
    for name, column in frame.items():
        try:
            values = column.to_numpy(dtype=np.float64)
        except (TypeError, ValueError):
            values = np.full(1, np.nan)
        if not np.all(np.isfinite(values)):
            raise ValueError(
                f"Column {name!r} has values that are not finite numbers: turn it into numbers, "
                "or draw the plane of two others with features=(..., ...)."
            )
        columns.append(values)
    return np.column_stack(columns)


def _typical(column: pd.DataFrame) -> pd.DataFrame:
    """One row: the median of numbers, the most frequent of other values."""
    if column.dtypes.map(pd.api.types.is_numeric_dtype).all():
        return column.median(axis=0).to_frame().T
    most: pd.DataFrame = column.mode().head(1)
    return most if len(most) else column.head(1)


def _in_form_of(like: Table, rows: pd.DataFrame) -> Table:
    """With the column names that an estimator fitted to such tables expects, or without."""
    if isinstance(like, pd.DataFrame):
        return rows.set_axis(like.columns, axis=1)
    return rows if hasattr(like, "columns") else rows.to_numpy()

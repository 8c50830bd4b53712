from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from rarefind.plots._planes import FeaturePlane, PrincipalPlane, plane_of

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(40, 4)) * [1, 100, 1, 0.1]
POINTS = np.array([[0.0, 0.0], [1.5, -2.0]])


def test_two_columns_are_the_plane() -> None:
    plane = plane_of(TABLE[:, :2])
    assert isinstance(plane, FeaturePlane)
    np.testing.assert_array_equal(plane.place(TABLE[:, :2]), TABLE[:, :2])
    np.testing.assert_array_equal(plane.rows_at(POINTS), POINTS)


def test_the_other_columns_stay_at_their_median() -> None:
    plane = plane_of(TABLE, features=(3, 1))
    rows = plane.rows_at(POINTS)
    np.testing.assert_array_equal(rows[:, [3, 1]], POINTS)
    np.testing.assert_array_equal(rows[:, [0, 2]], [np.median(TABLE[:, [0, 2]], axis=0)] * 2)
    np.testing.assert_array_equal(plane.place(TABLE), TABLE[:, [3, 1]])
    assert plane.labels == ("x3", "x1")


def test_columns_are_found_by_name_and_frames_keep_theirs() -> None:
    frame = pd.DataFrame(TABLE, columns=["a", "b", "c", "d"])
    plane = plane_of(frame, features=("c", "a"))
    rows = plane.rows_at(POINTS)
    assert list(rows.columns) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(rows[["c", "a"]], POINTS)
    assert plane.labels == ("c", "a")
    last = plane_of(frame, features=(-1, 0))
    assert last.labels == ("d", "a")


def test_numbered_columns_of_a_frame_stay_numbered() -> None:
    frame = pd.DataFrame(TABLE, columns=[3, 2, 1, 0])
    rows = plane_of(frame, features=(3, 0)).rows_at(POINTS)
    assert list(rows.columns) == [3, 2, 1, 0]
    np.testing.assert_array_equal(rows[[3, 0]], POINTS)


def test_text_stays_at_its_most_frequent_value() -> None:
    frame = pd.DataFrame(
        {
            "size": [1, 2, 4],
            "kind": pd.Categorical(["b", "a", "b"]),
            "age": [3.0, 1.0, 2.0],
            "fee": [1, 5, 9],
            "never": [None] * 3,
        }
    )
    rows = plane_of(frame, features=("age", "size")).rows_at(POINTS)
    assert rows["kind"].tolist() == ["b", "b"]
    assert isinstance(rows["kind"].dtype, pd.CategoricalDtype)
    assert rows["fee"].tolist() == [5, 5]
    assert rows["never"].isna().all()


def test_more_columns_are_seen_along_the_principal_components() -> None:
    plane = plane_of(TABLE)
    assert isinstance(plane, PrincipalPlane)
    scaler = StandardScaler().fit(TABLE)
    components = PCA(2).fit(scaler.transform(TABLE))
    placed = plane.place(TABLE)
    np.testing.assert_allclose(placed, components.transform(scaler.transform(TABLE)))
    rows = plane.rows_at(placed)
    # A point and the row it stands for are at the same place, and the origin is the mean.
    np.testing.assert_allclose(plane.place(rows), placed, atol=1e-12)
    np.testing.assert_allclose(plane.rows_at(np.zeros((1, 2)))[0], TABLE.mean(axis=0))
    share = components.explained_variance_ratio_
    assert plane.labels[0] == f"First principal component ({100 * share[0]:.0f} % of the variance)"


def test_polars_rows_come_back_with_their_names() -> None:
    frame = pl.DataFrame(TABLE, schema=["a", "b", "c", "d"])
    for plane in (plane_of(frame), plane_of(frame, features=("a", "d"))):
        assert plane.place(frame).shape == (40, 2)
        assert list(plane.rows_at(POINTS).columns) == ["a", "b", "c", "d"]


def test_a_constant_column_does_no_harm() -> None:
    table = np.column_stack([TABLE, np.full(40, 7.0)])
    rows = plane_of(table).rows_at(POINTS)
    np.testing.assert_allclose(rows[:, 4], 7)


@pytest.mark.parametrize(
    ("table", "features", "message"),
    [
        (TABLE[:, :1], None, "A plane needs two columns"),
        (TABLE, (1,), "features must name two columns"),
        (TABLE, (1, 1), "features must name two columns"),
        (TABLE, (1, 9), "There is no column 9: the table has 4 columns"),
        (pd.DataFrame({"a": [1], "b": [2], "c": [3]}), ("a", "z"), "There is no column 'z'"),
        (pd.DataFrame({"a": [1, 2], "b": ["u", "v"], "c": [3, 4]}), None, "Column 'b' has"),
        (pd.DataFrame({"a": [1, 2], "b": [1, np.nan]}), None, "Column 'b' has"),
    ],
)
def test_errors_say_what_is_wrong(table: object, features: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plane_of(table, features)  # type: ignore[arg-type]

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rarefind.auto._preparation import Preparation
from rarefind.rules import Condition

NAMES = ["amount", "country", "age"]
X = np.array(
    [
        [10.0, 0.0, np.nan],
        [20.0, 1.0, 5.0],
        [30.0, 1.0, 7.0],
        [np.nan, 2.0, 9.0],
    ]
)
IS_LEVEL = np.array([False, True, False])


def test_numbers_are_scaled_holes_marked_and_levels_a_column_each():
    prepared = Preparation.learn(X, IS_LEVEL)
    made = prepared.transform(X)
    spread = np.std([10, 20, 30])
    expected = np.column_stack(
        [
            np.array([-10, 0, 10, 0]) / spread,
            [0, 0, 0, 1],
            [1, 0, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 0, 1],
            np.array([0, -2, 0, 2]) / np.std([5, 7, 9]),
            [1, 0, 0, 0],
        ]
    )
    np.testing.assert_allclose(made, expected)
    unknown = prepared.transform(np.array([[20.0, 9.0, np.nan]]))
    np.testing.assert_allclose(unknown, [[0, 0, 0, 0, 0, 0, 1]])


def test_only_frequent_levels_get_a_column():
    codes = np.concatenate([np.repeat(np.arange(40.0), 2), [39.0, 38.0]])[:, None]
    prepared = Preparation.learn(codes, np.array([True]))
    assert prepared.source.size == 30
    assert {38.0, 39.0} <= set(prepared.shift)


@given(arrays(float, (6, 2), elements=st.one_of(st.floats(-1e6, 1e6), st.just(np.nan))))
def test_whatever_the_rows_no_hole_is_left(rows):
    made = Preparation.learn(rows, np.array([False, True])).transform(rows)
    assert np.isfinite(made).all()


def in_own_columns(condition, own):
    prepared = Preparation.learn(X, IS_LEVEL)
    made = [f"x{i}" for i in range(7)]
    return prepared.in_own_columns([condition], np.array(own), made, NAMES)


def test_reasons_come_back_in_columns_and_units():
    (number,) = in_own_columns(Condition("x0", "≈", 0.0, "", 0.4), [21.0, 1.0, 5.0])
    assert (number.feature, number.op, number.value, number.weight) == ("amount", "≈", 20.0, 0.4)
    assert str(number) == "amount 21 ≈ 20"
    (level,) = in_own_columns(Condition("x3", "≈", 1.0, "", 0.4), [21.0, 1.0, 5.0])
    assert (level.feature, level.op, level.value) == ("country", "=", 1.0)
    (hole,) = in_own_columns(Condition("x6", "≈", 1.0, "", 0.4), [21.0, 1.0, np.nan])
    assert str(hole) == "age is missing"


def test_what_says_nothing_is_left_out():
    assert in_own_columns(Condition("x2", "≈", 0.0), [21.0, 1.0, 5.0]) == []  # not that third level
    assert (
        in_own_columns(Condition("x3", "≈", 0.0), [21.0, 1.0, 5.0]) == []
    )  # a level they do not share
    assert (
        in_own_columns(Condition("x5", "≈", 0.0), [21.0, 1.0, np.nan]) == []
    )  # what fills the hole
    assert (
        in_own_columns(Condition("x1", "≈", 0.0), [21.0, 1.0, 5.0]) == []
    )  # that there is no hole

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from rarefind.data.categories import code_levels, learn_levels, with_codes
from rarefind.data.frames import as_frame

LEVELS = st.sampled_from(["Lyon", "Nice", "Paris", "", "1"])


@given(st.lists(st.none() | LEVELS, min_size=1), st.lists(LEVELS, unique=True))
def test_a_level_is_its_place_whatever_the_type_of_the_column(values, levels):
    expected = [
        np.nan if v is None else levels.index(v) if v in levels else len(levels) for v in values
    ]
    for column in (pd.Series(values, dtype=object), pd.Series(pd.Categorical(values))):
        np.testing.assert_array_equal(code_levels(column, levels), expected)


def test_levels_are_those_in_use_sorted_in_pandas_and_polars():
    frame = pd.DataFrame(
        {
            "city": pd.Categorical(["b", "a", None], categories=["c", "b", "a"]),
            "size": pd.Categorical([20, 3, 20]),
            "mixed": pd.Categorical(["x", 1, "x"]),
            "text": ["p", "q", "r"],
        }
    )
    assert learn_levels(frame) == {"city": ["a", "b"], "size": [3, 20], "mixed": [1, "x"]}
    cities = {
        "city": pl.Series(["b", "a", None], dtype=pl.Categorical),
        "rank": pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "high", "top"])),
    }
    assert learn_levels(as_frame(pl.DataFrame(cities))) == {
        "city": ["a", "b"],
        "rank": ["high", "low"],
    }


def test_other_columns_stay_as_they_are():
    frame = pd.DataFrame({"amount": [1.5, 2.5], "city": ["Nice", "Rome"]})
    coded = with_codes(frame, {"city": ["Lyon", "Nice"], "gone": ["x"]})
    assert coded.to_dict("list") == {"amount": [1.5, 2.5], "city": [1.0, 2.0]}

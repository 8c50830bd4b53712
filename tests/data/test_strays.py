"""Columns that a few odd values turn into text are named before anything is learned."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from rarefind.data import read_table

AMOUNTS = [f"{value:.2f}" for value in np.random.default_rng(0).lognormal(4, 1, 100)]
DAYS = [f"{day:%d/%m/%Y}" for day in pd.date_range("2026-01-01", periods=100)]


def warned(path, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(path, **how)
    return [str(warning.message) for warning in caught]


def written(folder, values):
    path = folder / "t.csv"
    path.write_text("\n".join(["a;b", *(f"{value};{i}" for i, value in enumerate(values))]) + "\n")
    return path


@pytest.mark.parametrize(
    ("values", "stray", "kind"),
    [
        (AMOUNTS, "douze", "numbers"),
        (AMOUNTS, "12O.50", "numbers"),
        ([value.replace(".", ",") + " €" for value in AMOUNTS], "n.c.", "numbers, as 1 234,56 €"),
        ([f"{i} %" for i in range(100)], "12", "numbers, as "),
        (DAYS, "hier", "dates, as %d/%m/%Y"),
        (DAYS, "31/02/2026", "dates, as %d/%m/%Y"),
    ],
)
def test_the_value_and_its_row_are_told(tmp_path, values, stray, kind):
    """The amounts were one text each, and a model learned nothing from them, without a word."""
    path = written(tmp_path, [*values[:70], stray, *values[70:]])
    (said,) = warned(path)
    assert said.startswith(f"Column 'a' is read as text: 100 of 101 values are {kind}")
    assert f"but not {stray!r} in row 72. Correct or empty it" in said
    assert path.read_text().splitlines()[71].startswith(stray)


def test_a_word_for_what_is_not_known_may_stand_in_many_rows(tmp_path):
    (said,) = warned(written(tmp_path, ["inconnu", *AMOUNTS, *["inconnu"] * 40]))
    assert "100 of 141 values are numbers, but not 'inconnu' in row 2 and 40 more." in said


@pytest.mark.parametrize(
    "values",
    [
        [*AMOUNTS, *AMOUNTS],
        ["Paris", "Lyon", "12 rue", "7"] * 30,
        [f"{i:05d}" for i in range(980, 1080)] + ["2A004"],  # codes of places
        [f"A{i}" for i in range(100)],
        [*map(str, range(60)), *(f"{i}B" for i in range(40))],  # numbers of houses
        ["1.5"] * 8 + ["x"],  # too few to tell
    ],
)
def test_other_columns_are_not_spoken_of(tmp_path, values):
    assert warned(written(tmp_path, values)) == []


def test_files_of_a_model_have_its_types(tmp_path):
    path = written(tmp_path, [*AMOUNTS, "douze"])
    assert warned(path, like={"a": "text", "b": "integer"}) == []


def test_bytes_and_lengths_of_time_are_left_alone(tmp_path):
    columns = {
        "bytes": pa.array([b"12", b"\xff\xfe"] * 20),
        "time": pa.array([1, -(2**63) + 1] * 20, pa.duration("s")),
    }
    pa.feather.write_feather(pa.table(columns), str(tmp_path / "a.feather"))
    table = read_table(tmp_path / "a.feather")
    assert table["bytes"].tolist() == [b"12", b"\xff\xfe"] * 20
    assert table["time"].dt.total_seconds().min() < -9e18

"""Files that are cut, damaged or made up: a sentence, and never a crash or a loop."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from rarefind.data import read_chunks, read_table
from rarefind.data.read import about_rows, file_columns, row_numbers


def write_arrow(path, batch, opening):
    with pa.OSFile(str(path), "wb") as file, opening(file, batch.schema) as writer:
        writer.write_batch(batch)
    return path


def numbers(values, size=np.int32):
    return np.array(values, dtype=size).tobytes()


# A column, and what is written in its place: where its texts end, and which levels its rows have.
BAD = {
    "far": (pa.array(["ab", "cd", "ef"]), numbers([0, 2, 4, 6]), numbers([0, 2, 4, 2**30])),
    "back": (pa.array(["ab", "cd", "ef"]), numbers([0, 2, 4, 6]), numbers([0, 5, -(2**20), 6])),
    "large": (
        pa.array(["ab", "cd", "ef"], pa.large_string()),
        numbers([0, 2, 4, 6], np.int64),
        numbers([0, 2, 4, 2**40], np.int64),
    ),
    "level": (
        pa.array(["x", "y", "x"]).dictionary_encode(),
        numbers([0, 1, 0]),
        numbers([0, 7, 2**30]),
    ),
    "words": (
        pa.array(["ab", "cd", "ef"]).dictionary_encode(),
        numbers([0, 2, 4, 6]),
        numbers([0, 2, 4, 2**30]),
    ),
    "not UTF-8": (pa.array(["abcdefgh"]), b"abcdefgh", b"abc\xff\xfefgh"),
}


@pytest.mark.parametrize("opening", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("kind", BAD)
def test_values_that_lie_outside_of_an_arrow_file_are_refused(tmp_path, kind, opening):
    column, good, bad = BAD[kind]
    path = write_arrow(tmp_path / "t.arrow", pa.record_batch({"a": column}), opening)
    assert path.read_bytes().count(good) == 1
    path.write_bytes(path.read_bytes().replace(good, bad))
    for read in (read_table, lambda path: list(read_chunks(path, 2))):
        with pytest.raises(ValueError, match="is not a complete arrow file: write it again"):
            read(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_rows_without_columns_are_refused(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pd.DataFrame(index=range(5)).to_parquet(path, index=False)
    else:
        batch = pa.record_batch({"a": [1, 2, 3]}).select([])
        assert batch.num_rows == 3
        write_arrow(path, batch, pa.ipc.new_file)
    for read in (read_table, lambda path: list(read_chunks(path, 2))):
        with pytest.raises(ValueError, match="has no columns"):
            read(path)


def damaged(how):
    whole = gzip.compress("".join(f"{i};é{i % 7}\n" for i in range(5_000)).encode("utf-16"))
    middle = len(whole) // 2
    return {
        "cut": whole[:middle],
        "damaged": whole[:middle] + bytes(50) + whole[middle + 50 :],
        "wrong sum": whole[:-8] + bytes(8),
        "not packed": b"a,b\n1,2\n",
    }[how]


@pytest.mark.parametrize("how", ["cut", "damaged", "wrong sum", "not packed"])
@pytest.mark.parametrize("read", [read_table, about_rows, row_numbers])
def test_packed_files_that_are_not_whole_get_a_sentence(tmp_path, how, read):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(damaged(how))
    with pytest.raises(ValueError, match=r"t\.csv\.gz is not a complete gzip file \(.*\): pack it"):
        read(path)


@pytest.mark.parametrize("damage", [b"\x00", b"\x00\xd8\x00\xd8"])
def test_text_in_utf_16_that_is_cut_or_broken_gets_a_sentence(tmp_path, damage):
    path = tmp_path / "t.csv"
    path.write_bytes("a;b\n1;2\n3;4\n".encode("utf-16") + damage)
    for read in (read_table, lambda path: list(read_chunks(path, 2)), file_columns):
        with pytest.raises(ValueError, match=r"t\.csv is not text in UTF-16 from end to end: save"):
            read(path)


def test_texts_of_a_parquet_file_are_utf_8(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["abcdefgh"]}).to_parquet(path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abc\xff\xfefgh"))
    for read in (read_table, lambda path: list(read_chunks(path, 2))):
        with pytest.raises(ValueError, match="is not a complete parquet file: write it again"):
            read(path)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**45], pa.int64()).view(pa.timestamp("s", "Europe/Paris")),
        pa.array([0, -(2**62)], pa.int64()).view(pa.timestamp("us")),
        pa.array([0, 2**30], pa.int32()).view(pa.date32()),
        pa.array([None, 2**60], pa.int64()).view(pa.date64()),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_times_that_no_calendar_has_are_refused(tmp_path, column, ending):
    """Milliseconds that are called seconds: pandas takes them, and raises when they are used."""
    if ending == "parquet" and pa.types.is_date64(column.type):
        column = column.cast(pa.timestamp("ms"))
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(pa.table({"when": column}), path, coerce_timestamps=None)
    else:
        write_arrow(path, pa.record_batch({"when": column}), pa.ipc.new_file)
    for read in (read_table, lambda path: list(read_chunks(path, 2))):
        with pytest.raises(ValueError, match=r"(before the year 1 or after 9999|not a complete)"):
            read(path)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_the_first_and_last_year_are_read(tmp_path, unit):
    years = ["1700-01-01", "2262-01-01"] if unit == "ns" else ["0001-01-01", "9999-12-31"]
    column = pa.array(np.array(years, dtype=f"datetime64[{unit}]"))
    path = write_arrow(tmp_path / "t.arrow", pa.record_batch({"when": column}), pa.ipc.new_file)
    assert [str(time)[:10] for time in read_table(path)["when"]] == years


@pytest.mark.parametrize(
    "column",
    [pa.array([1], pa.timestamp("s", "Nowhere/Town")), pa.array([1_001], pa.time64("ns"))],
    ids=lambda column: str(column.type),
)
def test_a_column_that_pandas_does_not_take_is_named(tmp_path, column):
    batch = pa.record_batch({"a": pa.array([5]), "when": column})
    path = write_arrow(tmp_path / "t.arrow", batch, pa.ipc.new_file)
    for read in (read_table, lambda path: list(read_chunks(path, 2))):
        with pytest.raises(
            ValueError, match=r"^Column 'when' cannot be read \(.*\): write it again"
        ):
            read(path)


def test_a_long_value_is_shortened_in_an_error(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 5 + "x" * 9_000 + "\n")
    with pytest.raises(ValueError, match=r"Column 'a' has 'x+ … x+' in row 7, where") as caught:
        list(read_chunks(path, 2))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("length", [200_000, 9_000_000])
def test_lines_that_no_table_has_get_a_sentence(tmp_path, ending, length):
    path = tmp_path / f"t.{ending}"
    text = b"a" * length
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    for read in (read_table, file_columns):
        with pytest.raises(
            ValueError, match=r"(cannot be read as a table|has more than 8,388,608)"
        ):
            read(path)


def test_a_keel_file_with_an_open_quote_gets_a_sentence(tmp_path):
    path = tmp_path / "t.dat"
    rows = ["1, positive", "2, negative", '3, "negative']
    head = ["@relation t", "@attribute a real [0, 9]", "@attribute Class {positive, negative}"]
    path.write_text("\n".join([*head, "@data", *rows]) + "\n")
    for read in (read_table, file_columns):
        with pytest.raises(ValueError, match=r"t\.dat") as caught:
            read(path)
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)

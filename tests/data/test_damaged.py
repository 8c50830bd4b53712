"""Files that are cut, damaged or made up: a sentence, and never a crash or a loop."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rarefind.data import read_chunks, read_table
from rarefind.data.read import about_rows, row_numbers


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

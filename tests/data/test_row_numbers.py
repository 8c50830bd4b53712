"""A row is called by its identifier, or by the line of the file on which it stands."""

import gzip

import numpy as np
import pandas as pd
import pytest

from rarefind.data import read_chunks, read_table
from rarefind.data.read import row_numbers
from rarefind.data.row_numbers import RowError, rows_named_by

TEXTS = {
    "plain": ("a,b\n1,x\n2,y\n3,z\n", [2, 3, 4]),
    "windows": ("a,b\r\n1,x\r\n2,y\r\n3,z\r\n", [2, 3, 4]),
    "returns": ("a,b\r1,x\r2,y\r3,z\r", [2, 3, 4]),
    "quoted": ('a,b\n1,"x"\n2,"y, ""y"""\n3,z', [2, 3, 4]),
    "blank": ("\na,b\n1,x\n\n2,y\n\n\n3,z\n", [3, 5, 8]),
    "several lines": ('a,b\n1,"x\nx"\n2,"y\r\n\r\ny"\n3,z\n', [2, 4, 7]),
    "lone return": ('a,b\n1,"x\rx"\n2,y\n3,z\n', [2, 4, 5]),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_row_of_text_is_called_by_its_line(tmp_path, kind, ending):
    text, lines = TEXTS[kind]
    path = tmp_path / f"table{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    assert len(read_table(path)) == 3
    numbers = row_numbers(path)
    assert numbers.of([0, 1, 2]).tolist() == lines
    assert numbers.positions(lines).tolist() == [0, 1, 2]
    below, above = numbers.positions([lines[0] - 1, lines[2] + 1])
    assert below < 0
    assert not 0 <= above < 3


def test_a_blank_line_between_two_blocks_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("rarefind.data._csv._BLOCK", 8)
    for number, (text, lines) in enumerate(TEXTS.values()):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(text.encode())
        assert row_numbers(path).of([0, 1, 2]).tolist() == lines


def test_files_without_lines_are_counted_as_if_they_had_a_header(tmp_path):
    table = pd.DataFrame({"a": [1, 2, 3]})
    table.to_parquet(tmp_path / "table.parquet")
    table.to_feather(tmp_path / "table.feather")
    for kind in ("parquet", "feather"):
        assert row_numbers(tmp_path / f"table.{kind}").of([0, 2]).tolist() == [2, 4]


def test_errors_of_readers_name_the_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,x\n\nmany,y\n")
    with pytest.raises(ValueError, match="'many' in row 4, where"):
        read_table(path, like={"a": "integer"})
    with pytest.raises(ValueError, match="'many' in row 4, where"):
        list(read_chunks(path, rows=1, like={"a": "integer"}))


def test_without_a_file_a_row_is_counted_from_0():
    error = RowError("Column 'a' has 'x' in", 3, ": correct it.")
    assert str(error) == "Column 'a' has 'x' in row 3 (counted from 0): correct it."


def test_numbers_of_thousands_are_grouped(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": np.arange(3)}).to_parquet(path)
    with pytest.raises(ValueError, match=r"^It is in row 1,236\.$"), rows_named_by(path):
        raise RowError("It is in", 1234, ".")


def test_a_file_without_rows_has_numbers_for_those_to_come(tmp_path):
    path = tmp_path / "empty.tsv"
    path.write_bytes("a\tb".encode("utf-16"))
    assert row_numbers(path).of([0]).tolist() == [2]
    assert row_numbers(path).positions([2]).tolist() == [0]

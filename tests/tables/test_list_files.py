"""Lists as files: what a spreadsheet does with them, and that they read back."""

import csv
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefind._core.extras import MissingExtraError
from rarefind.data import read_table
from rarefind.tables import write_list
from rarefind.tables.cells import original_cells, original_text, safe_text

HOSTILE = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\tx", "\r=2", "'=1", "''@a", "＝1", "plain", "'tis"]


def listed():
    return pd.DataFrame(
        {
            "rank": range(1, len(HOSTILE) + 1),
            "=id": HOSTILE,
            "priority": np.linspace(-1.5, 3, len(HOSTILE)),
            "day": pd.date_range("2026-01-31", periods=len(HOSTILE)),
            "long": 10**17 + np.arange(len(HOSTILE)),
        }
    )


@given(st.text(alphabet="'=+-@\t\r\nab", max_size=6))
def test_what_is_written_is_no_formula_and_reads_back(text):
    written = safe_text(text)
    assert original_text(written) == text
    assert not written.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def test_numbers_and_missing_values_stay(tmp_path):
    for value in (-5, -0.5, None, float("nan"), True):
        assert safe_text(value) is value


@pytest.mark.parametrize("for_excel", [False, True])
def test_text_holds_no_formula_and_one_row_a_line(tmp_path, for_excel):
    path = tmp_path / "list.csv"
    write_list(listed(), path, for_excel=for_excel, decimal_comma=False)
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    assert [len(row) for row in rows] == [5] * (len(HOSTILE) + 1)
    assert rows[0] == ["rank", "'=id", "priority", "day", "long"]
    assert [original_text(row[1]) for row in rows[1:]] == HOSTILE
    assert rows[1][2] == "-1.5", "numbers stay numbers"
    again = original_cells(pd.read_csv(path))
    pd.testing.assert_frame_equal(again.drop(columns="day"), listed().drop(columns="day"))


def test_a_list_for_excel_has_commas_where_the_locale_has(tmp_path):
    path = tmp_path / "list.csv"
    write_list(listed(), path, for_excel=True, decimal_comma=True)
    text = path.read_bytes()
    assert text.startswith(b"\xef\xbb\xbfrank;")
    assert b";-1,5;" in text
    again = read_table(path)
    assert again["priority"].tolist() == listed()["priority"].tolist()


def test_texts_of_a_workbook_are_texts(tmp_path):
    path = tmp_path / "list.xlsx"
    write_list(listed(), path)
    with zipfile.ZipFile(path) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    openpyxl = pytest.importorskip("openpyxl")
    rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
    assert rows[0] == tuple(listed().columns)
    assert [row[1] for row in rows[1:]] == [text.replace("\r", "_x000D_") for text in HOSTILE]
    assert rows[1][2] == -1.5
    assert rows[1][3] == pd.Timestamp("2026-01-31")
    assert rows[1][4] == "100000000000000000", "an account of 18 digits is not rounded"


def test_other_kinds_keep_the_texts_as_they_are(tmp_path):
    write_list(listed(), tmp_path / "list.json")
    written = json.loads((tmp_path / "list.json").read_text())
    assert [row["=id"] for row in written] == HOSTILE
    write_list(listed(), tmp_path / "list.parquet")
    assert pd.read_parquet(tmp_path / "list.parquet")["=id"].tolist() == HOSTILE


@pytest.mark.parametrize(
    ("name", "for_excel", "sentence"),
    [("list.pdf", False, "should end in .csv, .xlsx"), ("list.json", True, "is not a .csv")],
)
def test_other_kinds_are_refused(tmp_path, name, for_excel, sentence):
    with pytest.raises(ValueError, match=sentence):
        write_list(listed(), tmp_path / name, for_excel=for_excel)
    assert not list(tmp_path.iterdir())


def test_without_the_extra_a_sentence_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(
        MissingExtraError, match=r"An Excel file needs xlsxwriter.*rarefind\[excel\]"
    ):
        write_list(listed(), tmp_path / "list.xlsx")
    assert not list(tmp_path.iterdir())

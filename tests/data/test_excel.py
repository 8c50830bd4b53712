"""Sheets of Excel files are tables."""

import datetime as dt
import re
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from rarefind._core.extras import MissingExtraError
from rarefind.data import read_chunks, read_table
from rarefind.data.read import about_rows, file_columns, row_numbers
from rarefind.data.table_file import TableFile

xlsxwriter = pytest.importorskip("xlsxwriter")


@pytest.fixture
def book(tmp_path):
    """Two sheets, of which the first has a title, a blank row and cells of all kinds."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path), {"default_date_format": "dd/mm/yyyy"}) as book:
        sheet = book.add_worksheet("Mai")
        sheet.write("A1", "Export du mois")
        sheet.write_row("A3", ["id", "montant", "jour", "mixte", "ok", "texte", "vide"])
        rows = [
            ["A", 1.5, dt.datetime(2026, 5, 3), 1, True, "1 234,50 €"],
            ["B", 2, dt.datetime(2026, 5, 31, 10, 30), "deux", False, "5 €"],
            ["C", None, dt.datetime(2026, 5, 4), 3.5, True, "7,25 €"],
        ]
        for line, row in zip((3, 4, 6), rows, strict=True):
            sheet.write_row(line, 0, row)
        other = book.add_worksheet("Juin")
        other.write_column("A1", ["id", "Z"])
        book.add_worksheet("vide")
    return path


@pytest.mark.filterwarnings("ignore:.*title")
def test_cells_keep_their_types(book):
    table = read_table(book)
    assert table["id"].tolist() == ["A", "B", "C"]
    assert table["montant"].iloc[:2].tolist() == [1.5, 2]
    assert table["montant"].isna().tolist() == [False, False, True]
    assert table["jour"].iloc[1] == pd.Timestamp("2026-05-31 10:30")
    assert table["mixte"].tolist() == ["1", "deux", "3.5"]
    assert table["ok"].tolist() == [True, False, True]
    assert table["texte"].tolist() == [1234.5, 5, 7.25], "texts are read as in a text file"
    assert row_numbers(book).of([0, 1, 2]).tolist() == [4, 5, 7], "rows of the sheet"
    assert about_rows(book) == 3
    assert [len(part) for part in read_chunks(book, 2)] == [2, 1]


def test_a_sheet_can_be_chosen(book):
    june = TableFile(book, "Juin")
    assert read_table(june)["id"].tolist() == ["Z"]
    assert read_table(book, sheet="Juin")["id"].tolist() == ["Z"]
    assert file_columns(june) == ["id"]
    with pytest.raises(ValueError, match="has no sheet 'Julliet': its sheets are 'Mai', 'Juin'"):
        read_table(book, sheet="Julliet")
    with pytest.raises(ValueError, match="has nothing in the sheet 'vide': name another"):
        read_table(book, sheet="vide")


def test_numbers_are_numbers_though_the_fit_read_decimal_commas(book):
    like = {"montant": "number,", "mixte": "number:eu"}
    with pytest.raises(ValueError, match="'mixte' has 'deux' in row 5"):
        read_table(book, like=like)
    table = read_table(book, like={"montant": "number,", "mixte": "text"})
    assert table["montant"].iloc[0] == 1.5


def test_other_files_have_no_sheets_and_damaged_ones_get_a_sentence(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"t\.csv has no sheets: leave out the sheet 'x'"):
        read_table(path, sheet="x")
    for data in (b"PK\x03\x04 no workbook", b"\xd0\xcf\x11\xe0 nor this", b"text"):
        bad = tmp_path / "bad.xlsx"
        bad.write_bytes(data)
        with pytest.raises(ValueError, match=r"bad\.xlsx is not a complete Excel file"):
            read_table(bad)


def test_a_workbook_without_sheets_gets_a_sentence(book, tmp_path):
    """Its list of sheets was empty, and Python's own error came out."""
    bad = tmp_path / "bad.xlsx"
    with zipfile.ZipFile(book) as whole, zipfile.ZipFile(bad, "w") as changed:
        for name in whole.namelist():
            text = whole.read(name)
            if name == "xl/workbook.xml":
                text = re.sub(rb"<sheets>.*</sheets>", b"<sheets></sheets>", text, flags=re.DOTALL)
            changed.writestr(name, text)
    with pytest.raises(ValueError, match=r"bad\.xlsx has no sheets: save it again\.$"):
        read_table(bad)


def test_without_the_extra_a_sentence_names_it(book, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    other = Path(book).with_name("other.xlsx")
    other.write_bytes(book.read_bytes())
    with pytest.raises(MissingExtraError, match=r"other\.xlsx, an Excel file, needs .*\[excel\]"):
        read_table(other)


def test_a_cell_in_the_last_corner_is_not_laid_out(tmp_path):
    """The reader would take 400 GB for the empty cells before it, and end the process."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["id", 1, 2])
        sheet.write(2**20 - 1, 2**14 - 1, 5)
    said = r"book\.xlsx has a sheet of 1,048,576 rows and 16,384 columns with only 4 cells in it: "
    with pytest.raises(ValueError, match=said):
        read_table(path)


def test_a_cell_far_below_or_to_the_right_is_read(tmp_path):
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["id", 1, 2])
        sheet.write(1, 2**14 - 1, 5)
    assert read_table(path).columns.tolist() == ["id", "column 16384"]

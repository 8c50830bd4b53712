"""Titles above the header are passed over, and names may be written otherwise."""

import warnings

import pandas as pd
import pytest

from rarefind.data import read_chunks, read_table
from rarefind.data._header import own_names
from rarefind.data.read import file_columns, row_numbers

TABLE = "id;montant;jour\nA;1,5;31/01/2026\nB;2;01/02/2026\n"


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("titles", "line", "said"),
    [
        ("Export du mois\n", 2, "the first line is a title, and line 2 has the names"),
        ("Export du mois;;\n;;\n", 3, "the first line is a title, and line 3 has"),
        ("Export\nle 31/01/2026\n\n", 4, "the first 2 lines are titles, and line 4 has"),
        ("Banque, Paris, France\n\n", 3, "the first line is a title"),
    ],
)
def test_titles_are_passed_over_and_told(tmp_path, titles, line, said):
    path = write(tmp_path, titles + TABLE)
    with pytest.warns(UserWarning, match=said):
        table = read_table(path)
    assert list(table.columns) == ["id", "montant", "jour"]
    assert table["montant"].tolist() == [1.5, 2]
    assert row_numbers(path).of([0, 1]).tolist() == [line + 1, line + 2]


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        ("a\n1 234,56\n12,5\n", ["a"], "1 234,56"),
        ("name\nDoe, John, Jr\nRoe, Jane, Sr\n", ["name"], "Doe, John, Jr"),
        ("a;;\n1;2;3\n4;5;6\n", ["a", "column 2", "column 3"], 1),
        ("a;b\n1;2\n3;4\n", ["a", "b"], 1),
    ],
)
def test_a_header_is_not_taken_for_a_title(tmp_path, text, names, first):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(write(tmp_path, text))
    assert list(table.columns) == names
    assert table.iloc[0, 0] in (first, 1234.56)


def test_a_short_header_is_still_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"Line 2 of .* has 4 fields where the header has 3"):
        read_table(write(tmp_path, "a;b;c\n1;2;3;4\n5;6;7;8\n"))


@pytest.mark.parametrize(
    ("names", "known", "own"),
    [
        (["MONTANT", "Date  Opération "], ["montant", "date opération"], None),
        (["Montant", "montant"], ["montant"], ["Montant", "montant"]),
        (["Montant", "MONTANT"], ["montant"], ["Montant", "MONTANT"]),
        (["MONTANT"], ["montant", "Montant"], ["MONTANT"]),
        (["autre"], ["montant"], ["autre"]),
    ],
)
def test_names_are_found_where_case_and_spaces_differ(names, known, own):
    assert own_names(names, known) == (known if own is None else own)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "xlsx"])
def test_files_are_read_by_the_names_known_before(tmp_path, kind):
    known = {"montant": "number,", "id": "text"}
    table = pd.DataFrame({"ID ": ["A", "B", "C"], "Montant": [1.5, 2.25, 3.0]})
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False, sep=";", decimal=",")
    elif kind == "parquet":
        table.to_parquet(path)
    elif kind == "feather":
        table.to_feather(path)
    else:
        table.to_excel(path, index=False)
    with pytest.warns(UserWarning, match="written otherwise: .*'Montant' is 'montant'"):
        read = read_table(path, like=known)
    assert sorted(read.columns) == ["id", "montant"]
    assert read["montant"].tolist() == [1.5, 2.25, 3.0]
    with pytest.warns(UserWarning, match="written otherwise"):
        assert sorted(file_columns(path, known)) == ["id", "montant"]
    with pytest.warns(UserWarning, match="written otherwise"):
        parts = list(read_chunks(path, 2, like=known, columns=["montant"]))
    assert [value for part in parts for value in part["montant"]] == [1.5, 2.25, 3.0]

"""Numbers and dates as offices write them."""

import warnings

import pandas as pd
import pytest

from rarefind.data import read_chunks, read_table


def write(folder, columns, separator=";", name="t.csv"):
    """A file with the values of each column below its name."""
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(line) for line in [tuple(columns), *rows]]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read_column(folder, values, **others):
    table = read_table(write(folder, {"a": values, **others}))
    return table["a"].tolist(), table.attrs["rarefind_types"]["a"]


@pytest.mark.parametrize(
    ("written", "numbers", "kind"),
    [
        (["1 234,56", "12,5"], [1234.56, 12.5], "number:eu"),
        (["1\u202f234,56", "2\u00a0345\u00a0678,9"], [1234.56, 2345678.9], "number:eu"),
        (["1.234,56", "12"], [1234.56, 12], "number:eu"),
        (["1.234,56-", "7,00"], [-1234.56, 7], "number:eu"),
        (["10,94 €", "1 200,00 €"], [10.94, 1200], "number:eu:€"),
        (["-3,20 €", "(4,10 €)"], [-3.2, -4.1], "number:eu:€"),
        (["10,94 EUR", "5"], [10.94, 5], "number:eu:EUR"),
        (["$328.20", "$1,328.20"], [328.2, 1328.2], "number:en:$"),
        (["-$5.00", "($1,234.50)"], [-5, -1234.5], "number:en:$"),
        (["(1,234)", "5,678"], [-1234, 5678], "number:en"),
        (["1'234.50", "8"], [1234.5, 8], "number:en"),
        (["12,5 %", "3 %"], [12.5, 3], "number:eu:%"),
        (["12.5%", "3%"], [12.5, 3], "number:en:%"),
        (["− 1 234,5", "2"], [-1234.5, 2], "number:eu"),
    ],
)
def test_numbers_are_read_as_written(tmp_path, written, numbers, kind):
    assert read_column(tmp_path, written) == (numbers, kind)


@pytest.mark.parametrize(
    "written",
    [
        ["12,5 %", "3"],  # a share, or per cent?
        ["10 €", "$5"],  # two currencies
        ["732 829 320", "444 333 222"],  # numbers of companies
        ["01 23 45", "06 78 90"],  # of telephones
        ["12 rue", "3"],
        ["1 2345", "1"],
        ["1,234.5,6", "1"],
        ["(5", "6)"],
    ],
)
def test_other_texts_stay_text(tmp_path, written):
    assert read_column(tmp_path, written) == (written, "text")


def test_the_other_columns_decide_what_a_mark_means(tmp_path):
    undecided, said = ["1,234", "5,678"], "'1,234', which could be read in two ways"
    with pytest.warns(UserWarning, match=f"{said}: it is read as text"):
        assert read_column(tmp_path, undecided) == (undecided, "text")
    with pytest.warns(UserWarning, match=f"{said}: it is read as 1.234, by the other numbers"):
        assert read_column(tmp_path, undecided, b=["1,5", "2,75"])[0] == [1.234, 5.678]
    with pytest.warns(UserWarning, match=f"{said}: it is read as 1234, by the other numbers"):
        assert read_column(tmp_path, undecided, b=["1.5", "2.75"])[0] == [1234, 5678]
    with pytest.warns(UserWarning, match="'1.234', .* read as 1234, by the other numbers"):
        assert read_column(tmp_path, ["1.234", "15"], b=["1,5", "2,75"])[0] == [1234, 15]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_column(tmp_path, ["1.234", "15"])[0] == [1.234, 15], "as everybody reads it"


def test_a_later_file_is_read_as_the_first(tmp_path):
    first = read_table(write(tmp_path, {"a": ["1 234,56 €", "5 €"], "b": ["1,5", "2"]}))
    later = write(tmp_path, {"a": ["7,25 €", "8"], "b": ["1 234,5", "2.5"]}, name="later.csv")
    table = read_table(later, like=first)
    assert table["a"].tolist() == [7.25, 8]
    assert table["b"].tolist() == [1234.5, 2.5]
    for a, b in (("$5", "1"), ("1,234.5", "1"), ("1", "1.234")):
        bad = write(tmp_path, {"a": ["1", a], "b": ["1", b]}, name="bad.csv")
        value = a if b == "1" else b
        with pytest.raises(ValueError, match=rf"has '{value.replace('$', '.')}' in row 3, where"):
            read_table(bad, like=first)


def test_pieces_are_read_as_the_first_one(tmp_path):
    path = write(tmp_path, {"a": ["1,5", "2,5", "1 234,5", "7"]})
    values = [value for part in read_chunks(path, 2) for value in part["a"]]
    assert values == [1.5, 2.5, 1234.5, 7]


def test_dates_of_the_first_days_are_decided_by_the_other_columns(tmp_path):
    early = ["03/04/2026", "05/06/2026"]
    with pytest.warns(
        UserWarning, match="'03/04/2026', .* two ways: it is read as text. Say --date"
    ):
        assert read_column(tmp_path, early)[1] == "text"
    with pytest.warns(UserWarning, match="it is read as %d/%m/%Y, as the other dates"):
        days, kind = read_column(tmp_path, early, b=["31/01/2026", "01/02/2026"])
    assert kind == "date:%d/%m/%Y"
    assert days[0] == pd.Timestamp("2026-04-03")
    with pytest.warns(UserWarning, match="it is read as %m/%d/%Y"):
        days, _ = read_column(tmp_path, early, b=["01/31/2026 10:00", "02/01/2026 11:00"])
    assert days[0] == pd.Timestamp("2026-03-04")


@pytest.mark.parametrize(
    ("written", "asked", "day"),
    [
        ("03/04/2026", "%d/%m/%Y", "2026-04-03"),
        ("03/04/2026", "%m/%d/%Y", "2026-03-04"),
        ("03/04/2026 10:15", "%d/%m/%Y", "2026-04-03 10:15"),
        ("03/04/26", "%d/%m/%y", "2026-04-03"),
        ("3 avr", "%d/%m/%Y", None),
    ],
)
def test_a_date_format_can_be_asked_for(tmp_path, written, asked, day):
    table = read_table(write(tmp_path, {"a": [written], "b": ["x"]}), date_format=asked)
    assert table["a"].iloc[0] == (written if day is None else pd.Timestamp(day))
    assert table["b"].iloc[0] == "x"


def test_the_euro_of_windows_is_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1\u00a0234,50 €;œuvre\n", encoding="cp1252")
    table = read_table(path)
    assert table["a"].tolist() == [1234.5]
    assert table["b"].tolist() == ["œuvre"]

import csv
import datetime as dt
import gzip
import io
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.data import TableEncoder, check_target, load_keel, read_chunks, read_table

ROWS = [["name", "amount"], ["Ann, B.", "1.5"], ['say "no"', "2"], ["two\nlines", "-3e2"]]


def write(folder, name, text, encoding="utf-8"):
    data = text.encode(encoding)
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def delimited(rows, separator=",", **how):
    file = io.StringIO()
    csv.writer(file, delimiter=separator, **how).writerows(rows)
    return file.getvalue()


def types(table):
    return table.attrs["rarefind_types"]


# Delimited text --------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "T.CSV"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_any_separator_quoted_or_packed(tmp_path, separator, name, quoting):
    path = write(tmp_path, name, delimited(ROWS, separator, quoting=quoting))
    table = read_table(str(path))
    assert table["name"].tolist() == ["Ann, B.", 'say "no"', "two\nlines"]
    assert table["amount"].tolist() == [1.5, 2, -300]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_encodings(tmp_path, encoding):
    path = write(tmp_path, "t.csv", "né,à\n1,ç\n2,é\n", encoding)
    table = read_table(path)
    assert table.columns.tolist() == ["né", "à"]
    assert table["à"].tolist() == ["ç", "é"]
    assert pd.concat(read_chunks(path, rows=1))["à"].tolist() == ["ç", "é"]


def test_one_byte_far_down_makes_the_whole_file_latin_1(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 5000 + "2,é\n".encode("latin-1"))
    assert read_table(path)["b"].iloc[-1] == "é"


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=6)


@given(
    st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
)
@settings(max_examples=100)
def test_fields_come_back_as_written(tmp_path_factory, rows, separator):
    # A word in each field keeps the columns text, and none of them missing.
    rows = [[f"w{field}w" for field in row] for row in rows]
    text = delimited([["a", "b", "c"], *rows], separator, quoting=csv.QUOTE_ALL)
    path = write(tmp_path_factory.mktemp("t"), "t.csv", text)
    assert read_table(path).to_numpy().tolist() == rows


def test_odd_headers(tmp_path):
    assert read_table(write(tmp_path, "a.csv", "\n\n a , b\n1,2\n")).columns.tolist() == ["a", "b"]
    assert read_table(write(tmp_path, "b.csv", ",b\n1,2\n")).columns.tolist() == ["column 1", "b"]
    assert read_table(write(tmp_path, "c.csv", "a\n1\n2\n"))["a"].tolist() == [1, 2]
    two_lines = read_table(write(tmp_path, "d.csv", '"a\nb",c\n1,2\n'))
    assert two_lines.columns.tolist() == ["a\nb", "c"]
    assert two_lines.to_numpy().tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1", "+2", "-3"], "integer", [1, 2, -3]),
        (["1", "", "3"], "integer", [1, None, 3]),
        (["0", "1", "0"], "integer", [0, 1, 0]),
        (["1.5", "NA", "1e3", ".5", "-inf"], "number", [1.5, None, 1000, 0.5, -math.inf]),
        (["3,14", "2"], "number,", [3.14, 2]),
        (["1,234", "2"], "text", ["1,234", "2"]),
        (["01", "10"], "text", ["01", "10"]),
        (["1234567890123456789"], "text", ["1234567890123456789"]),
        (["123456789012345678", "null"], "text", ["123456789012345678", None]),
        (["true", "FALSE", ""], "boolean", [True, False, None]),
        (["yes", "No"], "boolean", [True, False]),
        (["yes", "false"], "text", ["yes", "false"]),
        (["y", "n"], "text", ["y", "n"]),
        (["?", "", "NaN"], "missing", [None, None, None]),
        (["a ", "N/A", "None"], "text", ["a", None, None]),
        (["0x1F"], "text", ["0x1F"]),
    ],
)
def test_types_of_words_and_numbers(tmp_path, values, kind, expected):
    table = read_table(
        write(tmp_path, "t.csv", delimited([["c", "d"], *([v, "x"] for v in values)]))
    )
    assert types(table)["c"] == kind
    assert [None if pd.isna(v) else v for v in table["c"]] == expected


@pytest.mark.parametrize(
    ("values", "form", "first"),
    [
        (["2026-03-01", "", "2026-12-31"], "ISO8601", "2026-03-01"),
        (["2026-03-01", "2026-12-31 10:11"], "ISO8601", "2026-03-01"),
        (["2026-03-01T10:11:12.5"], "ISO8601", "2026-03-01 10:11:12.5"),
        (["2026-03-01T10:00:00Z", "2026-03-01T10:00+02:00"], "ISO8601%z", "2026-03-01 10:00Z"),
        (["2026/03/01"], "%Y/%m/%d", "2026-03-01"),
        (["01/03/2026", "31/03/2026"], "%d/%m/%Y", "2026-03-01"),
        (["03/01/2026", "03/31/2026"], "%m/%d/%Y", "2026-03-01"),
        (["1-3-2026 9:05", "31-3-2026 10:00"], "%d-%m-%Y %H:%M", "2026-03-01 09:05"),
        (["1.3.2026"], "%d.%m.%Y", "2026-03-01"),
        (["3/13/2026 2:30 PM"], "%m/%d/%Y %I:%M %p", "2026-03-13 14:30"),
    ],
)
def test_types_of_dates(tmp_path, values, form, first):
    table = read_table(
        write(tmp_path, "t.csv", delimited([["c", "d"], *([v, "x"] for v in values)]))
    )
    assert types(table)["c"] == f"date:{form}"
    assert table["c"].iloc[0] == pd.Timestamp(first)


@pytest.mark.parametrize(
    "values",
    [["01/02/2026", "03/04/2026"], ["2026-13-45"], ["1.2.3"], ["31/12/25"], ["31/12/2026", "soon"]],
)
def test_what_is_no_sure_date_stays_text(tmp_path, values):
    table = read_table(
        write(tmp_path, "t.csv", delimited([["c", "d"], *([v, "x"] for v in values)]))
    )
    assert types(table)["c"] == "text"
    assert table["c"].tolist() == values


def test_a_later_file_is_read_with_the_types_of_the_first(tmp_path):
    first = read_table(
        write(
            tmp_path, "a.csv", "day,code,size,member\n31/12/2025,A1,1.5,yes\n1/2/2026,12,2,maybe\n"
        )
    )
    later = write(tmp_path, "b.csv", "code,day,size,member,new\n12,2/1/2026,3,yes,x\n")
    for like in (first, types(first)):
        table = read_table(later, like=like)
        assert table["day"].iloc[0] == pd.Timestamp("2026-01-02")
        assert table["code"].iloc[0] == "12"
        assert table["size"].dtype == "float64"
        assert table["member"].iloc[0] == "yes"
    assert types(read_table(later, like=pd.DataFrame({"code": ["x"]})))["code"] == "text"
    bad = write(tmp_path, "c.csv", "day,size\n2/1/2026,3\n32/1/2026,4\n")
    with pytest.raises(ValueError, match="'day' has '32/1/2026' in row 3, where the other values"):
        read_table(bad, like=first)


# Other kinds of file ---------------------------------------------------------------------------

MIXED = pl.DataFrame(
    {
        "whole": [1, None, 3],
        "number": [1.5, None, 2.5],
        "text": ["a", None, "b"],
        "level": pl.Series(["u", "v", None], dtype=pl.Categorical),
        "flag": [True, None, False],
        "day": [dt.date(2026, 3, 1), None, dt.date(2026, 3, 2)],
        "time": [dt.datetime(2026, 3, 1, 12), None, dt.datetime(2026, 3, 2)],
    }
)


def mixed_file(folder, name):
    path = folder / name
    if name.endswith((".parquet", ".pq")):
        MIXED.write_parquet(path)
    elif name == "stream.arrow":
        MIXED.write_ipc_stream(path)
    else:
        MIXED.write_ipc(path)
    return path


@pytest.mark.parametrize(
    "name", ["t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc", "stream.arrow"]
)
def test_columnar_files_keep_their_types(tmp_path, name):
    path = mixed_file(tmp_path, name)
    table = read_table(path)
    assert list(types(table).values()) == [
        "number",
        "number",
        "text",
        "text",
        "boolean",
        "date:ISO8601",
        "date:ISO8601",
    ]
    encoder = TableEncoder().fit(MIXED)
    np.testing.assert_array_equal(encoder.transform(table), encoder.transform(MIXED))
    pieces = list(read_chunks(path, rows=2))
    assert [len(piece) for piece in pieces] == [2, 1]
    np.testing.assert_array_equal(
        np.vstack([encoder.transform(piece) for piece in pieces]), encoder.transform(MIXED)
    )


def test_an_index_in_parquet_is_a_column_or_nothing(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="id"))
    frame.to_parquet(tmp_path / "named.parquet")
    assert set(read_table(tmp_path / "named.parquet").columns) == {"a", "id"}
    frame.set_axis([5, 7]).to_parquet(tmp_path / "bare.parquet")
    assert read_table(tmp_path / "bare.parquet").columns.tolist() == ["a"]


KEEL = """@relation tiny
@attribute Size real [0.0, 9.0]
@attribute Colour {red, blue}
@attribute Class {positive, negative}
@inputs Size, Colour
@outputs Class
@data
1.5, red, negative
?, blue, negative
9.0, red, positive
"""


def test_keel_files(tmp_path):
    path = write(tmp_path, "t.dat", KEEL)
    table = read_table(path, target="Class")
    assert table["Size"].fillna(-1).tolist() == [1.5, -1, 9]
    assert table["Colour"].tolist() == ["red", "blue", "red"]
    assert check_target(table, "Class") == "positive"
    assert [len(piece) for piece in read_chunks(path, rows=2)] == [2, 1]


def test_keel_tables_go_through_a_file_unchanged(tmp_path):
    X, y = load_keel("abalone19", numeric=False)
    X.assign(y=y).to_csv(tmp_path / "t.csv.gz", index=False)
    table = read_table(tmp_path / "t.csv.gz", target="y")
    pd.testing.assert_frame_equal(table.drop(columns="y"), X, check_dtype=False)


# In pieces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, 20, 100])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_pieces_make_up_the_whole(tmp_path, rows, name):
    lines = [
        [str(i), f"{i % 28 + 1}/3/2026", "" if i % 3 else "yes", f"l\n{i % 4}"] for i in range(20)
    ]
    path = write(tmp_path, name, delimited([["i", "day", "flag", "text"], *lines]))
    whole = read_table(path)
    pieces = list(read_chunks(path, rows, like=whole))
    assert {len(piece) for piece in pieces[:-1]} <= {rows}
    assert all(types(piece) == types(whole) for piece in pieces)
    pd.testing.assert_frame_equal(pd.concat(pieces), whole, check_dtype=False)


def test_types_come_from_the_first_piece_unless_given(tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n1,\n2.5,x\nnone,y\n")
    pieces = read_chunks(path, rows=1)
    assert next(pieces)["a"].tolist() == [1]
    assert next(pieces)["b"].tolist() == ["x"]
    with pytest.raises(ValueError, match="'a' has 'none' in row 4"):
        next(pieces)
    text = {"a": "text", "b": "text"}
    assert [piece["a"].iloc[0] for piece in read_chunks(path, 1, text)] == ["1", "2.5", "none"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "stream.arrow", "t.dat"])
def test_pieces_of_some_columns(tmp_path, name):
    if name == "t.dat":
        path, columns = write(tmp_path, name, KEEL), ["Colour", "Size"]
    elif name == "t.csv":
        path, columns = write(tmp_path, name, "a;b;c\n1;x;2\n;y;3\n5;;4\n"), ["b", "a"]
    else:
        path = mixed_file(tmp_path, name)
        columns = list(read_table(path).columns[[3, 0]])
    whole = read_table(path)
    pieces = list(read_chunks(path, 2, like=whole, columns=columns))
    assert [piece.index.tolist() for piece in pieces] == [[0, 1], [2]]
    pd.testing.assert_frame_equal(pd.concat(pieces), whole[columns], check_dtype=False)
    with pytest.raises(ValueError, match="has no columns 'other', 'than': add them"):
        read_chunks(path, columns=[columns[0], "other", "than"])


# Mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", r"t\.csv is empty: it needs a line of column names"),
        ("t.csv", " \n\n", r"t\.csv is empty"),
        ("t.csv.gz", "", r"t\.csv\.gz is empty"),
        ("t.parquet", "", r"t\.parquet is empty"),
        ("t.csv", "a,b\n", "has a header but no rows"),
        ("t.csv", "a,b\n1,2\n3\n", "Line 3 of .* has 1 field where the header has 2"),
        ("t.csv", 'a,b\n"1\n\n2",2\n3,4,5\n', "Line 5 of .* has 3 fields where the header has 2"),
        ("t.txt", "a|b|c\n\n1|2|3\n1|2\n", "Line 4 of .* 2 fields .* 3: .* separator '|'"),
        ("t.csv", "a,b,a,b\n1,2,3,4\n", "more than one column named 'a', 'b': give each"),
        ("t.doc", "PK", r"is not of a known kind: its name should end in one of \.csv"),
        ("t.xlsx", "PK", "is not a complete Excel file"),
        ("t", "a,b\n1,2\n", "is not of a known kind"),
        ("t.parquet.gz", "x", "is not of a known kind"),
        ("t.parquet", "not columnar at all", "is not a complete parquet file: write it again"),
        ("t.arrow", "not columnar at all", "is not a complete arrow file: write it again"),
        ("t.dat", "a,b\n1,2\n", "is not a KEEL file, for it has no line @data"),
        ("t.dat", KEEL + "1.0, red\n", "Line 11 of .* has 2 fields where the header names 3"),
        ("t.dat", KEEL.partition("1.5")[0], "has a header but no rows"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, name, text, message):
    path = write(tmp_path, name, text)
    with pytest.raises(ValueError, match=message) as found:
        read_table(path)
    assert "\n" not in str(found.value)
    with pytest.raises(ValueError, match=message):
        list(read_chunks(path))


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*gone\.csv: check the name"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(ValueError, match="is a folder: name one file inside"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="at least one row, but rows=0"):
        read_chunks(tmp_path / "gone.csv", rows=0)


def test_damaged_gzip_files(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + bytes(range(48, 58)) * 500)[:-12])
    with pytest.raises(ValueError, match="is not a complete gzip file"):
        read_table(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a complete gzip file"):
        read_table(path)


def test_columnar_files_are_checked_as_others(tmp_path):
    MIXED[:0].write_parquet(tmp_path / "none.parquet")
    MIXED[:0].write_ipc(tmp_path / "none.arrow")
    for name in ("none.parquet", "none.arrow"):
        with pytest.raises(ValueError, match="has a header but no rows"):
            read_table(tmp_path / name)
    twice = pa.table([[1], [2]], names=["a", "a"])
    with pa.ipc.new_file(str(tmp_path / "twice.arrow"), twice.schema) as writer:
        writer.write_table(twice)
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        read_table(tmp_path / "twice.arrow")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("frad", "There is no column 'frad': did you mean 'fraud'"),
        ("zzzz", "There is no column 'zzzz': the columns are fraud, kind, same, partial"),
        ("kind", r"'kind' holds 3 values \('a', 'b', 'c'\), where two labels are needed"),
        ("same", r"'same' holds 1 value \(7\), where two labels are needed"),
        ("partial", "'partial' has no label in 1 of 3 rows: fill them in"),
    ],
)
def test_bad_targets_get_a_sentence(tmp_path, target, message):
    path = write(tmp_path, "t.csv", "fraud,kind,same,partial\n0,a,7,1\n0,b,7,\n1,c,7,0\n")
    assert len(read_table(path, target="fraud")) == 3
    with pytest.raises(ValueError, match=message):
        read_table(path, target=target)


def test_many_labels_are_counted_and_a_few_named():
    with pytest.raises(ValueError, match=r"holds 40 values \((\d+, ){5}\.\.\.\)"):
        check_target(pd.DataFrame({"y": range(40)}), "y")


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        ([0, 0, 1], None, 1),
        ([0, 1, 1], None, 0),
        ([0, 1], None, 1),
        (["b", "a"], None, "b"),
        ([True, False, False], None, True),
        ([0, 0, 1], 0, 0),
        ([0, 0, 1], "0", 0),
        ([0.0, 0.0, 1.0], "1", 1.0),
        ([True, False, False], "no", False),
        ([True, False], "yes", True),
        (["Fraud", "ok"], "fraud", "Fraud"),
        (["a", "A"], "a", "a"),
    ],
)
def test_the_positive_label(labels, positive, expected):
    found = check_target(pd.DataFrame({"y": labels}), "y", positive)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("positive", ["fraud", 2, "2", "yes"])
def test_a_positive_label_that_is_not_there(positive):
    with pytest.raises(ValueError, match=f"no label {positive!r}: its labels are 0 and 1"):
        check_target(pd.DataFrame({"y": [0, 0, 1]}), "y", positive)


def test_labels_of_text_and_numbers_are_refused():
    table = pd.DataFrame({"fraud": pd.Series([1, "no", "no"], dtype=object)})
    with pytest.raises(ValueError, match="mixes text and other labels"):
        check_target(table, "fraud")

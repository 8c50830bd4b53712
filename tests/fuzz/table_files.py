"""Files of tables, damaged: each is read, twice the same, or refused in a sentence."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from fuzz.byte_mutations import CELLS, mutate_bytes, mutate_text
from fuzz.verdicts import HONEST, READ, REFUSED, WrongError, check_sentence, name_of

_ROWS = 50
# So few that the rows of a piece come from several groups, and a group makes several pieces.
_PIECE = 7


class TableKind(NamedTuple):
    """A kind of table file."""

    name: str
    path: Path

    @property
    def group(self) -> str:
        """By the library that reads it."""
        return self.name.partition("-")[0]

    def write_mutant(self, seed: int, number: int, path: Path) -> str:
        """Damage the file; of a packed one also what is in it, packed again."""
        data, what = self.path.read_bytes(), ""
        if number != HONEST:
            rng = np.random.default_rng([seed, number, zlib.crc32(self.name.encode())])
            change = mutate_bytes if rng.random() < 0.4 else _INSIDE[self.group]
            data, what = change(data, rng)
        path.write_bytes(data)
        return what

    def judge(self, path: Path, say: Callable[[str], None]) -> str:
        """Read it in all ways there are."""
        return judge_table(path, say)


def judge_table(path: Path, say: Callable[[str], None]) -> str:
    """The verdict on one file: all ways to read it raise a sentence, or agree."""
    from rarefind.data import read_chunks, read_table
    from rarefind.data.read import about_rows, file_columns, file_rows, row_numbers

    warnings.simplefilter("ignore")
    ways: dict[str, Callable[[Path], Any]] = {
        "file_columns": file_columns,
        "file_rows": file_rows,
        "about_rows": about_rows,
        "row_numbers": lambda path: row_numbers(path).of([0]),
        "read_chunks": lambda path: list(read_chunks(path, _PIECE)),
        "read_table": read_table,
    }
    found = {}
    for name, read in ways.items():
        say(name)
        try:
            found[name] = read(path)
        except ValueError as error:
            # An error of one value names its column and row.
            check_sentence(str(error), None if "olumn" in str(error) else path.name)
        except BaseException as error:
            raise WrongError(f"{name} raised {name_of(error)}") from error
    if "read_table" not in found:
        return REFUSED
    say("values")
    _check_same(found["read_table"], read_table(path))
    _check_counts(found)
    return READ


def _check_same(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Every value is touched: one that lies outside of the file would crash or differ."""
    if first.attrs != second.attrs or first.map(str).to_csv() != second.map(str).to_csv():
        raise WrongError("read_table differs between two calls")


def _check_counts(found: dict[str, Any]) -> None:
    table = found["read_table"]
    if found.get("file_columns", list(table.columns)) != list(table.columns):
        raise WrongError("file_columns are not those of the table")
    if found.get("file_rows") not in (None, len(table)):
        raise WrongError("file_rows are not those of the table")
    pieces = found.get("read_chunks")
    if pieces is not None and sum(map(len, pieces)) != len(table):
        raise WrongError("the pieces have other rows than the table")


def table_kinds(folder: Path) -> list[TableKind]:
    """Honest files of every kind that is read, which are written if the folder has none."""
    if not any(folder.iterdir()):
        for name, data in _honest_files():
            (folder / name).write_bytes(data)
    return [
        TableKind(path.name.replace(".", "-", 1).replace("_", "-"), path)
        for path in sorted(folder.iterdir())
    ]


def _honest_files() -> Iterator[tuple[str, bytes]]:
    """By ``library_form.ending``: the library that reads it, what is special about it."""
    plain, office = _text(","), _text(";", comma=True)
    yield "text_plain.csv", plain.encode()
    yield "text_office.csv", office.encode("cp1252")
    yield "text_utf16.tsv", _text("\t").encode("utf-16")
    yield "packed_plain.csv.gz", gzip.compress(plain.encode(), mtime=0)
    yield "keel_plain.dat", _keel().encode()
    table = _arrow_table()
    yield "arrow_file.arrow", _ipc(table, pa.ipc.new_file)
    yield "arrow_stream.arrow", _ipc(table, pa.ipc.new_stream)
    yield "arrow_packed.feather", _feather(table)
    for form, options in _PARQUET.items():
        out = io.BytesIO()
        pa.parquet.write_table(table.drop_columns("view"), out, row_group_size=20, **options)
        yield f"parquet_{form}.parquet", out.getvalue()
    yield "excel_plain.xlsx", _workbook()


_PARQUET: dict[str, dict[str, Any]] = {
    "plain": {"compression": "none", "use_dictionary": False},
    "levels": {"compression": "snappy"},
    "pages": {"compression": "zstd", "data_page_version": "2.0", "data_page_size": 100},
}


def _text(separator: str, comma: bool = False) -> str:
    lines = [separator.join(["id", "amount", "country", "when", "new", "note"])]
    for i in range(_ROWS):
        amount = f"{i * 3.7 + 1000:.2f}"
        when = f"{1 + i % 28:02}/{1 + i % 12:02}/2026" if comma else f"2026-01-{1 + i % 28:02}"
        note = f'"a{separator} ""b""\n{i}"' if i % 9 == 4 else f"é{i}"
        cells = [f"c{i}", amount.replace(".", ",") if comma else amount, "FR" if i % 3 else ""]
        lines.append(separator.join([*cells, when, "yes" if i % 4 else "no", note]))
    return ("\r\n" if comma else "\n").join(lines) + "\n"


def _keel() -> str:
    head = [
        *("@relation payments", "@attribute amount real [0.0, 99.0]"),
        *("@attribute country {FR, BE}", "@attribute Class {positive, negative}"),
        *("@inputs amount, country", "@outputs Class", "@data"),
    ]
    rows = [
        f"{i * 1.5}, {'FR' if i % 2 else 'BE'}, {'nega' if i % 7 else 'posi'}tive"
        for i in range(_ROWS)
    ]
    return "\n".join([*head, *rows]) + "\n"


def _arrow_table() -> Any:
    texts = [f"text {i}" for i in range(_ROWS)]
    some = [f"t{i % 3}" if i % 5 else None for i in range(_ROWS)]
    return pa.table(
        {
            "id": pa.array(texts),
            "n": pa.array(range(_ROWS)),
            "amount": pa.array(np.arange(_ROWS) / 4),
            "some": pa.array(some, pa.large_string()),
            "level": pa.array(some).dictionary_encode(),
            "new": pa.array([i % 2 == 0 for i in range(_ROWS)]),
            "when": pa.array(pd.date_range("2026", periods=_ROWS, tz="Europe/Paris")),
            "day": pa.array(pd.date_range("2026", periods=_ROWS).date),
            "hour": pa.array(range(_ROWS), pa.time64("us")),
            "lasts": pa.array(range(_ROWS), pa.duration("ms")),
            "bytes": pa.array([text.encode() for text in texts]),
            "price": pa.array(range(_ROWS)).cast(pa.decimal128(24, 2)),
            "view": pa.array(
                [f"a string of some length {i}" for i in range(_ROWS)], pa.string_view()
            ),
        }
    )


def _ipc(table: Any, opening: Any) -> bytes:
    out = io.BytesIO()
    with opening(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=20)
    return out.getvalue()


def _feather(table: Any) -> bytes:
    out = io.BytesIO()
    pa.feather.write_feather(table, out, compression="lz4", chunksize=20)
    return out.getvalue()


def _workbook() -> bytes:
    import xlsxwriter

    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"default_date_format": "dd/mm/yyyy"}) as book:
        book.set_properties({"created": dt.datetime(2026, 1, 1)})
        sheet = book.add_worksheet("May")
        sheet.write_row(0, 0, ["id", "amount", "when", "new", "note"])
        for i in range(_ROWS):
            when = pd.Timestamp("2026-05-01") + pd.Timedelta(i, "D")
            sheet.write_row(i + 1, 0, [f"c{i}", i * 1.5, when.to_pydatetime(), i % 2 == 0, f"é{i}"])
        book.add_worksheet("June").write_row(0, 0, ["id"])
    return out.getvalue()


def _in_text(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """Other cells; now and then in an encoding that the rest is not in."""
    encoding = "utf-16" if data.startswith(b"\xff\xfe") else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding, text = "cp1252", data.decode("cp1252")
    text, what = mutate_text(text, rng, CELLS)
    if rng.random() < 0.1:
        encoding = ["utf-8", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252"][rng.integers(6)]
        what += f"; in {encoding}"
    return text.encode(encoding, errors="ignore"), what


def _in_packed(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    inner = mutate_bytes if rng.random() < 0.3 else _in_text
    changed, what = inner(gzip.decompress(data), rng)
    return gzip.compress(changed, mtime=0), f"inside: {what}"


def _in_workbook(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """A part of the archive changed, and all packed again with the right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheets = [name for name in members if "sheet" in name or "haredStrings" in name]
    name = str(rng.choice(sheets if rng.random() < 0.7 else list(members)))
    how = rng.random()
    if how < 0.1:
        members.pop(name)
        what = "removed"
    elif how < 0.4:
        members[name], what = mutate_bytes(members[name], rng)
    else:
        text, what = mutate_text(members[name].decode(), rng, _XML)
        members[name] = text.encode(errors="ignore")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, content in members.items():
            archive.writestr(zipfile.ZipInfo(other), content)
    return out.getvalue(), f"{name}: {what}"


_XML = [
    *("<", ">", "/>", '"', "&", "&#0;", "&lol;", "]]>", "<!--", "<c>", "</row>", "<row>", "\0"),
    *(
        'r="XFD1048576"',
        'r="A1048576"',
        'r="A0"',
        'r=""',
        'r="ZZZZZZZ99999999999"',
        'ref="A1:XFD1048576"',
    ),
    *(
        't="s"',
        't="e"',
        't="d"',
        't="b"',
        "<v>99999999</v>",
        "<v>-1</v>",
        "<v>1e999</v>",
        "<v>nan</v>",
    ),
    *('<c r="B9" t="s"><v>4000000000</v></c>', '<c r="XFD1048576"><v>1</v></c>', "A" * 3000),
    *('<!DOCTYPE x [<!ENTITY lol "lol">]>', '<row r="4294967296">', '<c r="C2"><v>1e15</v></c>'),
]
#: How what is inside is changed, by the group; of columnar files there is nothing but bytes.
_INSIDE: dict[str, Any] = {
    "text": _in_text,
    "keel": _in_text,
    "packed": _in_packed,
    "excel": _in_workbook,
    "arrow": mutate_bytes,
    "parquet": mutate_bytes,
}

"""Lists as files: for people, for spreadsheets and for machines."""

from __future__ import annotations

import csv
import io
import json
import locale
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rarefind._core.extras import extra
from rarefind._core.files import atomic_write
from rarefind.tables.cells import safe_cells

LIST_KINDS = (".csv", ".xlsx", ".parquet", ".json")
# What Excel holds in a sheet, and in a cell.
_MOST_ROWS, _MOST_LETTERS = 1_048_575, 32_767
_WIDEST = 60  # characters of a column on the screen


def write_list(
    listed: pd.DataFrame,
    path: str | Path,
    *,
    for_excel: bool = False,
    decimal_comma: bool | None = None,
) -> None:
    """Write a list of rows to check, whole or not at all.

    Parameters
    ----------
    listed : DataFrame
        From :func:`rank_file` or :meth:`TableModel.rank <rarefind.TableModel.rank>`.
    path : str or Path
        Its ending says how: ``.csv``, ``.xlsx``, ``.parquet`` or ``.json``. Excel files need
        ``pip install 'rarefind[excel]'``.
    for_excel : bool, default=False
        Write text so that Excel opens it by a double click: marked as UTF-8, and where decimals
        have a comma, with semicolons between the cells.
    decimal_comma : bool, default=None
        Whether they have, with ``for_excel``; by default as the system's locale says.

    Notes
    -----
    In text, a text that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-``,
    ``@``, a tab or a new line) has an apostrophe before it. In Excel files texts are texts, and
    never formulas.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from rarefind.tables import write_list
    >>> listed = pd.DataFrame({"claim": ["=1+1", "C2"], "priority": [-0.5, 0.25]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_list(listed, Path(folder) / "list.csv")
    ...     print((Path(folder) / "list.csv").read_text())
    claim,priority
    '=1+1,-0.5
    C2,0.25
    """
    path = Path(path)
    kind = check_list_kind(path, for_excel=for_excel)
    with atomic_write(path) as part:
        if kind == ".csv":
            _write_text(listed, part, for_excel, decimal_comma)
        elif kind == ".xlsx":
            part.write_bytes(_excel(listed))
        elif kind == ".parquet":
            listed.to_parquet(part, index=False)
        else:
            part.write_text(json.dumps(records(listed), indent=2), encoding="utf-8")


def check_list_kind(path: Path, *, for_excel: bool = False) -> str:
    """The ending of a list's file; one that is not written is an error."""
    kind = path.suffix.lower()
    if kind not in LIST_KINDS:
        raise ValueError(f"{path} should end in {', '.join(LIST_KINDS)}: lists are of these kinds.")
    if for_excel and kind != ".csv":
        raise ValueError(
            f"{path} is not a .csv: only text is written in a way of its own for Excel."
        )
    if kind == ".xlsx":
        with extra("excel", "An Excel file"):
            import xlsxwriter  # noqa: F401
    return kind


def records(listed: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a list as plain values; times with an offset keep it."""

    def plain(value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime) and not pd.isna(value) else value

    zoned = {
        str(name): column.astype(object).map(plain)
        for name, column in listed.items()
        if isinstance(column.dtype, pd.DatetimeTZDtype) or column.dtype == object
    }
    text = listed.assign(**zoned).to_json(orient="records", date_format="iso", double_precision=15)
    return list(json.loads(text))


def has_decimal_comma(types: Mapping[str, str]) -> bool:
    """Whether decimals have a comma: in the file that a model learned from, or by the locale."""
    written = {kind for kind in types.values() if kind.startswith("number")}
    if any(kind == "number," or kind.startswith("number:eu") for kind in written):
        return True
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, "")
        return locale.localeconv()["decimal_point"] == ","
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def _write_text(
    listed: pd.DataFrame, path: Path, for_excel: bool, decimal_comma: bool | None
) -> None:
    cells = safe_cells(listed)
    how: dict[str, Any] = {}
    if for_excel:
        comma = has_decimal_comma({}) if decimal_comma is None else decimal_comma
        how |= {"encoding": "utf-8-sig", "lineterminator": "\r\n"}
        how |= {"sep": ";", "decimal": ","} if comma else {}
    elif _has_returns(cells):
        # Where a return is not in the line's end, it would not be quoted, and end the row.
        how["quoting"] = csv.QUOTE_NONNUMERIC
    cells.to_csv(path, index=False, **how)


def _has_returns(cells: pd.DataFrame) -> bool:
    texts = [column for _, column in cells.select_dtypes(include=["object", "string"]).items()]
    names = pd.Series([str(name) for name in cells.columns], dtype=object)
    return any(text.astype(str).str.contains("\r", regex=False).any() for text in [names, *texts])


def _excel(listed: pd.DataFrame) -> bytes:
    """A workbook with one sheet, whose first row stays in view."""
    import xlsxwriter

    if len(listed) > _MOST_ROWS:
        raise ValueError(
            f"An Excel sheet has room for {_MOST_ROWS:,} rows, and the list has {len(listed):,}: "
            "write a .csv or .parquet, or lower the budget."
        )
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, "remove_timezone": False}) as book:
        sheet = book.add_worksheet("list")
        head = book.add_format({"bold": True, "bottom": 1})
        forms = {
            "date": book.add_format({"num_format": "yyyy-mm-dd"}),
            "time": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        for at, (name, column) in enumerate(listed.items()):
            sheet.write_string(0, at, str(name), head)
            values = column.tolist()
            for row, value in enumerate(values, start=1):
                _write_cell(sheet, row, at, value, forms)
            widest = max(map(len, map(str, [name, *values[:100]])))
            sheet.set_column(at, at, min(widest + 2, _WIDEST))
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, len(listed), max(0, listed.shape[1] - 1))
    return file.getvalue()


def _write_cell(sheet: Any, row: int, at: int, value: Any, forms: dict[str, Any]) -> None:
    """A cell of its type; texts are texts, whatever they begin with."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return
    if isinstance(value, bool | np.bool_):
        sheet.write_boolean(row, at, bool(value))
    elif isinstance(value, int | float | np.number) and np.isfinite(value):
        # Beyond 15 digits Excel would round, which makes another number of an account.
        if isinstance(value, int | np.integer) and abs(int(value)) >= 10**15:
            sheet.write_string(row, at, str(value))
        else:
            sheet.write_number(row, at, float(value))
    elif isinstance(value, date) and getattr(value, "tzinfo", None) is None and value.year >= 1900:
        timed = isinstance(value, datetime) and value != datetime.combine(
            value, datetime.min.time()
        )
        sheet.write_datetime(row, at, value, forms["time" if timed else "date"])
    else:
        sheet.write_string(row, at, str(value)[:_MOST_LETTERS])

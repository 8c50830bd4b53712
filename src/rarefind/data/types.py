"""What a column of text holds (numbers, booleans, dates or words), found out once and kept."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rarefind.data._dates import date_format, is_undecided_date, to_dates, to_instants
from rarefind.data._office_numbers import PREFIX, is_undecided, office_type, plain_numbers_of
from rarefind.data.row_numbers import RowError, position_of

# One word a column: "integer", "number", "number,", "number:STYLE:UNIT", "boolean", "text",
# "missing" or "date:FORMAT".
Types: TypeAlias = dict[str, str]
Text: TypeAlias = Any  # an Arrow array of strings: pyarrow is untyped

#: Where a table that was read keeps its types.
TYPES = "rarefind_types"

MISSING_WORDS = (
    "",
    "?",
    "#N/A",
    "#NA",
    "<NA>",
    "<null>",
    "N/A",
    "n/a",
    "NA",
    "NULL",
    "null",
    "NaN",
    "nan",
    "None",
    "NaT",
)
_PLURAL = {
    "number": "numbers",
    "number,": "numbers, as 1234,56",
    "integer": "numbers",
    "boolean": "true and false",
}
TRUE_WORDS = ("true", "yes")
FALSE_WORDS = ("false", "no")

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^-?inf$"
_INTEGER = r"^[+-]?\d+$"
_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?$"
_WHOLE_OR_THOUSANDS = r"^[+-]?\d+$|^[+-]?\d{1,3}(,\d{3})+$"
# Post codes, accounts: no number is written with a zero first, or beyond what 64 bits hold.
CODE = r"^[+-]?0\d|^[+-]?\d{19,}$"
_GLANCE = 100
_LONGEST_SHOWN = 100


class OtherTypeError(RowError):
    """A value of another type than the others of its column, at a position from 0."""

    def __init__(self, after: str, column: str, expected: str, value: Any, position: int) -> None:
        value = value.item() if isinstance(value, np.generic) else value
        super().__init__(f"Column {column!r} has {_shortened(value)} in", position, after)
        self.column, self.expected, self.value = column, expected, value


def _shortened(value: Any) -> str:
    shown = repr(value)
    return (
        shown if len(shown) <= _LONGEST_SHOWN else f"{shown[: _LONGEST_SHOWN - 20]} … {shown[-9:]}"
    )


def clean(text: Text) -> Text:
    """Text without spaces around it, and null where it says that nothing is known."""
    trimmed = pc.utf8_trim_whitespace(text)
    missing = pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS, type=trimmed.type))
    return pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed)


class Hints(NamedTuple):
    """What the rest of a file, or its reader, says of values that could be read in two ways.

    Attributes
    ----------
    decimal : str or None
        The mark of decimals, a point or a comma.
    day_first : bool or None
        Whether dates have the day before the month.
    date_format : str or None
        How dates are written, which was asked for.
    """

    decimal: str | None = None
    day_first: bool | None = None
    date_format: str | None = None


def infer_type(text: Text, hints: Hints = Hints()) -> str:  # noqa: B008 (it cannot be changed)
    """The one type that all known values of cleaned text have."""
    if text.null_count == len(text):
        return "missing"
    number = _number_type(text, hints.decimal)
    if number:
        return number
    lower = pc.utf8_lower(text)
    if any(_all(_among(lower, pair)) for pair in zip(TRUE_WORDS, FALSE_WORDS, strict=True)):
        return "boolean"
    dates = date_format(text.to_pandas(), hints.day_first, hints.date_format)
    return f"date:{dates}" if dates else "text"


def hints_of(types: Types, hints: Hints) -> Hints:
    """What the columns of a file whose type is certain say of the others."""
    marks = {_decimal_mark(kind) for kind in types.values()} - {None}
    orders = {kind.index("%d") < kind.index("%m") for kind in types.values() if _is_ordered(kind)}
    return Hints(
        hints.decimal or (marks.pop() if len(marks) == 1 else None),
        hints.day_first if hints.day_first is not None or len(orders) != 1 else orders.pop(),
        hints.date_format,
    )


def is_doubtful(text: Text, kind: str) -> bool:
    """Whether cleaned text of a type could be read in another way, which the file may decide."""
    if kind == "text":
        glance = text.slice(0, _GLANCE)
        return is_undecided(text) or (
            is_undecided_date(glance.to_pandas()) and is_undecided_date(text.to_pandas())
        )
    return kind == "number" and is_undecided(text)


def _decimal_mark(kind: str) -> str | None:
    if kind == "number" or kind.startswith(f"{PREFIX}en"):
        return "."
    return "," if kind == "number," or kind.startswith(f"{PREFIX}eu") else None


def _is_ordered(kind: str) -> bool:
    """Whether a type says which of day and month comes first, where both may."""
    return "%d" in kind and "%m" in kind and not kind.startswith("date:%Y")


def convert(text: Text, kind: str, column: str, start: int = 0) -> pd.Series[Any]:
    """Cleaned text as a column of a type; a value that does not fit is an error that names it."""
    fits = fits_type(text, kind)
    if not _all(fits):
        position = pc.index(fits, False).as_py()
        expected = in_words(kind)
        raise OtherTypeError(
            f", where the other values are {expected}: correct it, or let the types be found "
            "again.",
            column,
            expected,
            text[position].as_py(),
            start + position,
        )
    return _read_as(text, kind)


def in_words(kind: str) -> str:
    """Values of a type, in words."""
    if kind.startswith(PREFIX):
        style, _, unit = kind.removeprefix(PREFIX).partition(":")
        shown = "1 234,56" if style == "eu" else "1,234.56"
        return f"numbers, as {shown}{unit and f' {unit}'}"
    if kind.startswith("date:%"):
        return f"dates, as {kind.removeprefix('date:')}"
    return _PLURAL.get(kind, "dates")


def convert_fitting(text: Text, kind: str) -> pd.Series[Any]:
    """Cleaned text as a column of a type; a value that does not fit is missing."""
    return _read_as(pc.if_else(fits_type(text, kind), text, pa.scalar(None, text.type)), kind)


def first_not_a_number(column: pd.Series[Any]) -> tuple[Any, int]:
    """The first known value of a column that is not a number however it is written, and where.

    The first known value where each would be a number by itself.
    """
    known = column.dropna()
    for place, value in enumerate(known):
        alone = clean(pa.array([str(value)], pa.string()))
        if not isinstance(value, str) or _number_type(alone, None) is None:
            return value, position_of(known, place)
    return known.iloc[0], position_of(known, 0)


def types_of(table: pd.DataFrame) -> Types:
    """Types of a table: those it was read with, else those its columns show."""
    read_with: Types = table.attrs.get(TYPES, {})
    return {
        str(name): read_with.get(str(name)) or _type_of_dtype(table[name].dtype)
        for name in table.columns
    }


def from_arrow(table: Any) -> pd.DataFrame:
    """An Arrow table in pandas: each column a plain NumPy or text type, no index hidden in it."""
    kept = [i for i, name in enumerate(table.column_names) if not name.startswith("__index_level_")]
    table = table.select(kept)
    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) or pa.types.is_null(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64()))
        elif pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, _signed_codes(table.column(i)))
    frame = _in_pandas(table)
    for i, field in enumerate(table.schema):
        if pa.types.is_boolean(field.type) and table.column(i).null_count:
            frame[field.name] = frame[field.name].astype("boolean")
    return frame


def _in_pandas(table: Any) -> pd.DataFrame:
    options = {"date_as_object": False, "ignore_metadata": True}
    try:
        return table.to_pandas(**options)
    except (pa.ArrowException, UnicodeDecodeError):
        for name in table.column_names:  # Arrow does not say which
            try:
                table.select([name]).to_pandas(**options)
            except (pa.ArrowException, UnicodeDecodeError) as error:
                raise ValueError(
                    f"Column {name!r} cannot be read ({_reason(error)}): write it again as text, "
                    "numbers or dates."
                ) from None
        raise


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0].rstrip(".")


def without_views(table: Any) -> Any:
    """An Arrow table with plain text: of polars' views Arrow cannot take some rows."""
    for i, field in enumerate(table.schema):
        # The name, as Arrow 16 has no test of its own.
        if str(field.type) == "string_view":
            table = table.set_column(i, field.name, table.column(i).cast(pa.large_string()))
    return table


def _signed_codes(levels: Any) -> Any:
    """Levels as pandas takes them; polars counts them without a sign."""
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary)
        for chunk in levels.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), levels.type.value_type))


def _number_type(text: Text, decimal: str | None) -> str | None:
    if _any(pc.match_substring_regex(text.slice(0, _GLANCE), CODE)):
        return None
    if decimal == "," and is_undecided(text):
        kind = office_type(text, decimal)
    elif _all_match(text, _INTEGER):
        kind = "integer"
        # Numbers that floats would round beside missing values, such as long account numbers: text.
        if text.null_count and _any(pc.match_substring_regex(text, r"\d{16}")):
            kind = None
    elif _all_match(text, _NUMBER):
        kind = "number"
    elif _all_match(text, _DECIMAL_COMMA) and not _all_match(text, _WHOLE_OR_THOUSANDS):
        kind = "number,"
    else:
        kind = office_type(text, decimal)
    return None if kind and _any(pc.match_substring_regex(text, CODE)) else kind


def _all_match(text: Text, pattern: str) -> bool:
    # Most columns show at a glance what they are not.
    glance = pc.match_substring_regex(text.slice(0, _GLANCE), pattern)
    return _all(glance) and _all(pc.match_substring_regex(text, pattern))


def fits_type(text: Text, kind: str) -> Text:
    """Whether each value can be read as of a type; null where missing."""
    if kind == "boolean":
        return _among(pc.utf8_lower(text), TRUE_WORDS + FALSE_WORDS)
    if kind == "number,":
        return _where_known(text, pc.is_valid(_with_points(text)))
    if kind.startswith(PREFIX):
        return _where_known(text, pc.is_valid(plain_numbers_of(text, kind)))
    if kind in ("integer", "number"):
        return pc.match_substring_regex(text, _NUMBER)
    if kind.startswith("date:"):
        values = text.to_pandas()
        dates = to_instants(values, kind.removeprefix("date:"))
        return pa.array(dates.notna().to_numpy(), mask=values.isna().to_numpy())
    return pa.array(np.ones(len(text), dtype=bool))


def _read_as(text: Text, kind: str) -> pd.Series[Any]:
    if kind == "missing":
        return pd.Series(np.full(len(text), np.nan))
    if kind == "boolean":
        true = _among(pc.utf8_lower(text), TRUE_WORDS)
        return true.to_pandas().astype("boolean" if true.null_count else bool)
    if kind.startswith("date:"):
        return to_dates(text.to_pandas(), kind.removeprefix("date:"))
    if kind == "text":
        return text.to_pandas()
    if kind.startswith(PREFIX):
        return plain_numbers_of(text, kind).cast(pa.float64()).to_pandas()
    return _numbers(_with_points(text) if kind == "number," else text, kind)


def _with_points(text: Text) -> Text:
    """Numbers with a decimal comma as ``-1234.56``; null where a value is not one.

    Also those with points, but for 1.234, which could be a thousand where commas are usual.
    """
    unclear = pc.match_substring_regex(text, r"^[+-]?[1-9]\d{0,2}\.\d{3}$")
    text = pc.if_else(unclear, pa.scalar(None, text.type), text)
    plain = pc.replace_substring(text, ",", ".")
    fits = pc.match_substring_regex(plain, _NUMBER)
    return pc.if_else(fits, plain, plain_numbers_of(text, f"{PREFIX}eu"))


def _where_known(text: Text, mask: Text) -> Text:
    return pc.if_else(pc.is_valid(text), mask, pa.scalar(None, pa.bool_()))


def _numbers(text: Text, kind: str) -> pd.Series[Any]:
    plain = pc.replace_substring_regex(text, r"^\+", "")
    if kind == "integer" and _all(pc.match_substring_regex(plain, r"^-?\d{1,18}$")):
        return plain.cast(pa.int64()).to_pandas()
    return plain.cast(pa.float64()).to_pandas()


def _type_of_dtype(dtype: Any) -> str:
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_integer_dtype(dtype):
        return "integer"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "date:ISO8601%z" if getattr(dtype, "tz", None) else "date:ISO8601"
    return "text"


def _among(lower: Text, words: tuple[str, ...]) -> Text:
    """Whether each value is one of the words; null stays null."""
    found = pc.is_in(lower, value_set=pa.array(words, type=lower.type))
    return pc.if_else(pc.is_valid(lower), found, pa.scalar(None, pa.bool_()))


def _all(mask: Text) -> bool:
    return pc.all(mask, min_count=0).as_py() is not False


def _any(mask: Text) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())

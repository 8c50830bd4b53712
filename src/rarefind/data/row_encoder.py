"""One row of Python values as the encoder's outputs: the same numbers as of a table, sooner.

A table of one row is made, looked through and converted column by column, which takes a hundred
times as long as the few look-ups that most values need. Values of other kinds are read as a
table's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pandas as pd
import pyarrow as pa

from rarefind._core.kernels import kernel
from rarefind._core.types import Floats, Table
from rarefind.data.columns import (
    BooleanPlan,
    DatePlan,
    LevelCodesPlan,
    LevelsPlan,
    NumberPlan,
    Plan,
    Spread,
)
from rarefind.data.decode import LOCAL, level_text
from rarefind.data.types import MISSING_WORDS

if TYPE_CHECKING:
    from rarefind.data._encoder import TableEncoder

__all__ = ["RowEncoder", "encode_one_row", "row_encoder"]

#: Adds the outputs of a value to those of the columns before.
_Reader: TypeAlias = Callable[[Any, list[float]], None]
#: The same of one or more columns of a row.
_PieceReader: TypeAlias = Callable[[Mapping[str, Any], list[float]], None]

_LARGEST = sys.float_info.max
_FLOATS, _FLOATS_OR_NONE, _NAN = {float}, {float, type(None)}, float("nan")
_WHOLE = 2**63
# NumPy's scalars, as they come from rows of tables.
_PLAIN: dict[type, type] = {
    **dict.fromkeys([np.float16, np.float32, np.float64], float),
    **dict.fromkeys([np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32], int),
    np.bool_: bool,
}
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?P<offset>Z|[+-]\d\d:\d\d)?)?"
)
# Beyond these years time zones are not the same everywhere, and nanoseconds do not fit.
_FIRST_YEAR, _LAST_YEAR = 1902, 2037
_MICROSECOND, _DAY = timedelta(microseconds=1), 86_400_000_000
# Microseconds that a float holds exactly.
_EXACT = 2**53


class RowEncoder:
    """Encodes rows one at a time, bit for bit as :meth:`TableEncoder.transform` does.

    Parameters
    ----------
    encoder : TableEncoder
        A fitted one; what it learned is copied.
    """

    def __init__(self, encoder: TableEncoder) -> None:
        self._encoder = encoder
        self._readers = [(plan.column, _reader(plan)) for plan in encoder.plans_]
        self._pieces = _pieces(encoder.plans_, self._readers)

    def encode(self, values: Mapping[str, Any]) -> Floats:
        """The outputs of one row.

        Parameters
        ----------
        values : mapping
            The value of each column by its name; None or NaN where missing. Others are not read.

        Returns
        -------
        ndarray of shape (n_outputs,)
        """
        outputs: list[float] = []
        try:
            for read in self._pieces:
                read(values, outputs)
        except KeyError:
            # A list of rows is read as a table, which names all columns that are missing.
            self._encoder.transform([dict(values)])
            raise
        row = np.array(outputs)
        if has_infinity(row):
            return self._one_by_one(values)
        return row

    def _one_by_one(self, values: Mapping[str, Any]) -> Floats:
        """The same, each value by its own reader: it says which one is not a number."""
        outputs: list[float] = []
        for column, read in self._readers:
            read(values[column], outputs)
        return np.array(outputs)


def _pieces(plans: list[Plan], readers: list[tuple[str, _Reader]]) -> list[_PieceReader]:
    """How rows are read: numbers that stay as they are together, all others one by one."""
    pieces: list[_PieceReader] = []
    together: list[tuple[str, _Reader]] = []
    for plan, reader in zip(plans, readers, strict=True):
        if _stays(plan):
            together.append(reader)
            continue
        pieces += [*_numbers_reader(together), _one_reader(*reader)]
        together = []
    return pieces + _numbers_reader(together)


def _stays(plan: Plan) -> bool:
    return isinstance(plan, NumberPlan) and plan.spread.is_none and not plan.marks_missing


def _one_reader(column: str, read: _Reader) -> _PieceReader:
    return lambda values, outputs: read(values[column], outputs)


def _numbers_reader(together: list[tuple[str, _Reader]]) -> list[_PieceReader]:
    """Of columns whose floats are the outputs, and whose missing values are NaN."""
    if len(together) < 2:
        return [_one_reader(*each) for each in together]
    get = itemgetter(*(column for column, _ in together))
    readers = [read for _, read in together]

    def read_numbers(values: Mapping[str, Any], outputs: list[float]) -> None:
        found = get(values)
        kinds = set(map(type, found))
        if kinds == _FLOATS:
            outputs += found
        elif kinds <= _FLOATS_OR_NONE:
            outputs += [_NAN if value is None else value for value in found]
        else:
            for read, value in zip(readers, found, strict=True):
                read(value, outputs)

    return [read_numbers]


@kernel
def has_infinity(row: Floats) -> bool:
    """Whether a row has an infinite value."""
    found = False
    for value in row:
        found |= abs(value) == np.inf
    return found


# Beside the encoders and not in them: copies and files of theirs know nothing of it.
_KNOWN: WeakKeyDictionary[TableEncoder, tuple[list[Plan], RowEncoder]] = WeakKeyDictionary()


def row_encoder(encoder: TableEncoder) -> RowEncoder:
    """The row encoder of a fitted encoder, made once."""
    found = _KNOWN.get(encoder)
    if found is None or found[0] is not encoder.plans_:
        found = _KNOWN[encoder] = encoder.plans_, RowEncoder(encoder)
    return found[1]


def encode_one_row(encoder: TableEncoder, table: Table) -> Floats | None:
    """The outputs of a table of one row; None for others, and where something is wrong with it.

    What is wrong a table says best.
    """
    values = _plain_row(table) if hasattr(encoder, "feature_names_in_") else None
    if values is None:
        return None
    try:
        return row_encoder(encoder).encode(values)[np.newaxis]
    except (ValueError, TypeError, OverflowError):
        return None


def _plain_row(table: Table) -> dict[str, Any] | None:
    """The values of a table of one row, where these alone say how they are read."""
    if type(table) is dict:
        return table
    if type(table) is not pd.DataFrame or len(table) != 1:
        return None
    row = table.iloc[0]
    # Else whole numbers may have become floats, which as levels have another name.
    if row.dtype != object or any(isinstance(d, pd.CategoricalDtype) for d in table.dtypes):
        return None
    values = dict(zip(table.columns, row.tolist(), strict=True))
    return values if len(values) == table.shape[1] else None


def _reader(plan: Plan) -> _Reader:
    if isinstance(plan, NumberPlan):
        return _number_reader(plan)
    if isinstance(plan, BooleanPlan):
        return _boolean_reader(plan)
    if isinstance(plan, DatePlan):
        return _date_reader(plan)
    return _level_reader(plan)


def _as_table(plan: Plan, value: Any) -> list[float]:
    """The outputs of a value as those of a table of one row: for values of any kind."""
    outputs: list[float] = plan.encode(pd.Series([value], name=plan.column))[0].tolist()
    return outputs


def _scale(spread: Spread) -> Callable[[float], float]:
    """What :meth:`Spread.apply` makes of a number that is there."""
    shift, scale = spread.shift, spread.scale
    if spread.is_none:
        return float
    if scale == 0:
        return lambda value: 0.0
    return lambda value: (value - shift) / scale


def _number_reader(plan: NumberPlan) -> _Reader:
    missing, scale = _as_table(plan, None), _scale(plan.spread)
    mark = [0.0] * plan.marks_missing

    def read(value: Any, outputs: list[float]) -> None:
        kind = type(value)
        if kind in _PLAIN:
            value = _PLAIN[kind](value)
            kind = type(value)
        if (kind is float and -_LARGEST <= value <= _LARGEST) or (
            (kind is int or kind is bool) and -_WHOLE <= value < _WHOLE
        ):
            outputs.append(scale(float(value)))
            outputs += mark
        elif value is None or (kind is float and value != value):
            outputs += missing
        else:
            outputs += _as_table(plan, value)

    return read


def _boolean_reader(plan: BooleanPlan) -> _Reader:
    missing, false, true = (_as_table(plan, value) for value in (None, False, True))

    def read(value: Any, outputs: list[float]) -> None:
        if value is True:
            outputs += true
        elif value is False:
            outputs += false
        elif value is None:
            outputs += missing
        elif type(value) in _PLAIN:
            read(_PLAIN[type(value)](value), outputs)
        elif type(value) in (int, float) and value in (0, 1):
            outputs += true if value else false
        else:
            outputs += _as_table(plan, value)

    return read


def _level_reader(plan: LevelsPlan | LevelCodesPlan) -> _Reader:
    missing, false, true = (_as_table(plan, value) for value in (None, False, True))
    known = _known_levels(plan)
    other: list[float] = plan.encode_texts(pa.array([_new_level(known)], pa.string()))[0].tolist()
    known |= dict.fromkeys(MISSING_WORDS, missing)

    def read(value: Any, outputs: list[float]) -> None:
        kind = type(value)
        if kind is str:
            found = known.get(value)
            if found is None:
                # Without spaces around it, or anything else that is not seen, it is as it stands.
                seen = value.isprintable() and value[0] != " " and value[-1] != " "
                found = other if seen else _as_table(plan, value)
            outputs += found
        elif value is None:
            outputs += missing
        elif kind is bool:
            outputs += true if value else false
        elif kind is int or kind is float:
            outputs += known.get(level_text(value), other) if value == value else missing
        elif kind in _PLAIN:
            read(_PLAIN[kind](value), outputs)
        else:
            outputs += _as_table(plan, value)

    return read


def _known_levels(plan: LevelsPlan | LevelCodesPlan) -> dict[str, list[float]]:
    """The outputs of each level that has some of its own."""
    counted = plan.counts if isinstance(plan, LevelsPlan) else {}
    levels = list(dict.fromkeys([*plan.levels, *counted]))
    column = pd.Series(levels, dtype=object, name=plan.column)
    return dict(zip(levels, plan.encode(column).tolist(), strict=True))


def _new_level(known: Mapping[str, Any]) -> str:
    """A text that is not among the levels."""
    text = "another"
    while text in known:
        text += "."
    return text


def _date_reader(plan: DatePlan) -> _Reader:
    missing, origin = _as_table(plan, None), datetime.fromisoformat(plan.origin)
    parts = [(part, _scale(spread)) for part, spread in plan.parts.items()]
    mark = [0.0] * plan.marks_missing
    to_clock = _clock_of(plan.zone)

    def read(value: Any, outputs: list[float]) -> None:
        time = to_clock(_time_of(value, plan.written))
        if time is None:
            outputs += missing if value is None else _as_table(plan, value)
            return
        since = (time - origin) // _MICROSECOND
        if abs(since) > _EXACT:
            outputs += _as_table(plan, value)
            return
        values = {
            "days": since / _DAY,
            "month": float(time.month),
            "weekday": float(time.weekday()),
            "hour": float(time.hour),
        }
        outputs.extend([scale(values[part]) for part, scale in parts])
        outputs += mark

    return read


def _time_of(value: Any, written: str | None) -> datetime | None:
    """A value that is plainly a time; None where a table has to say what it is."""
    kind = type(value)
    if kind is str:
        found = _ISO.fullmatch(value)
        form = "date:ISO8601%z" if found and found["offset"] else "date:ISO8601"
        if not found or written not in (None, form):
            return None
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    elif kind is date:
        value = datetime(value.year, value.month, value.day)
    elif kind is pd.Timestamp and value.nanosecond == 0:
        value = value.to_pydatetime()
    elif kind is not datetime:
        return None
    return value if _FIRST_YEAR <= value.year <= _LAST_YEAR else None


def _clock_of(zone: str | None) -> Callable[[datetime | None], datetime | None]:
    """By which clock a time is read; None of one whose own zone a table has to look up."""
    try:
        own: tzinfo | None = UTC if zone is None else None if zone == LOCAL else ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):  # files of version 0.1.0 have names of offsets
        return lambda time: time if time is not None and time.tzinfo is None else None

    def read(time: datetime | None) -> datetime | None:
        if time is None or time.tzinfo is None:
            return time
        if type(time.tzinfo) is ZoneInfo:
            # Of an hour that is left out or comes twice a table has to say which it is.
            if time.replace(fold=1 - time.fold).utcoffset() != time.utcoffset():
                return None
        elif type(time.tzinfo) is not timezone:
            return None
        return (time if own is None else time.astimezone(own)).replace(tzinfo=None)

    return read

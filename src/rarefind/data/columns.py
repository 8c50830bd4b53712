"""What an encoder learns of one column: plain data, and how to apply it and read it back."""

from __future__ import annotations

import calendar
import math
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rarefind._core.types import Array, Floats
from rarefind.data import decode
from rarefind.data.types import FALSE_WORDS, TRUE_WORDS, Text

_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Spread:
    """What replaces a missing value of a numeric output, is subtracted, and divided by."""

    fill: float | None = None
    shift: float = 0.0
    scale: float = 1.0

    def apply(self, values: Floats) -> Floats:
        """Fill and scale."""
        if self.fill is not None:
            values = np.where(np.isnan(values), self.fill, values)
        if self.scale == 0:
            return np.where(np.isnan(values), np.nan, 0.0)
        with np.errstate(over="ignore"):
            return (values - self.shift) / self.scale

    @property
    def is_none(self) -> bool:
        """Whether values stay as they are."""
        return self.fill is None and self.shift == 0 and self.scale == 1

    def back(self, value: float) -> float:
        """From an output to the value before scaling."""
        return value * self.scale + self.shift


@dataclass(frozen=True)
class _OneOutput:
    """A column that becomes one output, and one more that marks missing values."""

    column: str
    spread: Spread
    marks_missing: bool
    written: str | None = None

    @property
    def names(self) -> list[str]:
        """Names of the outputs."""
        return [self.column, *_mark(self)]

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Outputs of a column, side by side."""
        values = self._read(column)
        return _with_mark(self.marks_missing, values, self.spread.apply(values))

    def describe(self, output: int, value: float) -> str:
        """An output's value in the column's own words."""
        return _mark_text(value) if output else self._value_text(value)

    def _read(self, column: pd.Series[Any]) -> Floats:
        """The column as numbers, before scaling."""
        return decode.numbers(column, self.written)

    def _value_text(self, value: float) -> str:
        return number_text(self.spread.back(value))


@dataclass(frozen=True)
class NumberPlan(_OneOutput):
    """Numbers as they are."""

    kind: ClassVar[str] = "number"


@dataclass(frozen=True)
class BooleanPlan(_OneOutput):
    """0 and 1."""

    kind: ClassVar[str] = "boolean"

    def _read(self, column: pd.Series[Any]) -> Floats:
        return decode.booleans(column, self.written)

    def _value_text(self, value: float) -> str:
        return "missing" if math.isnan(value) else ("true" if value > 0 else "false")


@dataclass(frozen=True)
class DatePlan:
    """One output a part of the date, and one more that marks missing values."""

    kind: ClassVar[str] = "date"
    column: str
    parts: dict[str, Spread]
    marks_missing: bool
    origin: str
    timed: bool
    written: str | None = None
    zone: str | None = None

    @property
    def names(self) -> list[str]:
        """Names of the outputs."""
        return [f"{self.column}: {part}" for part in self.parts] + _mark(self)

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Outputs of a column, side by side."""
        values = date_parts(decode.dates(column, self.written, self.zone), self.origin)
        return _with_mark(
            self.marks_missing,
            values["days"],
            *(spread.apply(values[part]) for part, spread in self.parts.items()),
        )

    def describe(self, output: int, value: float) -> str:
        """An output's value in the column's own words."""
        if output == len(self.parts):
            return _mark_text(value)
        part, spread = list(self.parts.items())[output]
        value = spread.back(value)
        if part == "days" or math.isnan(value):
            return self.date_text(value)
        # Within rounding of a whole number: what was scaled comes back a hair below.
        whole = math.floor(value + 1e-6)
        if part == "month":
            return calendar.month_name[min(max(whole, 1), 12)]
        if part == "weekday":
            return f"a {calendar.day_name[min(max(whole, 0), 6)]}"
        return f"hour {min(max(whole, 0), 23)}"

    def date_text(self, days: float) -> str:
        """The date so many days after the origin."""
        if math.isnan(days):
            return "missing"
        seconds = round(min(max(days, -1e6), 1e6) * 86_400)
        time = np.datetime64(self.origin, "s") + np.timedelta64(seconds, "s")
        text = str(time.astype("datetime64[m]" if self.timed else "datetime64[D]"))
        return text.replace("T", " ")


@dataclass(frozen=True)
class LevelsPlan:
    """One output a level, one for others, one for missing, and the frequency of the level."""

    kind: ClassVar[str] = "levels"
    column: str
    levels: list[str]
    unit: float
    has_other: bool
    marks_missing: bool
    rows: int
    counts: dict[str, int] = field(default_factory=dict)
    missing_rows: int = 0
    frequency: Spread | None = None

    @property
    def names(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.column} = {level}" for level in self.levels]
        names += [f"{self.column}: other"] if self.has_other else []
        names += _mark(self)
        return names + ([f"{self.column}: frequency"] if self.frequency else [])

    def encode(self, column: pd.Series[Any]) -> Floats:
        """Outputs of a column, side by side."""
        return self.encode_texts(level_texts(column, self.levels))

    def encode_texts(self, text: Text) -> Floats:
        """The same of cleaned text."""
        outputs = np.zeros((len(text), len(self.names)))
        codes = _codes(text, self.levels)
        seen = codes >= 0
        outputs[np.flatnonzero(seen), codes[seen]] = self.unit
        missing = text.is_null().to_numpy(zero_copy_only=False)
        at = len(self.levels)
        if self.has_other:
            outputs[~seen & ~missing, at] = self.unit
            at += 1
        if self.marks_missing:
            outputs[missing, at] = self.unit
        if self.frequency:
            outputs[:, -1] = self.frequency.apply(self.shares(text))
        return outputs

    def shares(self, text: Text) -> Floats:
        """The share of the training rows that had the same level."""
        known = np.array([*self.counts.values(), 0], dtype=np.float64)
        counts = known[_codes(text, list(self.counts))]  # -1, not found, is the last: 0
        missing = text.is_null().to_numpy(zero_copy_only=False)
        return np.where(missing, self.missing_rows, counts) / self.rows

    def describe(self, output: int, value: float) -> str:
        """An output's value in the column's own words."""
        if output < len(self.levels):
            level = self.levels[output]
            return level if value > 0 else f"not {level}"
        name = self.names[output].removeprefix(f"{self.column}: ")
        if name == "other":
            return "another value" if value > 0 else "a frequent value"
        if name == "missing" or not self.frequency:
            return _mark_text(value)
        return f"in {100 * max(self.frequency.back(value), 0):.3g} % of rows"


@dataclass(frozen=True)
class LevelCodesPlan:
    """The number of the level; one beyond the last is for all other levels, NaN for missing."""

    kind: ClassVar[str] = "level codes"
    column: str
    levels: list[str]
    has_other: bool

    @property
    def names(self) -> list[str]:
        """Names of the outputs."""
        return [self.column]

    def encode(self, column: pd.Series[Any]) -> Floats:
        """The one output of a column."""
        return self.encode_texts(level_texts(column, self.levels))

    def encode_texts(self, text: Text) -> Floats:
        """The same of cleaned text."""
        codes = _codes(text, self.levels).astype(np.float64)
        codes[codes < 0] = len(self.levels)
        codes[text.is_null().to_numpy(zero_copy_only=False)] = np.nan
        return codes[:, np.newaxis]

    def describe(self, output: int, value: float) -> str:
        """An output's value in the column's own words."""
        if math.isnan(value):
            return "missing"
        return self.levels[int(value)] if 0 <= value < len(self.levels) else "another value"


Plan: TypeAlias = NumberPlan | BooleanPlan | DatePlan | LevelsPlan | LevelCodesPlan


def level_texts(column: pd.Series[Any], levels: list[str]) -> Text:
    """The levels of a column, null where missing."""
    text = decode.texts(column)
    if decode.kind_of(column) != "boolean":
        return text
    # A file with only yes and no is read as booleans though a level "maybe" was seen before.
    for words in (TRUE_WORDS, FALSE_WORDS):
        level = next((level for level in levels if level.lower() in words), words[0])
        text = pc.replace_substring_regex(text, f"^{words[0]}$", level)
    return text


def value_text(plan: Plan, column: pd.Series[Any]) -> str:
    """The first value of a column as its plan reads it, in words."""
    if isinstance(plan, LevelsPlan | LevelCodesPlan):
        return level_texts(column, plan.levels)[0].as_py() or "missing"
    if isinstance(plan, DatePlan):
        time = decode.dates(column, plan.written, plan.zone)
        return plan.date_text(float(date_parts(time, plan.origin)["days"][0]))
    if isinstance(plan, BooleanPlan):
        return plan.describe(0, float(decode.booleans(column, plan.written)[0]))
    return number_text(float(decode.numbers(column, plan.written)[0]))


def to_state(plan: Plan) -> dict[str, Any]:
    """A plan as dicts, lists, strings and numbers."""
    return {"kind": plan.kind, **asdict(plan)}


def from_state(state: dict[str, Any]) -> Plan:
    """The plan of a state."""
    fields = dict(state)
    kind = fields.pop("kind")
    if kind == "levels":
        frequency = fields.pop("frequency")
        return LevelsPlan(**fields, frequency=Spread(**frequency) if frequency else None)
    if kind == "level codes":
        return LevelCodesPlan(**fields)
    if kind == "date":
        parts = {part: Spread(**spread) for part, spread in fields.pop("parts").items()}
        return DatePlan(**fields, parts=parts)
    spread = Spread(**fields.pop("spread"))
    if kind == "boolean":
        return BooleanPlan(**fields, spread=spread)
    if kind == "number":
        return NumberPlan(**fields, spread=spread)
    raise KeyError(kind)


def date_parts(times: Array, origin: str) -> dict[str, Floats]:
    """Days since the origin, month, weekday (Monday is 0) and hour; NaN where missing."""
    missing = np.isnat(times)
    times = np.where(missing, np.datetime64(origin, "us"), times)
    day = times.astype("datetime64[D]")
    parts = {
        "days": (times - np.datetime64(origin, "us")) / _DAY,
        "month": day.astype("datetime64[M]").astype(np.int64) % 12 + 1.0,
        "weekday": (day.astype(np.int64) + 3.0) % 7,  # 1970 began on a Thursday
        "hour": (times - day) // np.timedelta64(1, "h") * 1.0,
    }
    return {part: np.where(missing, np.nan, values) for part, values in parts.items()}


def number_text(value: float) -> str:
    """A number to be read by a person."""
    if math.isnan(value):
        return "missing"
    return f"{value:.6g}" if abs(value) < 1e6 or abs(value) >= 1e15 else f"{value:.0f}"


def _mark(plan: _OneOutput | DatePlan | LevelsPlan) -> list[str]:
    return [f"{plan.column}: missing"] if plan.marks_missing else []


def _with_mark(marks: bool, values: Floats, *outputs: Floats) -> Floats:
    columns = [*outputs, np.isnan(values).astype(np.float64)] if marks else outputs
    return np.column_stack(columns)


def _mark_text(value: float) -> str:
    return "missing" if value > 0 else "not missing"


def _codes(text: Text, levels: list[str]) -> Array:
    """Position of each value among the levels, -1 where it is none of them."""
    found = pc.index_in(text, value_set=pa.array(levels, pa.string()))
    return pc.fill_null(found, -1).to_numpy()

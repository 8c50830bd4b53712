"""How the values of one column were spread at fit: counts of bins, never rows."""

from __future__ import annotations

import calendar
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rarefind._core.fields import (
    Choice,
    DictOf,
    FloatArray,
    ListOf,
    Maybe,
    PlainText,
    RealNumber,
    StateError,
    TupleOf,
)
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats, Ints
from rarefind.data import decode
from rarefind.data._encoder_state import check_zone
from rarefind.data._plan import UninformativeError, kind_and_form
from rarefind.data.columns import date_parts, level_texts, number_text

# A level that fewer rows have is not kept by its name, which may be a person's.
_HANDFUL = 5
_BINNED_LEVELS, _KNOWN_LEVELS = 50, 10_000
_FEW_VALUES = 12
_DECILES = tuple(i / 10 for i in range(1, 10))
# Days that both times must span before a part of dates is compared: one week has all weekdays.
_PARTS = {"hour": (24, 0.0), "weekday": (7, 14.0), "month": (12, 365.0)}
# Part of numbers: whether they lie within, below or above what nearly all had at fit.
_OUTSIDE = "outside"
_TAIL, _MOST_TAIL = 0.005, 0.1
_EPOCH = "1970-01-01"


def _check_bins(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    made = ColumnReference(**state)
    found, wanted = {part: c.size for part, c in made.counts.items()}, made.sizes()
    # Scores, and files of version 0.1.0, do not count what lies outside.
    if not (found.items() <= wanted.items() and wanted.keys() - found.keys() <= {_OUTSIDE}):
        raise StateError("'counts' are not those of the bins")
    if made.kind == "boolean" and made.cuts.size != 1:
        raise StateError("'cuts' are not those of truth values")
    try:
        check_zone(made.zone)
        made.bins(pd.Series([None], name=made.column, dtype=object))
    except Exception:
        raise StateError("the column is written in an unknown way") from None


@saved(
    "column-reference",
    state=State(
        {
            "column": PlainText(),
            "kind": Choice("number", "boolean", "text", "date"),
            "counts": DictOf(Choice("", _OUTSIDE, *_PARTS), FloatArray("*", low=0, high=1e18)),
            "cuts": FloatArray("*", rising=True),
            "levels": ListOf(PlainText()),
            "known": ListOf(PlainText()),
            "span": TupleOf(RealNumber(nan=True), RealNumber(nan=True)),
            "written": Maybe(PlainText()),
            "zone": Maybe(PlainText()),
        },
        _check_bins,
    ),
)
@dataclass(frozen=True)
class ColumnReference:
    """Counts of the bins of a column, the last of which is for missing values.

    Attributes
    ----------
    column, kind : str
        Its name, and number, boolean, text or date.
    counts : dict of str to ndarray
        Counts by part. Dates have parts for hour, weekday and month; numbers have one for those
        within, below and above ``span``.
    cuts : ndarray
        A number's bin is how many of these lie below it.
    levels, known : list of str
        Levels of text with a bin of their own, and those that share one. One more bin is for levels
        that are rare or new.
    span : tuple of float
        First and last day, since 1970, of dates; of numbers, the two that all but one in two
        hundred lie above, and below.
    written, zone : str or None
        How text says numbers or dates, and the time zone of dates.
    """

    column: str
    kind: str
    counts: dict[str, Floats]
    cuts: Floats = field(default_factory=lambda: np.empty(0))
    levels: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    span: tuple[float, float] = (np.nan, np.nan)
    written: str | None = None
    zone: str | None = None

    @classmethod
    def of(cls, column: pd.Series[Any]) -> ColumnReference:
        """Count the bins of a column."""
        name = str(column.name)
        try:
            kind, written = kind_and_form(column)
        except UninformativeError:
            kind, written = "text", None
        if kind == "text":
            made = _levels_of(name, column)
        elif kind == "date":
            made = cls(name, kind, {}, written=written, zone=decode.time_zone(column))
        elif kind == "boolean":
            made = cls(name, kind, {}, cuts=np.array([0.0]), written=written)
        else:
            values = decode.numbers(column, written)
            cuts = _cuts(values, np.ones(values.size))
            made = cls(name, kind, {}, cuts=cuts, span=_span(values), written=written)
        return made._count(column)

    @classmethod
    def of_scores(cls, name: str, score: Floats, weight: Floats) -> ColumnReference:
        """Count the bins of scores, which are of interest towards the top."""
        score = finite(score)
        cuts = _cuts(score, weight, (*_DECILES, 0.95, 0.99))
        made = cls(name, "number", {}, cuts=cuts)
        counts = np.bincount(made._bin(score), weight, minlength=cuts.size + 2)
        # As many rows as would weigh as much without weights.
        rows = weight.sum() ** 2 / (weight**2).sum()
        return cls(name, "number", {"": counts * (rows / weight.sum())}, cuts=cuts)

    def bins(self, column: pd.Series[Any]) -> tuple[dict[str, Ints], tuple[float, float]]:
        """The bin of each row, by part, and the first and last day of dates."""
        if self.kind == "text":
            return {"": self._level_bins(column)}, (np.nan, np.nan)
        if self.kind == "date":
            return self._date_bins(decode.dates(column, self.written, self.zone))
        if self.kind == "boolean":
            return {"": self._bin(decode.booleans(column, self.written))}, (np.nan, np.nan)
        values = decode.numbers(column, self.written)
        low, high = self.span
        outside = np.where(values < low, 1, np.where(values > high, 2, 0))
        return {"": self._bin(values), _OUTSIDE: outside}, self.span

    def sizes(self) -> dict[str, int]:
        """How many bins each part has."""
        if self.kind == "text":
            return {"": len(self.levels) + 3}
        if self.kind == "date":
            return {"": 2, **{part: size + 1 for part, (size, _) in _PARTS.items()}}
        outside = {_OUTSIDE: 3} if self.kind == "number" else {}
        return {"": self.cuts.size + 2, **outside}

    def unseen(self) -> list[tuple[str, int, str]]:
        """Part and number of the bins that a part of the fit's rows has no reason to fill.

        A day, a region or a kind of customer fills some bins more and others less. It does not
        leave a column empty, and has few levels and amounts that nothing was learned from. With
        each bin come the words for its rows.
        """
        missing = ("", self.sizes()[""] - 1, "is missing")
        if self.kind == "text":
            return [missing, ("", len(self.levels) + 1, "is new, or was rare at the fit,")]
        if self.kind != "number":
            return [missing]
        if _OUTSIDE in self.counts and self.cuts.size:
            low, high = (number_text(float(end)) for end in self.span)
            ends = [(_OUTSIDE, 1, f"is below {low}"), (_OUTSIDE, 2, f"is above {high}")]
        elif self.cuts.size:  # scores, and files of version 0.1.0
            low, high = (number_text(float(self.cuts[at])) for at in (0, -1))
            ends = [("", 0, f"is at most {low}"), ("", self.cuts.size, f"is above {high}")]
        else:
            ends = []
        return [missing, *ends]

    def comparable(self, span: tuple[float, float]) -> list[str]:
        """Parts that may be compared with dates of a span: those that the span covers fully."""
        if self.kind != "date":
            return [""]
        shorter = min(last - first for first, last in (self.span, span))
        timed = self.counts["hour"][1:-1].any()
        wide = [part for part, (_, days) in _PARTS.items() if shorter >= days]
        return ["", *(part for part in wide if part != "hour" or timed)]

    def label(self, part: str, at: int) -> str:
        """A bin in words."""
        if at == self.sizes()[part] - 1:
            return "missing"
        if self.kind == "text":
            others = ["other known values", "rare or new values"]
            return [*self.levels, *others][at]
        if self.kind == "boolean":
            return ("false", "true")[at]
        if self.kind == "number":
            return self._interval(at)
        if part == "month":
            return f"in {calendar.month_name[at + 1]}"
        if part == "weekday":
            return f"on a {calendar.day_name[at]}"
        return f"at hour {at}" if part == "hour" else "known"

    def _count(self, column: pd.Series[Any]) -> ColumnReference:
        found, span = self.bins(column)
        sizes = self.sizes()
        counts = {
            part: np.bincount(at, minlength=sizes[part]).astype(np.float64)
            for part, at in found.items()
        }
        kept = {
            name: getattr(self, name) for name in ("cuts", "levels", "known", "written", "zone")
        }
        return ColumnReference(self.column, self.kind, counts, span=span, **kept)

    def _bin(self, values: Floats) -> Ints:
        at = np.searchsorted(self.cuts, values, side="left")
        return np.where(np.isnan(values), self.cuts.size + 1, at)

    def _level_bins(self, column: pd.Series[Any]) -> Ints:
        text = level_texts(column, self.levels)
        named = pa.array([*self.levels, *self.known], pa.string())
        at = pc.fill_null(pc.index_in(text, value_set=named), -1).to_numpy().astype(np.intp)
        other = len(self.levels)
        at = np.where(at < 0, other + 1, np.minimum(at, other))
        return np.where(text.is_null().to_numpy(zero_copy_only=False), other + 2, at)

    def _date_bins(self, times: Array) -> tuple[dict[str, Ints], tuple[float, float]]:
        parts = date_parts(times, _EPOCH)
        missing = np.isnan(parts["days"])
        found = {"": missing.astype(np.intp)}
        for part, (size, _) in _PARTS.items():
            first = 1 if part == "month" else 0
            found[part] = np.where(missing, size + first, parts[part]).astype(np.intp) - first
        days = parts["days"][~missing]
        span = (float(days.min()), float(days.max())) if days.size else (np.nan, np.nan)
        return found, span

    def _interval(self, at: int) -> str:
        ends = [number_text(float(cut)) for cut in self.cuts[max(at - 1, 0) : at + 1]]
        if not ends:
            return "any number"
        if at == 0:
            return f"up to {ends[0]}"
        if at == self.cuts.size:
            return f"above {ends[-1]}"
        return f"above {ends[0]} and up to {ends[1]}"


def _span(values: Floats) -> tuple[float, float]:
    """What nearly all numbers lie between, ends included."""
    known = values[~np.isnan(values)]
    if not known.size:
        return (np.nan, np.nan)
    tail = min(max(_TAIL, _HANDFUL / known.size), _MOST_TAIL)
    return (
        float(np.quantile(known, tail, method="lower")),
        float(np.quantile(known, 1 - tail, method="higher")),
    )


def finite(score: Floats) -> Floats:
    """Scores with an end: a copy of a known positive may be infinitely near to it."""
    largest = np.finfo(np.float64).max
    return np.clip(score, -largest, largest)


def _levels_of(name: str, column: pd.Series[Any]) -> ColumnReference:
    counts = Counter(level for level in decode.texts(column).to_pylist() if level is not None)
    frequent = [level for level, n in counts.items() if n >= _HANDFUL]
    frequent.sort(key=lambda level: (-counts[level], level))
    kept = frequent[:_KNOWN_LEVELS]
    return ColumnReference(
        name, "text", {}, levels=kept[:_BINNED_LEVELS], known=kept[_BINNED_LEVELS:]
    )


def _cuts(values: Floats, weight: Floats, shares: tuple[float, ...] = _DECILES) -> Floats:
    """Upper ends of bins: quantiles, with frequent values apart; of few values, each."""
    known = ~np.isnan(values)
    distinct, at = np.unique(values[known], return_inverse=True)
    if distinct.size <= _FEW_VALUES:
        return distinct
    share = np.bincount(at, weights=weight[known]) / weight[known].sum()
    ends = np.searchsorted(np.cumsum(share), np.array(shares) - 1e-12)
    frequent = np.flatnonzero(share >= 0.1)
    chosen = np.unique(np.concatenate([ends, frequent, frequent - 1]))
    return distinct[chosen[(chosen >= 0) & (chosen < distinct.size - 1)]]

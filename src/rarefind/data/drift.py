"""How far the columns of a table have gone from what they were at fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from rarefind._core.fields import ListOf, Object, StateError, Whole
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Floats, Table
from rarefind.data._shares import FALSE_ALARMS, HANDFUL, Shift, shift_between
from rarefind.data.column_reference import ColumnReference
from rarefind.data.frames import as_frame

_MOST_ROWS = 50_000
# What hardly a row had at the fit is a warning from this share of the rows on, and this many times
# its share then.
_MANY, _TIMES = 0.2, 5.0


def _check_once(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    names = [column.column for column in state["columns"]]
    if len(set(names)) != len(names):
        raise StateError("a column is counted twice")


@saved(
    "drift-reference",
    state=State({"rows": Whole(), "columns": ListOf(Object("column-reference"))}, _check_once),
)
@dataclass(frozen=True)
class DriftReference:
    """How columns were spread when a model was fitted: counts of bins, to compare files with.

    Numbers are cut at their deciles, text is counted by level, dates by hour, weekday and month;
    missing values have their own bin. No row is kept, nor a level that fewer than five rows had.

    Attributes
    ----------
    rows : int
        Rows that were counted, a sample of larger tables.
    columns : list of ColumnReference
        The counts of each column.

    See Also
    --------
    DriftCounter : Counts new rows by the same bins.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from rarefind.data import DriftReference
    >>> rng = np.random.default_rng(0)
    >>> then = pd.DataFrame({"amount": rng.lognormal(3, 1, 5000), "age": rng.normal(size=5000)})
    >>> now = pd.DataFrame({"amount": rng.lognormal(4, 1, 1000), "age": rng.normal(size=1000)})
    >>> reference = DriftReference.of(then, ["amount", "age"])
    >>> counter = reference.counter().update(now)
    >>> counter.table()[["column", "verdict", "text"]]
       column  verdict                                           text
    0  amount  changed  above 73.2405: 38 % of rows, 10 % at fit
    1     age   stable                                      as at fit
    """

    rows: int
    columns: list[ColumnReference]

    @classmethod
    def of(cls, frame: Table, columns: Sequence[str]) -> DriftReference:
        """Count the rows of a table.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or Arrow table
            The rows that a model is fitted to.
        columns : sequence of str
            Which columns to count.

        Returns
        -------
        DriftReference
        """
        frame = as_frame(frame)
        at: Any = slice(None)
        if len(frame) > _MOST_ROWS:
            at = np.sort(np.random.default_rng(0).permutation(len(frame))[:_MOST_ROWS])
        counted = [ColumnReference.of(frame[name].iloc[at]) for name in columns]
        return cls(min(len(frame), _MOST_ROWS), counted)

    def counter(self) -> DriftCounter:
        """A counter of new rows, with none yet.

        Returns
        -------
        DriftCounter
        """
        return DriftCounter(self)


class DriftCounter:
    """Counts new rows by the bins of a :class:`DriftReference`, piece by piece.

    Attributes
    ----------
    rows : int
        Rows counted so far.
    """

    def __init__(self, reference: DriftReference) -> None:
        self.rows = 0
        self._reference = reference
        self._counts: list[dict[str, Floats]] = [
            {part: np.zeros(size) for part, size in column.sizes().items()}
            for column in reference.columns
        ]
        self._spans = [(np.nan, np.nan)] * len(reference.columns)

    def update(self, frame: Table) -> Self:
        """Count further rows.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or Arrow table
            With the columns of the reference, and perhaps others.

        Returns
        -------
        self
        """
        frame = as_frame(frame)
        names = [column.column for column in self._reference.columns]
        lacking = [name for name in names if name not in frame.columns]
        if lacking:
            raise ValueError(f"The table has no column {', '.join(map(repr, lacking))}.")
        for i, column in enumerate(self._reference.columns):
            found, span = column.bins(frame[column.column])
            for part, at in found.items():
                counts = self._counts[i][part]
                counts += np.bincount(at, minlength=counts.size)
            self._widen(i, span)
        self.rows += len(frame)
        return self

    def add(self, other: DriftCounter) -> Self:
        """Add what another counter of the same reference has counted.

        Parameters
        ----------
        other : DriftCounter
            Of other rows.

        Returns
        -------
        self
        """
        for i, (counts, more) in enumerate(zip(self._counts, other._counts, strict=True)):
            for part in counts:
                counts[part] += more[part]
            self._widen(i, other._spans[i])
        self.rows += other.rows
        return self

    def _widen(self, column: int, span: tuple[float, float]) -> None:
        (first, last), (new_first, new_last) = self._spans[column], span
        self._spans[column] = (float(np.fmin(first, new_first)), float(np.fmax(last, new_last)))

    def unseen(self) -> pd.DataFrame:
        """Columns of which many rows have what hardly a row had at the fit.

        These are missing values, levels that are new, and numbers beyond nearly all of the fit: an
        empty column, or amounts in another unit. A file may hold one day or one region only, so
        how the values of the fit are spread does not matter here; :meth:`table` looks at that.

        Returns
        -------
        DataFrame
            ``column``, ``share`` (of the rows counted), ``before`` (of the rows of the fit) and
            ``text``, a clause; the largest share first. A share counts from a fifth of the rows on,
            if it is five times that of the fit and not by chance.
        """
        found = []
        for column, now in zip(self._reference.columns, self._counts, strict=True):
            for part, at, words in column.unseen():
                before = column.counts[part]
                share, was = _share(now[part], at), _share(before, at)
                if share >= max(_MANY, _TIMES * was) and self._is_beyond_noise(
                    before, now[part], at
                ):
                    text = f"{column.column} {words} in {_percent(share)} of the rows"
                    text += f" ({_percent(was)} at the fit)"
                    found.append((column.column, share, was, text))
        table = pd.DataFrame(found, columns=["column", "share", "before", "text"])
        return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)

    def _is_beyond_noise(self, before: Floats, now: Floats, at: int) -> bool:
        """Whether as many rows of a bin are hardly by chance, over all columns."""
        then, here = (np.array([c[at], c.sum() - c[at]]) for c in (before, now))
        shift = shift_between(then, here)
        return shift.displaced >= HANDFUL and shift.p_value * len(self._counts) < FALSE_ALARMS

    def table(self) -> pd.DataFrame:
        """Compare what was counted with the reference.

        Returns
        -------
        DataFrame
            A row a column: ``column``, ``drift``, the population stability index (of dates, that of
            the part that moved most), ``noise``, what the index would be between samples as large
            of one distribution, ``missing_before`` and ``missing_now``, ``new_levels``, the share
            of rows with a level that is new or was rare at fit beyond their share then, ``text``,
            a short sentence, and ``verdict``: ``"changed"`` where the index beyond noise is 0.25
            or more, ``"moved"`` from 0.1 on, else ``"stable"``, as is all that a test with one
            false alarm in a thousand tables takes for noise.
        """
        rows = [
            self._compare(column, counts, span)
            for column, counts, span in zip(
                self._reference.columns, self._counts, self._spans, strict=True
            )
        ]
        return pd.DataFrame(rows, columns=_TABLE)

    def _compare(
        self, column: ColumnReference, now: dict[str, Floats], span: tuple[float, float]
    ) -> dict[str, Any]:
        parts = column.comparable(span)
        tests = len(parts) * len(self._counts)
        shifts = {part: shift_between(column.counts[part], now[part]) for part in parts}
        part = max(parts, key=lambda part: _alarm(shifts[part], tests))
        shift, verdict = shifts[part], shifts[part].verdict(tests)
        before_missing, now_missing = (_share(c[""], -1) for c in (column.counts, now))
        text = "as at fit"
        if not self.rows:
            text = "no rows to compare"
        elif verdict != "stable":
            text = _largest(column, part, shift, column.counts[part], now[part])
        new = _share(now[""], -2) - _share(column.counts[""], -2) if column.kind == "text" else 0.0
        return {
            "column": column.column,
            "drift": shift.index,
            "noise": shift.noise,
            "missing_before": before_missing,
            "missing_now": now_missing,
            "new_levels": max(0.0, new),
            "text": text,
            "verdict": verdict,
        }


_TABLE = [
    "column",
    "drift",
    "noise",
    "missing_before",
    "missing_now",
    "new_levels",
    "text",
    "verdict",
]
_ORDER = ("stable", "moved", "changed")


def _alarm(shift: Shift, tests: int) -> tuple[int, float]:
    return _ORDER.index(shift.verdict(tests)), shift.index - shift.noise


def _largest(column: ColumnReference, part: str, shift: Shift, before: Floats, now: Floats) -> str:
    """The bin that adds most to the index, in words."""
    at = int(np.argmax(shift.added))
    shares = _percent(_share(now, at)), _percent(_share(before, at))
    return f"{column.label(part, at)}: {shares[0]} of rows, {shares[1]} at fit"


def _share(counts: Floats, at: int) -> float:
    total = float(counts.sum())
    return float(counts[at]) / total if total else 0.0


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 1:
        return "under 1 %"
    return f"{percent:.0f} %"

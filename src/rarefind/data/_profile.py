"""What is in a table, before anything is learned from it."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from rarefind._core.types import Array, Floats, Ints, Label, Table
from rarefind.data import decode
from rarefind.data._leaks import LeakSearch, Suspicion
from rarefind.data._markers import Marker
from rarefind.data._plan import UninformativeError, kind_and_form
from rarefind.data.frames import as_frame
from rarefind.data.target import check_target

_NAMED = 5
# With fewer rows, values that all differ are not identifiers: a few rows differ anyway.
_FEW_ROWS = 30


@dataclass(frozen=True)
class Leak:
    """A column that alone gives many positives away.

    Attributes
    ----------
    column : str
        Its name.
    average_precision : float
        Of the rows ranked by this column alone, by rules learned on half of them for the other.
    share : float
        Share of the positives that a condition on the column marks, and of the other rows none or
        next to none; 1 where the column is suspected for its average precision.
    condition : str
        That condition, as ``is missing``; empty where there is none.
    """

    column: str
    average_precision: float
    share: float = 1.0
    condition: str = ""

    @property
    def because(self) -> str:
        """Why it is suspected."""
        if not self.condition:
            return f"{self.column} alone gives average precision {self.average_precision:.3f}"
        return f"{self.column} {self.condition}"

    def __str__(self) -> str:
        return (
            f"{self.because}: a suspected leak; leave it out with --drop "
            f"{shlex.quote(self.column)} if it is not known when the list is made."
        )


@dataclass(frozen=True)
class TableProfile:
    """What :func:`profile_table` found; as text, the few sentences worth reading.

    Attributes
    ----------
    rows : int
        Rows of the table.
    positives : int or None
        Positives among them, where a target was named.
    columns : DataFrame
        A row a column, without the target: ``column``, ``kind`` (number, text, boolean or date),
        ``missing`` (share), ``values`` (different ones) and ``note`` (``"all missing"``, ``"one
        value"``, ``"different in every row"`` or empty).
    leaks : list of Leak
        Suspected leaks, the worst first.
    copies : int
        Rows that are copies of earlier ones in all columns but the identifier.
    id : str or None
        The column of the identifiers, where one was named.
    repeated_ids : int
        Rows with the identifier of an earlier row.
    """

    rows: int
    positives: int | None
    columns: pd.DataFrame
    leaks: list[Leak] = field(default_factory=list)
    copies: int = 0
    id: str | None = None
    repeated_ids: int = 0

    def lines(self) -> list[str]:
        """The sentences that a person should read before a fit."""
        lines = [f"{self.rows:,} rows."]
        if self.positives is not None:
            share = 100 * self.positives / self.rows
            percent = f"{share:.1f}" if share >= 0.1 else f"{share:.2g}"
            lines = [f"{self.rows:,} rows, {self.positives:,} positives ({percent} %)."]
        partly = self.columns[self.columns["missing"].between(0, 1, inclusive="neither")]
        partly = partly.sort_values("missing", ascending=False, kind="stable")
        incomplete = [
            f"{name} ({_percent(share)})"
            for name, share in zip(partly["column"], partly["missing"], strict=True)
        ]
        lines += _sentence_on(incomplete, "has missing values", "have missing values")
        for note, one, many in (
            ("all missing", "is all missing", "are all missing"),
            ("one value", "has one value", "have one value"),
            ("different in every row", "is different in every row", "are different in every row"),
        ):
            noted = self.columns.loc[self.columns["note"] == note, "column"]
            lines += _sentence_on([str(name) for name in noted], one, many)
        if self.copies:
            rows, they, them = ("rows are copies", "they are", "them")
            if self.copies == 1:
                rows, they, them = ("row is a copy", "it is", "it")
            but = "" if self.id is None else f" but {self.id}"
            lines.append(
                f"{self.copies:,} {rows} of an earlier one in all columns{but}: if {they} there by "
                f"mistake, leave {them} out, or the estimate is too good."
            )
        if self.repeated_ids:
            rows, have = ("row", "has") if self.repeated_ids == 1 else ("rows", "have")
            lines.append(
                f"Identifiers repeat: {self.repeated_ids:,} {rows} {have} the {self.id} of an "
                "earlier one."
            )
        return lines + [str(leak) for leak in self.leaks]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def profile_table(
    table: Table,
    target: str | None = None,
    positive: Label = None,
    *,
    ignore: Collection[str] = (),
    id: str | None = None,
) -> TableProfile:
    """Count rows, positives and missing values; name columns without information and leaks.

    Parameters
    ----------
    table : DataFrame of pandas or polars, or Arrow table
        The rows.
    target : str, default=None
        The column with the labels; without it there are no positives and no leaks.
    positive : label, default=None
        The label that matters, as in :func:`check_target`.
    ignore : collection of str, default=()
        Columns to skip, such as identifiers, times and those that no model will use.
    id : str, default=None
        The column with the identifiers of rows, which may repeat, and differ between copies.

    Returns
    -------
    TableProfile

    Notes
    -----
    A column is a suspected leak if it alone gives an average precision of 0.95 or more, far above
    the share of positives. Numbers and dates are ranked from high to low, from low to high, and by
    the share of positives in bins, text by that of its levels; bins and levels are ranked by one
    half of the rows and judged by the other, both ways; missing is a value like others. A column is
    judged by a sample of the rows first, and by all of them if it passes.

    A column is suspected as well if a condition on it holds for a third of the positives or more
    and for (nearly) no other row: that it is missing, filled in, has some value or another than the
    usual one, has levels that only positives have (learned on one half of the rows for the other),
    or lies beyond the values of all other rows. A quarter of the positives is enough where it is
    150 times as likely of them as it can be of others. A value beyond those of rows that have many
    values has to be so too, and to hold for 42 % of the positives: an honest column may have a long
    tail. A column that marks fewer is not named.

    With fewer than five positives, or so few rows that one of the columns may be so by chance, none
    is named.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from rarefind.data import profile_table
    >>> fraud = np.arange(1000) % 50 == 0
    >>> table = pd.DataFrame({
    ...     "amount": np.arange(1000) * 7 % 1009, "paid_back": np.where(fraud, 1.0, np.nan),
    ...     "fraud": fraud})
    >>> print(profile_table(table, "fraud", ignore=["amount"]))
    1,000 rows, 20 positives (2.0 %).
    1 column has missing values: paid_back (98 %).
    paid_back alone gives average precision 1.000: a suspected leak; leave it out with
    --drop paid_back if it is not known when the list is made.
    """
    if isinstance(ignore, str):
        raise ValueError(f"ignore= is a list of columns: [{ignore!r}].")
    frame = as_frame(table)
    is_positive = None
    if target is not None:
        label = check_target(frame, target, positive)
        is_positive = (frame[target] == label).to_numpy(dtype=bool)
    names = [name for name in frame.columns if name != target and name not in ignore]
    search = None if is_positive is None else LeakSearch(is_positive, len(names))
    judged = [_judge(frame[name], search) for name in names]
    leaks = [
        _leak(frame[name], found)
        for name, (_, found) in zip(names, judged, strict=True)
        if found is not None
    ]
    described = [{"column": str(n), **found} for n, (found, _) in zip(names, judged, strict=True)]
    return TableProfile(
        rows=len(frame),
        positives=None if is_positive is None else int(is_positive.sum()),
        columns=pd.DataFrame(described, columns=["column", "kind", "missing", "values", "note"]),
        leaks=sorted(leaks, key=lambda leak: -leak.average_precision),
        copies=int(frame.drop(columns=[] if id is None else [id]).duplicated().sum()),
        id=id,
        repeated_ids=0 if id is None else int(frame[id].dropna().duplicated().sum()),
    )


def _leak(column: pd.Series[Any], found: Suspicion) -> Leak:
    name, marker = str(column.name), found.marker
    if marker is None:
        return Leak(name, found.average_precision)
    holds = _condition(column, marker)
    rest = "for no other row" if marker.pure else "for hardly any other row"
    condition = f"{holds} for {_percent(marker.share)} of the positives and {rest}"
    return Leak(name, found.average_precision, marker.share, condition)


def _condition(column: pd.Series[Any], marker: Marker) -> str:
    """A condition in words."""
    if marker.what in ("equal", "other"):
        value = _said_value(column, marker.value)
        return f"is {'' if marker.what == 'equal' else 'other than '}{value}"
    return {
        "missing": "is missing",
        "present": "is filled in",
        "levels": "has levels of its own",
        "above": "is higher than elsewhere",
        "below": "is lower than elsewhere",
    }[marker.what]


def _said_value(column: pd.Series[Any], value: float) -> str:
    kind = kind_and_form(column)[0]
    if kind == "text":
        return repr(decode.texts(column).dictionary_encode().dictionary[int(value)].as_py())
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "date":
        return f"{pd.Timestamp(int(value)):%Y-%m-%d}"
    return f"{value:g}"


def _judge(
    column: pd.Series[Any], search: LeakSearch | None
) -> tuple[dict[str, Any], Suspicion | None]:
    """What is in a column, and why it is a suspected leak if it is one."""
    try:
        kind, written = kind_and_form(column)
    except UninformativeError:
        kind = decode.kind_of(column)
        return _description(kind, 1.0, 0, "all missing"), None
    if kind == "text":
        codes, levels, missing = _level_codes(column)
        return _verdict_on(kind, missing, levels, levels, search, codes)
    values = _as_numbers(column, kind, written)
    missing = float(np.isnan(values).mean()) if len(values) else 0.0
    # Long account numbers differ by less than floats can show.
    is_whole = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu"
    found = _different(column.to_numpy() if is_whole else values)
    whole = kind == "number" and found == len(values) and bool((values == np.floor(values)).all())
    return _verdict_on(kind, missing, found, found if whole else 0, search, values)


def _verdict_on(
    kind: str,
    missing: float,
    different: int,
    names: int,
    search: LeakSearch | None,
    values: Array,
) -> tuple[dict[str, Any], Suspicion | None]:
    note = ""
    if different + (missing > 0) < 2:
        note = "one value" if different else "all missing"
    elif names == len(values) > _FEW_ROWS:
        note = "different in every row"
    found = None
    if search is not None and different + (missing > 0) > 1:
        is_text = kind == "text"
        found = search.levels(values, different) if is_text else search.numbers(values)
    return _description(kind, missing, different, note), found


def _description(kind: str, missing: float, values: int, note: str) -> dict[str, Any]:
    return {"kind": kind, "missing": missing, "values": values, "note": note}


def _level_codes(column: pd.Series[Any]) -> tuple[Ints, int, float]:
    """Numbers of the levels, with one for missing, how many there are, and the share missing."""
    encoded = decode.texts(column).dictionary_encode()
    levels = len(encoded.dictionary)
    codes = pc.fill_null(encoded.indices, levels).to_numpy(zero_copy_only=False)
    return codes.astype(np.intp), levels, encoded.null_count / max(1, len(column))


def _as_numbers(column: pd.Series[Any], kind: str, written: str | None) -> Floats:
    if kind == "boolean":
        return decode.booleans(column, written)
    if kind == "number":
        return decode.numbers(column, written)
    times = decode.dates(column, written, decode.time_zone(column))
    return np.where(np.isnat(times), np.nan, times.astype(np.int64).astype(np.float64))


def _different(values: Any) -> int:
    """How many different values there are, missing ones aside."""
    ordered = np.sort(values)  # missing values come last
    if ordered.dtype.kind == "f":
        ordered = ordered[: np.searchsorted(ordered, np.nan)]
    return int((ordered[1:] != ordered[:-1]).sum()) + bool(ordered.size)


def _sentence_on(names: list[str], one: str, many: str) -> list[str]:
    """A sentence on columns, none if there are none; of many the first are named."""
    if not names:
        return []
    more = f", … {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    start = f"1 column {one}" if len(names) == 1 else f"{len(names):,} columns {many}"
    return [f"{start}: {', '.join(names[:_NAMED])}{more}."]


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 1 else "under 1 %"

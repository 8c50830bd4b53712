"""The features of a whole table as of arrival: what a desk would have said of each row."""

from __future__ import annotations

from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Floats
from rarefind.data._entity_histories import Spec
from rarefind.data._history_rows import BLOCK, describe_row, insert_row
from rarefind.data.clock import Times, has_dates, read_times
from rarefind.data.feature_list import (
    LARGEST_AMOUNT,
    QUARTER,
    EntityFeatures,
    FeatureList,
    day_features,
)

__all__ = ["feature_table"]


class _Arrivals(NamedTuple):
    """All rows in the order of their arrival."""

    order: Array
    time: Array
    amount: Array


class _Labels(NamedTuple):
    """Labels as they came: their row, how many rows had arrived, and whether they say fraud."""

    row: Array
    known: Array
    fraud: Array


def feature_table(
    table: pd.DataFrame,
    features: FeatureList,
    *,
    arrival: str | None = None,
    label: str | None = None,
    known_at: str | None = None,
    taken_back_at: str | None = None,
) -> pd.DataFrame:
    """Describe each row by the rows that arrived before it and the labels known then.

    Parameters
    ----------
    table : DataFrame
        One row a transaction, with the columns that ``features`` name, and no missing value in
        those of time, amount and entities.
    features : FeatureList
    arrival : str or None
        The column of numbers or times in whose order the rows arrived; rows of one arrival came in
        the order of the table. None for rows that arrived in the order of their time.
    label : str or None
        The column that is 1 for fraud. Everything else, missing too, is not a known fraud.
    known_at : str or None
        The column that says, in the unit of ``arrival``, when a label became known: it counts for
        rows that arrived later. Missing is never; None is as soon as the delay allows.
    taken_back_at : str or None
        The column that says, in the unit of ``arrival``, when a label was taken back or corrected
        to genuine: it does not count for rows that arrived later. Missing is never.

    Returns
    -------
    DataFrame
        ``features.names``, with the index of the table.
    """
    times = read_times(table[features.time])
    amounts = minor_amounts(table[features.amount], features.minor_units)
    arrived, known = _order(table, times, arrival, known_at)
    _, taken_back = _order(table, times, arrival, taken_back_at)
    order = np.argsort(arrived, kind="stable")
    labels = _Labels(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, bool))
    if label is not None:
        labels = _labels(table[label], order, arrived, known, taken_back)
    codes = {column: pd.factorize(table[column]) for column in features.distinct}
    rows = _Arrivals(order, times.instant, amounts)
    out = np.empty((len(table), len(features.names)))
    first = 0
    for entity in features.entities:
        owns = np.empty((len(table), len(entity.distinct)), dtype=np.int64)
        for i, column in enumerate(entity.distinct):
            owns[:, i] = codes[column][0]
        most = max((len(codes[column][1]) for column in entity.distinct), default=0)
        _describe_entity(table, entity, features, rows, labels, owns, most, out, first)
        first += len(entity.names)
    out[:, first] = amounts / 10.0**features.minor_units
    out[:, first + 1 :] = _days(times, features.time_zone)
    return pd.DataFrame(out, index=table.index, columns=list(features.names), copy=False)


def minor_amounts(column: pd.Series[Any], minor_units: int) -> Array:
    """Amounts in whole minor units; one with more digits is an error."""
    given = column.to_numpy(dtype=np.float64)
    scaled = given * 10.0**minor_units
    whole = np.rint(scaled)
    wrong = ~(np.abs(scaled - whole) <= 1e-6 * np.maximum(1, np.abs(scaled) * 1e-6))
    if wrong.any():
        raise ValueError(
            f"Column {column.name!r} has {given[wrong][0]!r}, which has more than "
            f"{minor_units} digits after its decimal point: round the amounts, or give a larger "
            "minor_units."
        )
    if (np.abs(whole) > LARGEST_AMOUNT).any():
        raise ValueError(f"Column {column.name!r} has amounts beyond 2**53 minor units.")
    return whole.astype(np.int64)


def _order(
    table: pd.DataFrame, times: Times, arrival: str | None, known_at: str | None
) -> tuple[Array, Array | None]:
    """Numbers that order arrivals, and those at which labels were known; NaN is never."""
    if arrival is None:
        if known_at is not None:
            raise ValueError(
                "known_at and taken_back_at are in the unit of arrival: name the column of "
                "arrivals too."
            )
        return times.instant, None
    arrived = table[arrival]
    if arrived.isna().any():
        raise ValueError(f"Column {arrival!r} has missing values: every row arrived once.")
    known = None if known_at is None else table[known_at]
    if known is not None and has_dates(known) != has_dates(arrived) and not known.isna().all():
        raise ValueError(
            f"Columns {arrival!r} and {known_at!r} are compared: make both times or both numbers."
        )
    if not has_dates(arrived):
        return (
            arrived.to_numpy(),
            None if known is None else known.to_numpy(dtype=np.float64, na_value=np.nan),
        )
    if known is None:
        return read_times(arrived).instant, None
    read = read_times(known, allow_missing=True)
    # A time that is not known comes after all others.
    return read_times(arrived).instant, np.where(read.known, read.instant, np.iinfo(np.int64).max)


def _labels(
    column: pd.Series[Any],
    order: Array,
    arrived: Array,
    known: Array | None,
    taken_back: Array | None,
) -> _Labels:
    rows = np.flatnonzero(column.to_numpy(dtype=np.float64, na_value=np.nan) == 1)
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    at = position[rows] + 1
    if known is not None:
        rows, at = rows[~np.isnan(known[rows])], at[~np.isnan(known[rows])]
        at = np.maximum(at, np.searchsorted(arrived[order], known[rows], side="right"))
    fraud = np.ones(len(rows), dtype=bool)
    if taken_back is not None:
        is_back = ~np.isnan(taken_back[rows])
        back = np.searchsorted(arrived[order], taken_back[rows[is_back]], side="right")
        at = np.concatenate([at, np.maximum(at[is_back], back)])
        rows = np.concatenate([rows, rows[is_back]])
        fraud = np.concatenate([fraud, np.zeros(int(is_back.sum()), dtype=bool)])
    # Of two at one place, the label came before it was taken back.
    by_time = np.argsort(at, kind="stable")
    return _Labels(rows[by_time], at[by_time], fraud[by_time])


def _describe_entity(
    table: pd.DataFrame,
    entity: EntityFeatures,
    features: FeatureList,
    rows: _Arrivals,
    labels: _Labels,
    owns: Array,
    most: int,
    out: Floats,
    first: int,
) -> None:
    codes, names = pd.factorize(table[entity.column])
    counts = np.bincount(codes, minlength=len(names))
    fraud_counts = np.bincount(codes[labels.row], minlength=len(names))
    longest = -(-int(counts.max(initial=0)) // BLOCK) * BLOCK
    _describe_rows(
        np.empty(longest, dtype=np.int64),
        np.empty(longest, dtype=np.int64),
        np.empty(longest * owns.shape[1], dtype=np.int32),
        np.empty(longest // BLOCK, dtype=np.int64),
        np.empty(longest // BLOCK, dtype=np.int64),
        np.empty(int(fraud_counts.max(initial=0)), dtype=np.int64),
        np.zeros(most + 2, dtype=np.int64),
        _grouped(codes[rows.order], counts),
        np.concatenate([[0], np.cumsum(counts)]),
        rows.order,
        rows.time,
        rows.amount,
        owns,
        _grouped(codes[labels.row], fraud_counts),
        np.concatenate([[0], np.cumsum(fraud_counts)]),
        labels.known,
        labels.fraud,
        rows.time[labels.row],
        *Spec.of(entity, features),
        out,
        first,
    )


def _grouped(codes: Array, counts: Array) -> Array:
    """Positions by entity, in their order within each."""
    places = np.empty(len(codes), dtype=np.int64)
    _group(codes, np.cumsum(counts) - counts, places)
    return places


def _days(times: Times, time_zone: str | None) -> Floats:
    """Hour, weekend and night of each row."""
    shown = times.local if time_zone is None else times.instant
    zone = ZoneInfo(time_zone or "UTC")
    quarters, inverse = np.unique(shown // QUARTER, return_inverse=True)
    days = [day_features(int(quarter), zone) for quarter in quarters]
    return np.array(days, dtype=np.float64).reshape(-1, 3)[inverse.ravel()]


@kernel
def _group(codes: Array, free: Array, places: Array) -> None:
    for i in range(len(codes)):
        places[free[codes[i]]] = i
        free[codes[i]] += 1


@kernel
def _insert_time(times: Array, count: int, when: int) -> None:
    """Add a time to some that are in order."""
    at = count
    while at > 0 and times[at - 1] > when:
        times[at] = times[at - 1]
        at -= 1
    times[at] = when


@kernel
def _remove_time(times: Array, count: int, when: int) -> None:
    """Take a time away from some that are in order, and have it."""
    at = 0
    while times[at] != when:
        at += 1
    for i in range(at, count - 1):
        times[i] = times[i + 1]


@kernel
def _describe_rows(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    frauds: Array,
    seen: Array,
    arrivals: Array,
    starts: Array,
    order: Array,
    times: Array,
    amounts: Array,
    owns: Array,
    events: Array,
    event_starts: Array,
    known: Array,
    is_fraud: Array,
    fraud_times: Array,
    windows: Array,
    statistics: Array,
    options: Array,
    scale: float,
    out: Floats,
    first: int,
) -> None:
    """Let the rows of each entity arrive one by one, and describe each before it is added."""
    room = len(time)
    for entity in range(len(starts) - 1):
        n_frauds = 0
        event, last_event = event_starts[entity], event_starts[entity + 1]
        for i in range(starts[entity], starts[entity + 1]):
            size = i - starts[entity]
            while event < last_event and known[events[event]] <= arrivals[i]:
                when = fraud_times[events[event]]
                if is_fraud[events[event]]:
                    _insert_time(frauds, n_frauds, when)
                    n_frauds += 1
                else:
                    _remove_time(frauds, n_frauds, when)
                    n_frauds -= 1
                event += 1
            row = order[arrivals[i]]
            describe_row(
                time,
                total,
                codes,
                low,
                high,
                0,
                room,
                size,
                0,
                frauds[:n_frauds],
                seen,
                times[row],
                amounts[row],
                owns[row],
                windows,
                statistics,
                options,
                scale,
                out[row],
                first,
            )
            insert_row(
                time,
                total,
                codes,
                low,
                high,
                0,
                room,
                size,
                0,
                times[row],
                amounts[row],
                owns[row],
            )

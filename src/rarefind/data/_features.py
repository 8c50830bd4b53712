"""What was known of a payment's customer and terminal when it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Floats
from rarefind.data.clock import Times, nanoseconds, read_times
from rarefind.data.feature_list import EntityFeatures, FeatureList, window_lengths

_SECOND = 1_000_000_000  # in nanoseconds, the unit of all times here
_LONGEST = np.iinfo(np.int64).max
_SATURDAY = 5
_MORNING = 7  # the hour at which the night ends


def transaction_features(
    transactions: pd.DataFrame,
    *,
    time: str = "time",
    customer: str = "customer",
    terminal: str = "terminal",
    amount: str = "amount",
    label: str | None = "fraud",
    delay: str | pd.Timedelta = "7D",
    windows: Sequence[str] = ("1h", "1D", "7D", "30D"),
    statistics: Sequence[str] = ("count", "mean"),
    last: int = 0,
    distinct: Mapping[str, Sequence[str]] | None = None,
    minor_units: int | None = None,
    arrival: str | None = None,
    known_at: str | None = None,
) -> pd.DataFrame:
    """Describe each transaction by what its customer and its terminal did before it.

    Only rows that come before a row in time count for it, and the row itself where stated; rows of
    the same time count in the order of the table. What happens later, and labels younger than the
    delay, change nothing.

    With ``arrival`` a row is described as of its arrival, as a running system would have seen it:
    by rows that arrived before it, and labels known then. A row that came late is described by its
    own time, and changes nothing that was said before it came.

    Parameters
    ----------
    transactions : DataFrame
        One row a transaction, in any order.
    time, customer, terminal, amount : str
        Names of the columns. Times are datetimes, with or without a time zone; customers and
        terminals may be of any type. None of them may be missing in any row.
    label : str or None, default="fraud"
        Name of the column that is 1 (or True) for fraud and 0 for none; ``None`` leaves the risk of
        terminals out. Rows without a label are left out of counts and shares of frauds, so rows to
        score can be appended to those that are known.
    delay : str or Timedelta, default="7D"
        How long it takes until a label is known.
    windows : sequence of str, default=("1h", "1D", "7D", "30D")
        Lengths of time w. They are part of the names of columns.
    statistics : sequence of str, default=("count", "mean")
        Of the amounts in each window: count, mean, sum, min, max. Any but the default, as well as
        ``last``, ``distinct`` and ``arrival``, needs ``minor_units``.
    last : int, default=0
        Adds the mean of so many last amounts.
    distinct : mapping of str to sequence of str, optional
        Of ``"customer"`` and ``"terminal"``: columns whose different values are counted.
    minor_units : int, optional
        Digits of amounts after the decimal point, such as 2 for euros. Amounts are then added up
        in whole minor units, exactly and in whatever order they come.
    arrival : str, optional
        Name of the column of numbers or times in whose order the rows arrived.
    known_at : str, optional
        Name of the column that says, in the unit of ``arrival``, when a row's label became known;
        missing is never. Without it labels are known as soon as the delay allows.

    Returns
    -------
    DataFrame
        Floats, with the index of ``transactions``. For a row at time t:

        ``customer_count_W``, ``customer_mean_W``
            Number and mean amount of the customer's transactions in (t − w, t], the row included.
        ``customer_since_last``
            Seconds since the customer's previous transaction; NaN if there is none.
        ``amount_to_customer_mean``
            The amount over the mean of the customer's earlier amounts in the longest window; NaN if
            there are none or their mean is 0.
        ``terminal_count_W``, ``terminal_mean_W``, ``terminal_since_last``
            The same for the terminal.
        ``terminal_risk_W``, ``terminal_fraud_count_W``
            Share (0 when there are none) and number of frauds among the terminal's transactions in
            (t − delay − w, t − delay].
        ``amount``, ``hour``, ``weekend``, ``night``
            Of the row itself: the hour from 0 to 23; 1 on Saturdays and Sundays; 1 before 7:00.
        ``customer_sum_W``, ``customer_min_W``, ``customer_max_W``, ``customer_mean_last_N``
            If asked for, of both: of amounts in (t − w, t], and the mean of the last N, the row
            included.
        ``customer_distinct_COLUMN_W``
            If asked for: how many different values the column has in (t − w, t], the row included.

        With ``minor_units`` silence until the delay has passed means genuine: a row without a label
        counts as one without fraud.

    Notes
    -----
    Two pointers walk over each entity's rows, so a window costs the same whatever its length. Sums
    are differences of running totals of the entity that are kept with their rounding errors
    (Knuth's TwoSum), about 32 digits: nothing accumulates, however many rows there are, and one
    huge amount does not spoil the sums after it.

    Examples
    --------
    >>> from rarefind.data import simulate_transactions, transaction_features
    >>> payments = simulate_transactions(n_customers=200, n_terminals=400, days=60)
    >>> features = transaction_features(payments, windows=["1D", "30D"])
    >>> known = payments["time"] >= "2026-02-10"  # after a window and a delay
    >>> risk = features.loc[known, "terminal_risk_30D"].groupby(payments["fraud"]).mean()
    >>> bool(risk[1] > 10 * risk[0])
    True
    """
    lengths = window_lengths(windows)
    lag = nanoseconds("delay", delay)
    if lag < 0:
        raise ValueError(f"delay must not be negative, and is {delay!r}.")
    _check_columns(transactions, [time, customer, terminal, amount], label)
    if minor_units is None:
        _check_plain(statistics, last, distinct, arrival, known_at)
    else:
        from rarefind.data.feature_table import feature_table

        _read_times(transactions[time])
        _read_amounts(transactions[amount])
        if label is not None:
            _read_labels(transactions[label])
        counted = _check_distinct(transactions, distinct or {})
        _check_named(transactions, arrival, known_at)
        lasting, said = tuple(map(str, windows)), tuple(statistics)
        who = EntityFeatures(
            "customer", customer, lasting, said, True, last, True, counted["customer"]
        )
        risk = label is not None
        where = EntityFeatures(
            "terminal", terminal, lasting, said, True, last, False, counted["terminal"], risk
        )
        features = FeatureList(time, amount, minor_units, (who, where), f"{lag}ns")
        return feature_table(
            transactions, features, arrival=arrival, label=label, known_at=known_at
        )
    times = _read_times(transactions[time])
    money = _read_amounts(transactions[amount])
    when = times.instant
    in_time = np.argsort(when, kind="stable")
    cards = _by_entity(transactions[customer], when, in_time)
    paid = _running_totals(cards, money[cards.rows])
    found = _history("customer", cards, paid, lengths)
    found["amount_to_customer_mean"] = _ratio_to_mean(cards, paid, money, max(lengths.values()))
    tills = _by_entity(transactions[terminal], when, in_time)
    found |= _history("terminal", tills, _running_totals(tills, money[tills.rows]), lengths)
    if label is not None:
        found |= _risk(tills, _read_labels(transactions[label]), lengths, lag)
    found |= _own(times, money)
    return pd.DataFrame(found, index=transactions.index, copy=False)


def _check_plain(
    statistics: Sequence[str],
    last: int,
    distinct: Mapping[str, Sequence[str]] | None,
    arrival: str | None,
    known_at: str | None,
) -> None:
    asked = {
        "statistics": tuple(statistics) != ("count", "mean"),
        "last": last != 0,
        "distinct": bool(distinct),
        "arrival": arrival is not None,
        "known_at": known_at is not None,
    }
    if any(asked.values()):
        name = next(name for name, given in asked.items() if given)
        raise ValueError(
            f"{name} needs minor_units, the digits of amounts after the decimal point (2 for "
            "euros): it is computed on whole minor units, which add up exactly in any order."
        )


def _check_distinct(
    transactions: pd.DataFrame, distinct: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    strange = [name for name in distinct if name not in ("customer", "terminal")]
    if strange:
        raise ValueError(f"distinct is of 'customer' and 'terminal', not of {strange[0]!r}.")
    for columns in distinct.values():
        if isinstance(columns, str):
            raise ValueError(f"distinct must name lists of columns such as [{columns!r}].")
        _check_named(transactions, *columns)
    return {name: tuple(distinct.get(name, ())) for name in ("customer", "terminal")}


def _check_named(transactions: pd.DataFrame, *columns: str | None) -> None:
    for column in columns:
        if column is not None and column not in transactions:
            raise ValueError(
                f"The table has no column {column!r}; its columns are {list(transactions.columns)}."
            )


def _check_columns(transactions: pd.DataFrame, needed: list[str], label: str | None) -> None:
    if not isinstance(transactions, pd.DataFrame):
        raise ValueError(
            f"transactions must be a pandas DataFrame, not {type(transactions).__name__}."
        )
    named = needed if label is None else [*needed, label]
    absent = [column for column in named if column not in transactions]
    if absent:
        advice = " (label=None does without labels)" if label in absent else ""
        raise ValueError(
            f"The table has no column {', '.join(map(repr, absent))}{advice}; "
            f"its columns are {list(transactions.columns)}."
        )
    missing = {column: int(transactions[column].isna().sum()) for column in needed}
    if any(missing.values()):
        where = ", ".join(f"{column!r} ({n} rows)" for column, n in missing.items() if n)
        raise ValueError(f"Values are missing in {where}: fill them in or drop these rows.")


def _read_times(column: pd.Series[Any]) -> Times:
    if not pd.api.types.is_datetime64_any_dtype(column):
        raise ValueError(
            f"Column {column.name!r} must hold datetimes, and holds {column.dtype}: "
            "convert it with pandas.to_datetime."
        )
    return read_times(column)


def _read_amounts(column: pd.Series[Any]) -> Floats:
    amounts = _as_floats(column)
    infinite = int(np.isinf(amounts).sum())
    if infinite:
        raise ValueError(f"Column {column.name!r} is infinite in {infinite} rows.")
    return amounts


def _read_labels(column: pd.Series[Any]) -> Floats:
    labels = _as_floats(column)
    strange = int((~np.isin(labels, (0, 1)) & ~np.isnan(labels)).sum())
    if strange:
        raise ValueError(f"Column {column.name!r} must be 0 or 1, and is not in {strange} rows.")
    return labels


def _as_floats(column: pd.Series[Any]) -> Floats:
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column {column.name!r} must hold numbers, and holds {column.dtype}."
        ) from None


class _Entities(NamedTuple):
    """The rows of the table entity by entity, each entity's in order of time."""

    starts: Array
    rows: Array
    time: Array


class _Totals(NamedTuple):
    """Sums of each entity's values up to each of its rows, and what their rounding lost."""

    totals: Floats
    losses: Floats


def _by_entity(column: pd.Series[Any], when: Array, in_time: Array) -> _Entities:
    codes, names = pd.factorize(column)
    starts = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=len(names)), out=starts[1:])
    rows = np.empty(len(codes), dtype=np.int64)
    _group_rows(codes, in_time, starts[:-1].copy(), rows)
    return _Entities(starts, rows, when[rows])


# Kernels fill arrays that NumPy makes, since NumPy asks for large pages and compiled code does not:
# writes scattered over the table then miss less.
def _running_totals(entities: _Entities, values: Floats) -> _Totals:
    found = _Totals(np.empty(len(values)), np.empty(len(values)))
    _add_up(entities.starts, values, *found)
    return found


def _window_sums(
    entities: _Entities, totals: _Totals, nearest: int, farthest: int, *, itself: bool
) -> tuple[Floats, Floats]:
    """Counts and sums of the windows of :func:`_walk_windows`, in the order of the table."""
    counts, sums = np.empty(len(entities.rows)), np.empty(len(entities.rows))
    _walk_windows(*entities, *totals, nearest, farthest, itself, counts, sums)
    return counts, sums


def _history(
    name: str, entities: _Entities, paid: _Totals, lengths: dict[str, int]
) -> dict[str, Floats]:
    found = {}
    for window, length in lengths.items():
        count, total = _window_sums(entities, paid, 0, length, itself=True)
        found[f"{name}_count_{window}"] = count
        found[f"{name}_mean_{window}"] = np.divide(total, count, out=total)
    found[f"{name}_since_last"] = _since_last(entities)
    return found


def _since_last(entities: _Entities) -> Floats:
    gap = np.full(len(entities.rows), np.nan)
    gap[1:] = np.diff(entities.time) / _SECOND
    gap[entities.starts[:-1]] = np.nan
    found = np.empty_like(gap)
    found[entities.rows] = gap
    return found


def _ratio_to_mean(entities: _Entities, paid: _Totals, money: Floats, length: int) -> Floats:
    count, total = _window_sums(entities, paid, 0, length, itself=False)
    # amount / (total / count), which is undefined without earlier amounts and where they sum to 0.
    ratio = np.full(len(money), np.nan)
    return np.divide(money * count, total, out=ratio, where=total != 0)


def _risk(
    entities: _Entities, labels: Floats, lengths: dict[str, int], lag: int
) -> dict[str, Floats]:
    labels = labels[entities.rows]
    unknown = np.isnan(labels)
    frauds = _running_totals(entities, np.where(unknown, 0.0, labels))
    known = _running_totals(entities, np.where(unknown, 0.0, 1.0)) if unknown.any() else None
    found = {}
    for window, length in lengths.items():
        reach = min(lag + length, _LONGEST)
        count, fraud = _window_sums(entities, frauds, lag, reach, itself=False)
        if known is not None:
            _, count = _window_sums(entities, known, lag, reach, itself=False)
        risk = np.divide(fraud, count, out=np.zeros_like(fraud), where=count > 0)
        found[f"terminal_risk_{window}"] = risk
        found[f"terminal_fraud_count_{window}"] = fraud
    return found


def _own(times: Times, money: Floats) -> dict[str, Floats]:
    """What the row itself says, by its local time."""
    local = pd.DatetimeIndex(times.local.view("datetime64[ns]"))
    hour = np.asarray(local.hour, dtype=np.float64)
    return {
        "amount": money,
        "hour": hour,
        "weekend": np.asarray(local.day_of_week >= _SATURDAY, dtype=np.float64),
        "night": np.asarray(hour < _MORNING, dtype=np.float64),
    }


@kernel
def _group_rows(codes: Array, in_time: Array, free: Array, rows: Array) -> None:
    """Sort rows by entity and keep their order in time: a counting sort from the free places."""
    for row in in_time:
        rows[free[codes[row]]] = row
        free[codes[row]] += 1


@kernel
def _add_up(starts: Array, value: Floats, totals: Floats, losses: Floats) -> None:
    """Fill in the running totals of each entity."""
    for entity in range(len(starts) - 1):
        total = loss = 0.0
        for i in range(starts[entity], starts[entity + 1]):
            before, total = total, total + value[i]
            added = total - before
            loss += (before - (total - added)) + (value[i] - added)  # TwoSum (Knuth)
            totals[i], losses[i] = total, loss


@kernel
def _walk_windows(
    starts: Array,
    rows: Array,
    time: Array,
    totals: Floats,
    losses: Floats,
    nearest: int,
    farthest: int,
    itself: bool,
    counts: Floats,
    sums: Floats,
) -> None:
    """Count and sum, for each row of the table, the rows before it in its window of time.

    Those are the rows of its entity that are at least ``nearest`` and less than ``farthest`` ago
    and come before it, and the row itself if ``itself``.
    """
    for entity in range(len(starts) - 1):
        begin = low = high = starts[entity]
        for i in range(begin, starts[entity + 1]):
            while time[i] - time[low] >= farthest:
                low += 1
            while high < i + itself and time[i] - time[high] >= nearest:
                high += 1
            total = 0.0
            if high > low:
                total, loss = totals[high - 1], losses[high - 1]
                if low > begin:
                    total, loss = total - totals[low - 1], loss - losses[low - 1]
                total += loss
            counts[rows[i]], sums[rows[i]] = high - low, total

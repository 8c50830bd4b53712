"""Splits in time: train on the past, wait until its labels are known, test on what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _num_samples

from rarefind._core.types import Array, ArrayLike, Ints, Label, Table
from rarefind.data.clock import read_times
from rarefind.metrics.inputs import is_positive

Period: TypeAlias = "timedelta | str | int"


class _TimeSplit(BaseCrossValidator):
    """Windows (train, delay, test) along the time axis; the subclasses say where they begin."""

    train: Period | None
    delay: Period
    test: Period
    time: Any
    entity: Any
    pos_label: Label
    drop_known_positives: bool

    def split(
        self, X: Table, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Ints, Ints]]:
        """Yield the row numbers of each training and test period, in the order of time.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            The rows; a frame may hold the columns named by ``time`` and ``entity``.
        y : array-like of shape (n,), default=None
            The labels, needed to drop entities already known positive.
        groups : array-like of shape (n,), default=None
            The entities, where ``entity`` does not name them.

        Yields
        ------
        train, test : ndarray of int
            Row numbers; a period without rows is passed over.
        """
        order, clock = self._clock(X)
        known_by = self._known_by(X, y, groups, order, clock) if self.drop_known_positives else None
        yielded = False
        for train_start, train_end, test_start, test_end in self._windows(clock):
            first, last = np.searchsorted(clock, [train_start, train_end])
            start, stop = np.searchsorted(clock, [test_start, test_end])
            train, test = order[first:last], order[start:stop]
            if known_by is not None:
                test = test[known_by[start:stop] >= train_end]
            if train.size and test.size:
                yielded = True
                yield train, test
        if not yielded:
            raise ValueError(
                f"The data, {_span(clock)}, are too short for train={self.train}, "
                f"delay={self.delay}, test={self.test}."
            )

    def get_n_splits(
        self, X: Table = None, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> int:
        """Count the splits of this table."""
        if X is None:
            raise ValueError("The number of splits depends on the rows: give X.")
        return sum(1 for _ in self.split(X, y, groups))

    def _windows(self, clock: Array) -> Iterator[tuple[Any, Any, Any, Any]]:
        raise TypeError("Use TemporalSplit or PrequentialSplit.")

    def _in_rows(self) -> bool:
        periods = (self.train, self.delay, self.test, getattr(self, "step", None))
        counted = [
            # NumPy calls its timedelta an integer.
            isinstance(p, Integral) and not isinstance(p, np.timedelta64)
            for p in periods
            if p is not None and not (isinstance(p, int) and p == 0)
        ]
        if any(counted) and not all(counted):
            raise ValueError(
                "train, delay, test and step must be all periods of time or all counts of rows."
            )
        return all(counted)

    def _length(self, period: Period) -> int:
        """A period on the clock: rows as they are, time in nanoseconds."""
        if isinstance(period, str) and period.strip().isdigit():
            raise ValueError(f'A period of time needs its unit, as in "{period.strip()}D".')
        length = int(period) if self._in_rows() else pd.Timedelta(period).value  # type: ignore[arg-type]
        if length < 0:
            raise ValueError(f"A period cannot be negative: {period}.")
        return length

    def _clock(self, X: Table) -> tuple[Ints, Array]:
        """Row numbers in the order of time, and the sorted clock: row ranks or nanoseconds."""
        times = _column(X, self.time, "time")
        n = _num_samples(X)
        if self._in_rows():
            order = np.arange(n) if times is None else np.argsort(times, kind="stable")
            return order, np.arange(n)
        if times is None:
            raise ValueError("Periods of time need time=: the name of a column, or one time a row.")
        instants = read_times(pd.Series(times, name="time")).instant
        order = np.argsort(instants, kind="stable")
        return order, instants[order]

    def _extent(self, clock: Array) -> tuple[int, int]:
        """Where the data begin and end, in whole units: days if all periods are whole days."""
        if self._in_rows():
            return 0, clock.size
        lengths = [self._length(p) for p in (self.train, self.delay, self.test) if p is not None]
        unit = next(
            u
            for u in (86_400_000_000_000, 3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1)
            if all(length % u == 0 for length in lengths)
        )
        return int(clock[0]) // unit * unit, (int(clock[-1]) // unit + 1) * unit

    def _known_by(
        self, X: Table, y: ArrayLike | None, groups: ArrayLike | None, order: Ints, clock: Array
    ) -> Array:
        """For each row in time order, when its entity was first positive (at the end if never)."""
        entity = _column(X, self.entity if groups is None else groups, "entity")
        if y is None or entity is None:
            raise ValueError("Dropping known positives needs y and entity= (or groups).")
        codes = pd.factorize(entity)[0][order]
        never = np.iinfo(np.int64).max
        first = np.full(codes.max() + 1, never, dtype=np.int64)
        positive = is_positive(np.asarray(y), self.pos_label)[order]
        np.minimum.at(first, codes[positive], clock[positive])
        return first[codes]


class TemporalSplit(_TimeSplit):
    """Train on a period, leave a delay in which labels are not yet known, test on the next.

    From the beginning of the data the three periods move on by ``step``, as in the protocol of
    train, gap and test of Frery (2019, section 2.6.1). Only complete test periods are used.

    Parameters
    ----------
    train : timedelta, str or int
        Length of the training period: time (``"7D"``), or a number of rows in the order of time.
    delay : timedelta, str or int
        Time between training and test in which labels are not yet known.
    test : timedelta, str or int
        Length of the test period.
    step : timedelta, str or int, default=None
        How far the periods move; by default the length of the test period.
    time : str or array-like, default=None
        The column with the time, or one time a row. Without it the rows are in time order.
    expanding : bool, default=False
        Train on everything from the beginning instead of a rolling period.
    drop_known_positives : bool, default=False
        Leave out of the test period the rows of entities that were positive, with a label known,
        before the end of the training period: nobody checks them again.
    entity : str or array-like, default=None
        The column with the entity, or one a row; ``groups`` of ``split`` come first.
    pos_label : label, default=None
        The positive label, where it is not 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind.selection import TemporalSplit
    >>> days = pd.DataFrame({"when": pd.date_range("2026-01-01", periods=28, freq="D")})
    >>> split = TemporalSplit(train="7D", delay="7D", test="7D", time="when")
    >>> [(train[[0, -1]].tolist(), test[[0, -1]].tolist()) for train, test in split.split(days)]
    [([0, 6], [14, 20]), ([7, 13], [21, 27])]
    """

    def __init__(
        self,
        train: Period,
        delay: Period,
        test: Period,
        step: Period | None = None,
        *,
        time: Any = None,
        expanding: bool = False,
        drop_known_positives: bool = False,
        entity: Any = None,
        pos_label: Label = None,
    ) -> None:
        self.train = train
        self.delay = delay
        self.test = test
        self.step = step
        self.time = time
        self.expanding = expanding
        self.drop_known_positives = drop_known_positives
        self.entity = entity
        self.pos_label = pos_label

    def _windows(self, clock: Array) -> Iterator[tuple[Any, Any, Any, Any]]:
        begin, end = self._extent(clock)
        train, delay, test = map(self._length, (self.train, self.delay, self.test))  # type: ignore[arg-type]
        step = test if self.step is None else self._length(self.step)
        if not (train and test and step):
            raise ValueError("train, test and step must be longer than zero.")
        start = begin
        while start + train + delay + test <= end:
            cut = start + train
            yield (begin if self.expanding else start), cut, cut + delay, cut + delay + test
            start += step


class PrequentialSplit(_TimeSplit):
    """The last ``n_splits`` test periods of the data, each with the training possible then.

    The periods are counted back from the end of the data, so that the newest test period is always
    used, whatever the length of the data.

    Parameters
    ----------
    n_splits : int
        Number of test periods.
    test : timedelta, str or int
        Length of a test period: time (``"7D"``), or a number of rows in the order of time.
    delay : timedelta, str or int, default=0
        Time before each test period in which labels are not yet known.
    train : timedelta, str or int, default=None
        Length of the training period; by default everything before the delay.
    time, drop_known_positives, entity, pos_label
        As in :class:`TemporalSplit`.

    Examples
    --------
    >>> import numpy as np
    >>> from rarefind.selection import PrequentialSplit
    >>> split = PrequentialSplit(n_splits=2, test=2, delay=1)
    >>> [(train.tolist(), test.tolist()) for train, test in split.split(np.zeros((7, 1)))]
    [([0, 1], [3, 4]), ([0, 1, 2, 3], [5, 6])]
    """

    def __init__(
        self,
        n_splits: int,
        test: Period,
        delay: Period = 0,
        train: Period | None = None,
        *,
        time: Any = None,
        drop_known_positives: bool = False,
        entity: Any = None,
        pos_label: Label = None,
    ) -> None:
        self.n_splits = n_splits
        self.test = test
        self.delay = delay
        self.train = train
        self.time = time
        self.drop_known_positives = drop_known_positives
        self.entity = entity
        self.pos_label = pos_label

    def _windows(self, clock: Array) -> Iterator[tuple[Any, Any, Any, Any]]:
        begin, end = self._extent(clock)
        delay, test = self._length(self.delay), self._length(self.test)
        if not test:
            raise ValueError("test must be longer than zero.")
        if self.n_splits < 1:
            raise ValueError(f"n_splits must be at least 1, not {self.n_splits}.")
        for back in range(self.n_splits, 0, -1):
            start = end - back * test
            cut = start - delay
            first = begin if self.train is None else cut - self._length(self.train)
            if cut <= begin or first < begin:
                raise ValueError(
                    f"The data, {_span(clock)}, are too short for {self.n_splits} test periods of "
                    f"{self.test} with delay={self.delay} and train={self.train}."
                )
            yield first, cut, start, start + test


def _column(X: Table, given: Any, role: str) -> Array | None:
    """One value a row: a column of the frame by name, or the array itself."""
    if given is None:
        return None
    if isinstance(given, str):
        columns = list(getattr(X, "columns", []))
        if given not in columns:
            raise ValueError(f"There is no column {given!r} for {role}= in the table.")
        given = X[given]
    values = given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
    if len(values) != _num_samples(X):
        raise ValueError(f"{role}= has {len(values)} entries for {_num_samples(X)} rows.")
    _check_no_missing(values, role)
    return np.asarray(values)


def _check_no_missing(values: Any, role: str) -> None:
    missing = int(pd.isna(values).sum())
    if missing:
        raise ValueError(f"{role} is missing in {missing} rows.")


def _span(clock: Array) -> str:
    if clock.size and clock[-1] > 10**12:
        return f"from {pd.Timestamp(clock[0])} to {pd.Timestamp(clock[-1])}"
    return f"{clock.size} rows"

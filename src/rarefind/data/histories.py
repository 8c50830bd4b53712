"""The histories of all entities in memory: features of a transaction as it arrives."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from rarefind._core.types import Array, Floats
from rarefind.data._history_room import SIZES, SMALLEST, add_rows, forget_rows
from rarefind.data._history_rows import BLOCK, describe_row, remove_row
from rarefind.data.feature_list import (
    QUARTER,
    STATISTICS,
    EntityFeatures,
    FeatureList,
    day_features,
)

__all__ = ["EntityHistories", "Histories", "Undo"]

_Arrays = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]
_NO_TIMES = np.zeros(0, dtype=np.int64)
_MOST_QUARTERS = 100_000  # of an hour, whose hour and day are remembered: three years


class Undo(NamedTuple):
    """How to take back an addition: what was added is the last of its time."""

    entities: tuple[int, ...]
    time: int
    newest: int
    #: The transaction whose label was changed, and the label it had; empty for a transaction.
    id: str = ""
    fraud: bool = False


class Spec(NamedTuple):
    """The features of one entity as kernels read them."""

    windows: Array
    statistics: Array
    options: Array
    scale: float

    @classmethod
    def of(cls, entity: EntityFeatures, features: FeatureList) -> Spec:
        """Number what a list says."""
        options = [
            entity.since_last,
            entity.last,
            entity.ratio,
            entity.risk,
            features.lag,
            features.memory_length,
        ]
        return cls(
            np.array(entity.lengths, dtype=np.int64),
            np.array([STATISTICS.index(each) for each in entity.statistics], dtype=np.int64),
            np.array(options, dtype=np.int64),
            10.0**features.minor_units,
        )


class EntityHistories:
    """The histories of one kind of entity, such as all cards."""

    def __init__(self, spec: Spec, n_columns: int) -> None:
        self.spec = spec
        self.n_columns = n_columns
        self.time = np.empty(0, dtype=np.int64)
        self.total = np.empty(0, dtype=np.int64)
        self.codes = np.empty(0, dtype=np.int32)
        self.low = np.empty(0, dtype=np.int64)
        self.high = np.empty(0, dtype=np.int64)
        self.free = np.full(SIZES + 1, -1, dtype=np.int64)
        self.free[SIZES] = 0
        self.mark = np.empty(0, dtype=np.int8)
        self.place = np.empty(0, dtype=np.int64)
        self.room = np.empty(0, dtype=np.int64)
        self.size = np.empty(0, dtype=np.int64)
        self.base = np.empty(0, dtype=np.int64)
        #: Times of known frauds in order, by entity.
        self.frauds: dict[int, list[int]] = {}
        self._fraud_arrays: dict[int, Array] = {}
        self._own = np.empty((1, n_columns), dtype=np.int64)
        self._one = (np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1, np.int64))
        self.grow(1 << 12)
        self.grow_entities(1 << 10)

    def grow(self, rows: int) -> None:
        """Have room for so many rows in all; the system moves pages, and copies nothing."""
        rows = -(-rows // BLOCK) * BLOCK
        for array in (self.time, self.total):
            array.resize(rows, refcheck=False)
        self.codes.resize(rows * self.n_columns, refcheck=False)
        for array in (self.low, self.high):
            array.resize(rows // BLOCK, refcheck=False)
        self.mark.resize(rows >> SMALLEST, refcheck=False)

    def grow_entities(self, count: int) -> None:
        """Have a place for so many entities; new ones have no rows."""
        for array in (self.place, self.room, self.size, self.base):
            array.resize(count, refcheck=False)

    def describe(
        self, who: int, time: int, amount: int, own: Sequence[int], seen: Array, out: Floats, k: int
    ) -> None:
        """Write the features of a transaction from ``out[k]`` on; -1 is an entity not yet seen."""
        mine = self._own[0]
        for column, code in enumerate(own):
            mine[column] = code
        known = 0 <= who < len(self.size)
        describe_row(
            self.time,
            self.total,
            self.codes,
            self.low,
            self.high,
            int(self.place[who]) if known else 0,
            int(self.room[who]) if known else 0,
            int(self.size[who]) if known else 0,
            int(self.base[who]) if known else 0,
            self._known_frauds(who),
            seen,
            time,
            amount,
            mine,
            *self.spec,
            out,
            k,
        )

    def add(self, who: int, time: int, amount: int, own: Sequence[int]) -> None:
        """Add a transaction."""
        entities, times, amounts = self._one
        entities[0], times[0], amounts[0] = who, time, amount
        for column, code in enumerate(own):
            self._own[0, column] = code
        self.extend(entities, times, amounts, self._own)

    def extend(self, entities: Array, times: Array, amounts: Array, owns: Array) -> None:
        """Add transactions in the order of their arrival."""
        done = 0
        while True:
            done = add_rows(*self._arrays(), entities, times, amounts, owns, done)
            if done == len(entities):
                return
            self.grow(len(self.time) * 3 // 2)

    def remove(self, who: int, time: int) -> None:
        """Take away the transaction of a time that was added last."""
        found = remove_row(
            self.time,
            self.total,
            self.codes,
            self.low,
            self.high,
            int(self.place[who]),
            int(self.room[who]),
            int(self.size[who]),
            int(self.base[who]),
            time,
            self.n_columns,
        )
        if not found:
            raise ValueError("There is no transaction of that time to take back.")
        self.size[who] -= 1

    def set_fraud(self, who: int, time: int, fraud: bool) -> None:
        """Add a known fraud, or take one away."""
        times = self.frauds.setdefault(who, [])
        if fraud:
            insort(times, time)
        else:
            times.remove(time)
        self._fraud_arrays[who] = np.array(times, dtype=np.int64)
        if not times:
            del self.frauds[who], self._fraud_arrays[who]

    def forget(self, first: int, stop: int, before: int, kept: int, long_before: int) -> int:
        """Forget old rows of some entities; see :func:`forget_rows`."""
        stop = min(stop, len(self.size))
        for who in [who for who in self.frauds if first <= who < stop]:
            times = self.frauds[who]
            del times[: bisect_right(times, before)]
            self._fraud_arrays[who] = np.array(times, dtype=np.int64)
            if not times:
                del self.frauds[who], self._fraud_arrays[who]
        return forget_rows(*self._arrays(), self.n_columns, first, stop, before, kept, long_before)

    def _known_frauds(self, who: int) -> Array:
        return self._fraud_arrays.get(who, _NO_TIMES)

    def _arrays(self) -> _Arrays:
        return (
            self.time,
            self.total,
            self.codes,
            self.low,
            self.high,
            self.free,
            self.mark,
            self.place,
            self.room,
            self.size,
            self.base,
        )


class Histories:
    """What all entities did, kept so that a transaction is described in microseconds.

    What it says of a transaction is what :func:`~rarefind.data.feature_table.feature_table` says of
    it as of its arrival, to the last bit.

    Parameters
    ----------
    features : FeatureList
    """

    def __init__(self, features: FeatureList) -> None:
        self.features = features
        #: The number of each value, by column.
        columns = [each.column for each in features.entities] + list(features.distinct)
        self._numbers: dict[str, dict[str, int]] = {column: {} for column in columns}
        self._kinds = [
            EntityHistories(Spec.of(each, features), len(each.distinct))
            for each in features.entities
        ]
        self._keys = [self._numbers[each.column] for each in features.entities]
        self._distinct = [self._numbers[column] for column in features.distinct]
        position = {column: i for i, column in enumerate(features.distinct)}
        self._own = [tuple(position[c] for c in each.distinct) for each in features.entities]
        self._first = np.cumsum([0] + [len(each.names) for each in features.entities]).tolist()
        self._length = len(features.names)
        self._seen = np.zeros(1 << 10, dtype=np.int64)
        self._zone = ZoneInfo(features.time_zone or "UTC")
        self._days: dict[int, tuple[float, float, float]] = {}
        #: Transactions known to be frauds: their entities and their time.
        self._frauds: dict[str, tuple[tuple[int, ...], int]] = {}
        #: Transactions up to this time are forgotten.
        self.floor = -(2**63)
        #: The earliest time of a transaction that can be described or added.
        self.earliest = -(2**63)
        #: The latest time of a transaction.
        self.newest = -(2**63)
        self._swept = 0

    def describe(
        self,
        entities: Sequence[str],
        time: int,
        amount: int,
        distinct: Sequence[str | None] = (),
    ) -> Floats:
        """Features of a transaction that is not added yet, in the order of their names.

        Parameters
        ----------
        entities : sequence of str
            Whose it is, in the order of the list's entities.
        time : int
            When it was made: nanoseconds since 1970.
        amount : int
            In minor units.
        distinct : sequence of str or None
            Its values in the columns ``features.distinct``; None is missing.
        """
        self._check_time(time)
        values = [
            -1 if value is None else numbers.get(value, len(numbers))
            for numbers, value in zip(self._distinct, distinct, strict=True)
        ]
        if values and max(values) + 2 > len(self._seen):
            self._seen.resize(2 * max(values) + 2, refcheck=False)
        out = np.empty(self._length)
        for i, name in enumerate(entities):
            own = [values[column] for column in self._own[i]]
            who = self._keys[i].get(name, -1)
            self._kinds[i].describe(who, time, amount, own, self._seen, out, self._first[i])
        k = self._first[-1]
        out[k] = amount / 10.0**self.features.minor_units
        out[k + 1], out[k + 2], out[k + 3] = self._day(time // QUARTER)
        return out

    def add(
        self,
        entities: Sequence[str],
        time: int,
        amount: int,
        distinct: Sequence[str | None] = (),
    ) -> Undo:
        """Add a transaction, which is then part of what is said of later ones."""
        self._check_time(time)
        who = tuple(self._number(i, name) for i, name in enumerate(entities))
        values = [
            -1 if value is None else numbers.setdefault(value, len(numbers))
            for numbers, value in zip(self._distinct, distinct, strict=True)
        ]
        for i, kind in enumerate(self._kinds):
            self._make_place(kind, who[i])
            kind.add(who[i], time, amount, [values[column] for column in self._own[i]])
        undo = Undo(who, time, self.newest)
        self.newest = max(self.newest, time)
        return undo

    def add_label(self, id: str, entities: Sequence[str], time: int, fraud: bool) -> Undo:
        """Learn the label of a transaction; a later one replaces an earlier one.

        Parameters
        ----------
        id : str
            The transaction's identifier.
        entities, time
            As they were given to :meth:`add`.
        fraud : bool
        """
        who = tuple(keys.get(name, -1) for keys, name in zip(self._keys, entities, strict=True))
        undo = Undo(who, time, self.newest, id, id in self._frauds)
        if time > self.floor:
            self._set_label(id, who, time, fraud)
        return undo

    def undo(self, undo: Undo) -> None:
        """Take back what was added last, and has not been taken back."""
        if undo.id:
            self._set_label(undo.id, undo.entities, undo.time, undo.fraud)
            return
        for kind, who in zip(self._kinds, undo.entities, strict=True):
            kind.remove(who, undo.time)
        self.newest = undo.newest

    def forget(self, before: int, entities: int | None = None) -> int:
        """Forget transactions up to a time, which no later one than ``before`` + reach can see.

        From then on earlier ones are refused, and what was added before cannot be taken back.
        The last few of an entity stay, as far as the list's memory goes, for the features that
        look at no window. With ``entities`` only so many are swept, where the last call ended.

        Returns
        -------
        int
            How many entries were forgotten.
        """
        features = self.features
        if before > self.floor:
            self.floor, self.earliest = before, before + features.reach
        most = max((len(keys) for keys in self._keys), default=0)
        first = self._swept if entities is not None else 0
        stop = most if entities is None else min(most, first + entities)
        self._swept = 0 if stop == most else stop
        # The earliest transaction that may still be described, and what it remembers.
        long_before = self.floor + features.reach - features.memory_length
        long_before = max(long_before, -(2**63))
        forgotten = 0
        for kind, each in zip(self._kinds, features.entities, strict=True):
            kept = max(each.last - 1, int(each.since_last), 0)
            forgotten += kind.forget(first, stop, self.floor, kept, long_before)
        if stop == most:
            old = [id for id, (_, time) in self._frauds.items() if time <= self.floor]
            for id in old:
                del self._frauds[id]
        return forgotten

    def __len__(self) -> int:
        """How many entries there are: a transaction has one with each of its entities."""
        return sum(int(kind.size.sum()) for kind in self._kinds)

    def _number(self, i: int, name: str) -> int:
        keys = self._keys[i]
        return keys.setdefault(name, len(keys))

    def _make_place(self, kind: EntityHistories, who: int) -> None:
        if who >= len(kind.size):
            kind.grow_entities(max(who + 1, len(kind.size) * 3 // 2))

    def _set_label(self, id: str, who: tuple[int, ...], time: int, fraud: bool) -> None:
        if (id in self._frauds) == fraud:
            return
        if fraud:
            self._frauds[id] = who, time
        else:
            del self._frauds[id]
        for i, kind in enumerate(self._kinds):
            if self.features.entities[i].risk and who[i] >= 0:
                kind.set_fraud(who[i], time, fraud)

    def _check_time(self, time: int) -> None:
        if time < self.earliest:
            raise ValueError(
                "The transaction is older than what is remembered: refuse what comes so late."
            )

    def _day(self, quarter: int) -> tuple[float, float, float]:
        found = self._days.get(quarter)
        if found is None:
            if len(self._days) >= _MOST_QUARTERS:
                self._days.clear()
            found = self._days[quarter] = day_features(quarter, self._zone)
        return found

"""The histories of one kind of entity, such as all cards, in arrays that they share."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rarefind._core.types import Array, Floats
from rarefind.data._history_room import SIZES, SMALLEST, add_rows, forget_rows
from rarefind.data._history_rows import BLOCK, describe_row, find_row, first_after, remove_row
from rarefind.data.feature_list import STATISTICS, EntityFeatures, FeatureList

__all__ = ["EntityHistories", "Spec"]

_Arrays = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]
_NO_TIMES = np.zeros(0, dtype=np.int64)
_EVER = np.iinfo(np.int64).max


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
        first = int(self.place[who])
        at = first_after(self.time, first, first + int(self.size[who]), time) - 1
        if at < first or self.time[at] != time:
            raise ValueError("There is no transaction of that time to take back.")
        self._remove(who, at)

    def erase(self, who: int, time: int, amount: int, own: Sequence[int]) -> bool:
        """Take away a transaction, whenever it was added; False if it is not remembered."""
        place, room, size, base = (
            int(each[who]) for each in (self.place, self.room, self.size, self.base)
        )
        for column, code in enumerate(own):
            self._own[0, column] = code
        rows = self.time, self.total, self.codes
        at = find_row(*rows, place, room, size, base, time, amount, self._own[0])
        if at >= 0:
            self._remove(who, at)
        return bool(at >= 0)

    def empty(self, who: int) -> None:
        """Take away all transactions of an entity; its known frauds stay."""
        forget_rows(*self._arrays(), self.n_columns, who, who + 1, _EVER, 0, _EVER)

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

    def rows(self) -> tuple[Array, Array, Array, Array]:
        """How many rows each entity has, and the times, amounts and values of all rows."""
        size = self.size
        row = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        place, room = np.repeat(self.place, size), np.repeat(self.room, size)
        total = self.total[place + row]
        before = np.where(row > 0, self.total[place + np.maximum(row - 1, 0)], 0)
        before = np.where(row > 0, before, np.repeat(self.base, size))
        codes = np.empty((len(row), self.n_columns), dtype=np.int64)
        for column in range(self.n_columns):
            codes[:, column] = self.codes[self.n_columns * place + column * room + row] >> 1
        return size.copy(), self.time[place + row], total - before, codes

    def _remove(self, who: int, at: int) -> None:
        remove_row(
            self.time,
            self.total,
            self.codes,
            self.low,
            self.high,
            int(self.place[who]),
            int(self.room[who]),
            int(self.size[who]),
            int(self.base[who]),
            at,
            self.n_columns,
        )
        self.size[who] -= 1

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

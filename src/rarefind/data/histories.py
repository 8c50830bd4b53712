"""The histories of all entities in memory: features of a transaction as it arrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self
from zoneinfo import ZoneInfo

import numpy as np

from rarefind._core.types import Array, Floats
from rarefind.data._entity_histories import EntityHistories, Spec
from rarefind.data.feature_list import QUARTER, FeatureList, day_features
from rarefind.data.history_arrays import check_rows, pack_texts, taken, unpack_texts

__all__ = ["Histories", "Undo"]

_MOST_QUARTERS = 100_000  # of an hour, whose hour and day are remembered: three years


class Undo(NamedTuple):
    """How to take back an addition: what was added is the last of its time."""

    entities: tuple[int, ...]
    time: int
    newest: int
    #: The transaction whose label was changed, and the label it had; empty for a transaction.
    id: str = ""
    fraud: bool = False


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

    def extend(
        self,
        entities: Sequence[Sequence[str | None]],
        time: Array,
        amount: Array,
        distinct: Sequence[Sequence[str | None]] = (),
    ) -> None:
        """Add many transactions in the order of their arrival, which are not taken back.

        Parameters
        ----------
        entities : sequence of sequences of str or None
            For each of the list's entities, whose the transactions are; None is nobody's.
        time, amount : arrays of int64
            See :meth:`describe`.
        distinct : sequence of sequences of str or None
            Their values in each of the columns ``features.distinct``.
        """
        if not len(time):
            return
        self._check_time(int(time.min()))
        given = {each.column: entities[i] for i, each in enumerate(self.features.entities)}
        given |= dict(zip(self.features.distinct, distinct, strict=True))
        found = {name: _numbers_of(self._numbers[name], each) for name, each in given.items()}
        values = [found[name] for name in self.features.distinct]
        for i, kind in enumerate(self._kinds):
            who = found[self.features.entities[i].column]
            owns = np.empty((len(who), len(self._own[i])), dtype=np.int64)
            for column, number in enumerate(self._own[i]):
                owns[:, column] = values[number]
            self._make_place(kind, int(who.max()))
            known = who >= 0
            if known.all():
                kind.extend(who, time, amount, owns)
            else:
                kind.extend(who[known], time[known], amount[known], owns[known])
        self.see_time(int(time.max()))

    def see_time(self, time: int) -> None:
        """Know of a transaction that is not added, such as one that was erased, when it was."""
        self.newest = max(self.newest, time)

    def add_label(self, id: str, entities: Sequence[str | None], time: int, fraud: bool) -> Undo:
        """Learn the label of a transaction; a later one replaces an earlier one.

        Parameters
        ----------
        id : str
            The transaction's identifier.
        entities, time
            As they were given to :meth:`add` or :meth:`extend`.
        fraud : bool
        """
        who = self._known(entities)
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

    def erase(
        self,
        id: str,
        entities: Sequence[str | None],
        time: int,
        amount: int,
        distinct: Sequence[str | None] = (),
    ) -> list[int]:
        """Take a transaction and its label out of all histories, whenever it was added.

        The parameters are those of :meth:`add` and :meth:`add_label`.

        Returns
        -------
        list of int
            Those of its entities, by their place in the list, that have lost one of the few old
            transactions that are remembered: give them back by :meth:`replace` what they did.
        """
        who = self._known(entities)
        self._set_label(id, who, time, False)
        values = [
            -1 if value is None else numbers.get(value, len(numbers))
            for numbers, value in zip(self._distinct, distinct, strict=True)
        ]
        short = []
        for i, kind in enumerate(self._kinds):
            if not 0 <= who[i] < len(kind.size):
                continue
            found = kind.erase(who[i], time, amount, [values[column] for column in self._own[i]])
            if found and time <= self.floor:
                short.append(i)
        return short

    def replace(
        self,
        i: int,
        name: str,
        time: Array,
        amount: Array,
        distinct: Sequence[Sequence[str | None]] = (),
    ) -> None:
        """Remember these transactions of an entity, in the order of their arrival, and no others.

        One of which nothing is remembered then loses its name, too.
        """
        who = self._keys[i].get(name, -1)
        kind = self._kinds[i]
        if who < 0:
            return
        self._make_place(kind, who)
        kind.empty(who)
        owns = np.empty((len(time), len(self._own[i])), dtype=np.int64)
        for column, number in enumerate(self._own[i]):
            owns[:, column] = _numbers_of(self._distinct[number], distinct[number])
        kind.extend(np.full(len(time), who), time, amount, owns)
        if not len(time):
            # No transaction can have a name with this character.
            self._keys[i][f"\0{who}"] = self._keys[i].pop(name)

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

    def to_arrays(self) -> dict[str, Array]:
        """All that is remembered as plain arrays, for :meth:`from_arrays`.

        Names of which nothing is remembered are left out.
        """
        times = [self.floor, self.earliest, self.newest]
        arrays = {"times": np.array(times, dtype=np.int64)}
        rows = [kind.rows() for kind in self._kinds]
        frauds = {id: one for id, one in self._frauds.items() if one[1] > self.floor}
        whose = np.array([who for who, _ in frauds.values()], dtype=np.int64)
        whose = whose.reshape(len(frauds), len(self._kinds))
        used = self._used_names([(size, codes) for size, _, _, codes in rows], whose)
        # The new number of each name; -1 stays what it is, by an entry at the end.
        numbered = {
            column: np.append(np.where(own, np.cumsum(own) - 1, -1), -1)
            for column, own in used.items()
        }
        for i, (column, numbers) in enumerate(self._numbers.items()):
            names = [name for name, number in numbers.items() if used[column][number]]
            names.sort(key=numbers.__getitem__)
            arrays[f"names_{i}"], arrays[f"name_lengths_{i}"] = pack_texts(names)
        for i, each in enumerate(self.features.entities):
            size, arrays[f"time_{i}"], arrays[f"amount_{i}"], codes = rows[i]
            arrays[f"size_{i}"] = size[: len(self._keys[i])][used[each.column][: len(size)]]
            for k, column in enumerate(each.distinct):
                codes[:, k] = numbered[column][codes[:, k]]
            arrays[f"codes_{i}"] = codes
            whose[:, i] = numbered[each.column][whose[:, i]]
        arrays["fraud_ids"], arrays["fraud_id_lengths"] = pack_texts(frauds)
        arrays["fraud_entities"] = whose
        arrays["fraud_times"] = np.array([time for _, time in frauds.values()], dtype=np.int64)
        return arrays

    def _used_names(self, rows: Sequence[tuple[Array, Array]], frauds: Array) -> dict[str, Array]:
        """Whether anything is remembered with each name, by column and number."""
        used = {name: np.zeros(len(numbers), dtype=bool) for name, numbers in self._numbers.items()}
        for i, (each, (size, codes)) in enumerate(zip(self.features.entities, rows, strict=True)):
            used[each.column][np.flatnonzero(size)] = True
            used[each.column][frauds[:, i][frauds[:, i] >= 0]] = True
            for k, column in enumerate(each.distinct):
                used[column][codes[:, k][codes[:, k] >= 0]] = True
        return used

    @classmethod
    def from_arrays(cls, features: FeatureList, arrays: Mapping[str, Array]) -> Self:
        """Histories of which every later transaction is described as by those that were saved.

        Raises
        ------
        ValueError
            If the arrays are not those of such a list, or contradict each other.
        """
        own = cls(features)
        own.floor, own.earliest, own.newest = taken(arrays, "times", np.int64, (3,)).tolist()
        for i, numbers in enumerate(own._numbers.values()):
            text = taken(arrays, f"names_{i}", np.uint8, (-1,))
            lengths = taken(arrays, f"name_lengths_{i}", np.int64, (-1,))
            numbers.update((name, n) for n, name in enumerate(unpack_texts(text, lengths)))
        for i in range(len(own._kinds)):
            own._load_rows(i, arrays)
        own._load_frauds(arrays)
        most = max((len(numbers) for numbers in own._distinct), default=0)
        own._seen.resize(max(len(own._seen), 2 * most + 2), refcheck=False)
        return own

    def _load_rows(self, i: int, arrays: Mapping[str, Array]) -> None:
        kind, distinct = self._kinds[i], self.features.entities[i].distinct
        time = taken(arrays, f"time_{i}", np.int64, (-1,))
        size = taken(arrays, f"size_{i}", np.int64, (-1,))
        amount = taken(arrays, f"amount_{i}", np.int64, (len(time),))
        codes = taken(arrays, f"codes_{i}", np.int64, (len(time), len(distinct)))
        names = [len(self._numbers[column]) for column in distinct]
        check_rows(size, time, codes, self.newest, names)
        if np.any(size[len(self._keys[i]) :]):
            raise ValueError("an entity has no name")
        self._make_place(kind, len(size) - 1)
        kind.extend(np.repeat(np.arange(len(size)), size), time, amount, codes)

    def _load_frauds(self, arrays: Mapping[str, Array]) -> None:
        text = taken(arrays, "fraud_ids", np.uint8, (-1,))
        ids = unpack_texts(text, taken(arrays, "fraud_id_lengths", np.int64, (-1,)))
        times = taken(arrays, "fraud_times", np.int64, (len(ids),))
        whose = taken(arrays, "fraud_entities", np.int64, (len(ids), len(self._kinds)))
        known = [len(keys) for keys in self._keys]
        if np.any(whose < -1) or np.any(whose >= known) or np.any(times <= self.floor):
            raise ValueError("a fraud has no entity")
        for id, who, time in zip(ids, whose.tolist(), times.tolist(), strict=True):
            self._set_label(id, tuple(who), time, True)

    def __len__(self) -> int:
        """How many entries there are: a transaction has one with each of its entities."""
        return sum(int(kind.size.sum()) for kind in self._kinds)

    def _known(self, entities: Sequence[str | None]) -> tuple[int, ...]:
        """The numbers of entities; -1 for one that is nobody, or has no history."""
        return tuple(
            -1 if name is None else keys.get(name, -1)
            for keys, name in zip(self._keys, entities, strict=True)
        )

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


def _numbers_of(numbers: dict[str, int], names: Sequence[str | None]) -> Array:
    """The number of each name, new ones among them; -1 for None."""
    found = list(map(numbers.get, names))  # type: ignore[arg-type]
    if None in found:
        for i, number in enumerate(found):
            if number is None:
                name = names[i]
                found[i] = -1 if name is None else numbers.setdefault(name, len(numbers))
    return np.array(found, dtype=np.int64)

"""The histories of a desk's entities: changed by each transaction, and taken back if need be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

import msgspec

from rarefind._core.types import Array, Floats
from rarefind.data.clock import nanoseconds
from rarefind.data.histories import Histories, Undo
from rarefind.desk.records import Transaction
from rarefind.desk.schema import Schema

__all__ = ["FeatureState"]


class FeatureState:
    """What is known of all entities of a desk.

    A transaction is described, then added; when it cannot be stored, what was added is taken back,
    the last one first.

    Parameters
    ----------
    schema : Schema

    Attributes
    ----------
    names : tuple of str
        The features, in the order of what :meth:`describe` returns.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.features = schema.features
        self.names = self.features.names
        self.histories = Histories(self.features)
        self._late = nanoseconds("limits.late", schema.limits.late)
        columns = [each.column for each in self.features.entities]
        #: Where each value that is counted comes from: an entity, or (-1) what was sent.
        self._sources = [
            columns.index(each) if each in columns else -1 for each in self.features.distinct
        ]
        self._sent = _distinct_decoder(
            [each for each in self.features.distinct if each not in columns]
        )

    def use(self, schema: Schema) -> None:
        """Go by other settings from now on, which have the same features.

        They may see less far back than before, where transactions are kept for a shorter time.
        """
        self.schema, self.features = schema, schema.features
        self.histories.features = self.features

    @property
    def newest(self) -> int:
        """The latest time of a transaction that was added."""
        return self.histories.newest

    @property
    def earliest(self) -> int:
        """The earliest time that a transaction may have now; older ones come too late."""
        return max(self.newest - self._late, -(2**63) + 1)

    def describe(self, transaction: Transaction) -> Floats:
        """The features of a transaction, which is not added."""
        return self.histories.describe(
            transaction.entities, transaction.time, transaction.amount, self._distinct(transaction)
        )

    def add(self, transaction: Transaction) -> Undo:
        """Add a transaction to the histories of its entities."""
        return self.histories.add(
            transaction.entities, transaction.time, transaction.amount, self._distinct(transaction)
        )

    @property
    def needs_bodies(self) -> bool:
        """Whether ``extend`` must know what was sent, beside the entities."""
        return -1 in self._sources

    def extend(
        self,
        time: Array,
        amount: Array,
        entities: Sequence[Sequence[str | None]],
        bodies: Sequence[bytes],
    ) -> None:
        """Add stored transactions in the order of their arrival; they are not taken back.

        ``entities`` are given an entity at a time. Those stored before an entity was declared are
        of nobody there. ``bodies`` may be empty if they are not needed.
        """
        if not len(time):
            return
        absent = [[None] * len(time)] * (len(self.features.entities) - len(entities))
        by_entity = [*entities, *absent]
        self.histories.extend(by_entity, time, amount, self._stored_distinct(by_entity, bodies))

    def add_label(self, id: str, entities: Sequence[str], time: int, fraud: bool) -> Undo:
        """Learn the label of a transaction, by what was stored of it.

        One that was stored before an entity was declared is of nobody there.
        """
        return self.histories.add_label(id, self._with_absent(entities), time, fraud)

    def erase(
        self, id: str, time: int, amount: int, entities: Sequence[str], body: bytes
    ) -> list[int]:
        """Take a stored transaction out; returns the entities that must be read again.

        See :meth:`~rarefind.data.histories.Histories.erase`.
        """
        by_entity = self._by_entity([entities])
        distinct = [column[0] for column in self._stored_distinct(by_entity, [body])]
        return self.histories.erase(id, self._with_absent(entities), time, amount, distinct)

    def replace(
        self,
        entity: int,
        key: str,
        time: Array,
        amount: Array,
        entities: Sequence[Sequence[str]],
        bodies: Sequence[bytes],
    ) -> None:
        """Let these stored transactions be all that is known of an entity."""
        distinct = self._stored_distinct(self._by_entity(entities), bodies)
        self.histories.replace(entity, key, time, amount, distinct)

    def undo(self, undo: Undo) -> None:
        """Take back the last addition that was not taken back."""
        self.histories.undo(undo)

    def forget(self, entities: int | None = None) -> int:
        """Forget what no transaction that may still come can see; returns the number of entries.

        Only when nothing is left that may have to be taken back. With ``entities``, so many of
        them are swept, and the next call goes on from there.
        """
        before = self.earliest - 1 - self.features.reach
        return self.histories.forget(max(before, -(2**63)), entities)

    def to_arrays(self) -> dict[str, Array]:
        """All that is remembered as plain arrays, for :meth:`from_arrays`."""
        return self.histories.to_arrays()

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Mapping[str, Array]) -> Self:
        """A state that describes every later transaction as the one that was saved.

        Raises
        ------
        ValueError
            If the arrays are not those of such a schema, or contradict each other.
        """
        state = cls(schema)
        state.histories = Histories.from_arrays(state.features, arrays)
        return state

    def _with_absent(self, entities: Sequence[str]) -> list[str | None]:
        """All entities of a transaction; None for those that were declared after it was stored."""
        return [*entities, *[None] * (len(self.features.entities) - len(entities))]

    def _by_entity(self, entities: Sequence[Sequence[str]]) -> list[Sequence[str | None]]:
        """Whose transactions are, an entity at a time."""
        count = len(self.features.entities)
        if not entities:
            return [()] * count
        if all(len(each) == count for each in entities):
            return list(zip(*entities, strict=True))
        return [[each[i] if i < len(each) else None for each in entities] for i in range(count)]

    def _stored_distinct(
        self, by_entity: Sequence[Sequence[str | None]], bodies: Sequence[bytes]
    ) -> list[Sequence[str | None]]:
        """The values that are counted, a column at a time."""
        if not self.needs_bodies:
            return [by_entity[source] for source in self._sources]
        sent = iter(
            _columns(self._sent.decode(b"[%b]" % b",".join(bodies)), self._sources.count(-1))
        )
        return [next(sent) if source < 0 else by_entity[source] for source in self._sources]

    def _distinct(self, transaction: Transaction) -> list[str | None]:
        values = transaction.values
        return [cast("str | None", values.get(column)) for column in self.features.distinct]


def _distinct_decoder(columns: Sequence[str]) -> msgspec.json.Decoder[list[Any]]:
    """What reads some text columns of many bodies at once, and passes over all else."""
    fields: list[Any] = [
        (f"f{i}", str | None, msgspec.field(name=name, default=None))
        for i, name in enumerate(columns)
    ]
    struct = msgspec.defstruct("DistinctValues", fields, gc=False)
    return msgspec.json.Decoder(list[struct])  # type: ignore[valid-type]


def _columns(rows: Sequence[Any], count: int) -> list[list[str | None]]:
    return [[getattr(row, f"f{i}") for row in rows] for i in range(count)]

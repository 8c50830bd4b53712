"""The histories of a desk's entities: changed by each transaction, and taken back if need be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rarefind._core.types import Floats
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

    def add_label(self, id: str, entities: Sequence[str], time: int, fraud: bool) -> Undo:
        """Learn the label of a transaction, by what was stored of it."""
        return self.histories.add_label(id, entities, time, fraud)

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

    def _distinct(self, transaction: Transaction) -> list[str | None]:
        values = transaction.values
        return [cast("str | None", values.get(column)) for column in self.features.distinct]

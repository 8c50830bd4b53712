"""What the process that decides does in idle times: old rows go, and so does who was erased."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rarefind._core.types import Array
from rarefind.data.clock import nanoseconds
from rarefind.desk.decision.decider import Decider
from rarefind.desk.records import Entry

__all__ = ["Upkeep"]

_DAY = 86_400 * 10**9
#: So many rows are deleted or erased, and so many entities swept, while payments wait.
_ROWS, _ENTITIES = 200, 2_000


class Upkeep:
    """Small steps, each taken between two groups of transactions.

    What is deleted or erased in the ledger is taken out of the features by the same step, so that
    they are at any time those of a restart.

    Parameters
    ----------
    decider : Decider
    """

    def __init__(self, decider: Decider) -> None:
        self._decider = decider
        self._ahead = nanoseconds("limits.ahead", decider.state.schema.limits.ahead)
        #: Rows that were to be deleted or erased, until it is known that they were.
        self._going: list[Entry] = []
        #: Entities that must be read again.
        self._short: set[tuple[int, str]] = set()

    def forget(self) -> int:
        """Let a part of the entities forget what no transaction can see any more."""
        self._settle()
        return self._decider.state.forget(_ENTITIES)

    def delete_old(self) -> int:
        """Delete some of the transactions that are kept no longer; returns how many.

        A clock that is wrong cannot delete the present: as long as no transactions come, time
        does not go on for longer than they may be ahead.
        """
        decider, now = self._decider, self._decider.clock.now()
        self._settle()
        kept = decider.state.schema.retention.days * _DAY
        before = min(now, decider.state.newest + self._ahead) - kept
        self._going = decider.ledger.oldest_before(before, _ROWS)
        if not self._going:
            return 0
        deleted = decider.ledger.delete_before(before, now=now, limit=_ROWS)
        self._settle()
        return deleted

    def to_erase(self, entity: int, key: str) -> list[Entry]:
        """Return the transactions of an entity that the next step will erase."""
        return self._decider.ledger.read_entity(entity, key, limit=_ROWS)

    def erase(self, entity: int, key: str, *, by: str, order: int) -> int:
        """Erase some of the transactions of an entity; returns how many, 0 when all are."""
        decider = self._decider
        self._settle()
        self._going = decider.ledger.read_entity(entity, key, limit=_ROWS)
        if not self._going:
            # Nor is its name remembered.
            decider.state.replace(entity, key, *_columns([]))
            return 0
        erased = decider.ledger.erase(
            entity, key, by=by, now=decider.clock.now(), limit=_ROWS, order=order
        )
        self._settle()
        return erased

    def _settle(self) -> None:
        """Take those rows out of the features that are gone from the ledger."""
        self._decider.settle()
        state, ledger = self._decider.state, self._decider.ledger
        left = ledger.find([row.id for row in self._going]) if self._going else {}
        gone = [row for row in self._going if row.id not in left or not left[row.id].body]
        self._going = []
        self._short |= {
            (i, row.entities[i])
            for row in gone
            if row.body  # not erased before
            for i in state.erase(row.id, row.time, row.amount, row.entities, row.body)
        }
        while self._short:
            i, key = each = next(iter(self._short))
            rows = ledger.read_entity(i, key, limit=2**62)[::-1]
            state.replace(i, key, *_columns(rows))
            self._short.discard(each)


def _columns(
    rows: Sequence[Entry],
) -> tuple[Array, Array, list[tuple[str, ...]], list[bytes]]:
    return (
        np.array([row.time for row in rows], dtype=np.int64),
        np.array([row.amount for row in rows], dtype=np.int64),
        [row.entities for row in rows],
        [row.body for row in rows],
    )

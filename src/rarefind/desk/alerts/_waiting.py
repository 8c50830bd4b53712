"""Cases that are not closed, a few at a time: nothing here reads all of them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rarefind.desk.alerts._case import CASE_COLUMNS, Case, as_case
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database

__all__ = ["After", "WaitingCases"]

_AWAKE = "NOT (state = 'snoozed' AND snoozed_until > :now)"
_IN_HAND = {
    "taken": "state = 'taken' AND held_until > :now",
    "snoozed": "state = 'snoozed' AND snoozed_until > :now",
}


class After(NamedTuple):
    """Where a page of cases begins: behind the case of this priority and number."""

    priority: float
    id: int


class WaitingCases:
    """What may be checked, by priority or by age, through indexes.

    Parameters
    ----------
    database : Database
        That of the desk, with the tables of :class:`Cases`.
    clock : DeskClock
    """

    def __init__(self, database: Database, clock: DeskClock) -> None:
        self._database, self._clock = database, clock

    def risky(self, limit: int) -> list[Case]:
        """Return the cases of the highest priority that are not of the random share."""
        return self._cases(
            f"closed IS NULL AND kind <> 'random' AND {_AWAKE} ORDER BY priority DESC, id", limit
        )

    def drawn(self, limit: int) -> list[Case]:
        """Return the oldest cases of the random share."""
        # The first to come, so that their priority does not decide about them.
        return self._cases(
            f"closed IS NULL AND kind = 'random' AND {_AWAKE} ORDER BY opened, id", limit
        )

    def in_hand(self, state: Literal["taken", "snoozed"], limit: int = 10_000) -> list[Case]:
        """Return cases that people hold or have put aside, the highest priority first."""
        return self._cases(
            f"closed IS NULL AND state <> 'open' AND {_IN_HAND[state]} ORDER BY priority DESC, id",
            limit,
        )

    def page(self, after: After | None = None, limit: int = 50) -> list[Case]:
        """Return cases that nobody has put aside, the highest priority first."""
        where = f"closed IS NULL AND {_AWAKE}"
        if after is not None:
            where += " AND priority <= :priority AND (priority < :priority OR id > :id)"
        bounds = {} if after is None else after._asdict()
        return self._cases(f"{where} ORDER BY priority DESC, id", limit, **bounds)

    def count(self) -> int:
        """Return how many there are that nobody has put aside."""
        ((unclosed,),) = self._database.read("SELECT count(*) FROM cases WHERE closed IS NULL")
        return int(unclosed) - self.count_snoozed()

    def count_snoozed(self) -> int:
        """Return how many are put aside."""
        ((snoozed,),) = self._database.read(
            "SELECT count(*) FROM cases WHERE closed IS NULL AND state <> 'open' "
            f"AND {_IN_HAND['snoozed']}",
            now=self._clock.now(),
        )
        return int(snoozed)

    def _cases(self, where: str, limit: int, **bounds: float) -> list[Case]:
        now = self._clock.now()
        rows = self._database.read(
            f"SELECT {CASE_COLUMNS} FROM cases WHERE {where} LIMIT :limit",
            **({"now": now} if ":now" in where else {}),
            limit=limit,
            **bounds,
        )
        return [as_case(row, now) for row in rows]

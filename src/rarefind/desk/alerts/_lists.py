"""Cases and alerts in pages, for those who only read."""

from __future__ import annotations

from collections.abc import Sequence

from rarefind.desk.alerts._case import (
    ALERT_COLUMNS,
    CASE_COLUMNS,
    Alert,
    Case,
    State,
    StoredVerdict,
    as_alert,
    as_case,
)
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import ABOVE_ALL, Database

__all__ = ["CaseLists"]

# A lease or a snooze that is over is over at once, whatever is stored.
_CONDITIONS: dict[State | None, str] = {
    None: "1 = 1",
    "open": "closed IS NULL AND (state = 'open' OR (state = 'taken' AND held_until <= :now) "
    "OR (state = 'snoozed' AND snoozed_until <= :now))",
    "taken": "closed IS NULL AND state = 'taken' AND held_until > :now",
    "snoozed": "closed IS NULL AND state = 'snoozed' AND snoozed_until > :now",
    "decided": "state = 'decided'",
    "expired": "state = 'expired'",
}


class CaseLists:
    """Lists of cases and of alerts, the newest first, a page at a time.

    Parameters
    ----------
    database : Database
        That of the desk, with the tables of :class:`Cases`.
    clock : DeskClock
    """

    def __init__(self, database: Database, clock: DeskClock) -> None:
        self._database, self._clock = database, clock

    def page(
        self, state: State | None = None, *, before: int | None = None, limit: int = 100
    ) -> list[Case]:
        """Return cases of a state, or of all, with a number below ``before``."""
        now = self._clock.now()
        rows = self._database.read(
            f"SELECT {CASE_COLUMNS} FROM cases WHERE id < :before AND ({_CONDITIONS[state]}) "
            "ORDER BY id DESC LIMIT :limit",
            before=ABOVE_ALL if before is None else before,
            now=now,
            limit=limit,
        )
        return [as_case(row, now) for row in rows]

    def of_entity(self, entity: str, limit: int = 1_000) -> list[Case]:
        """Return the last cases of an entity."""
        rows = self._database.read(
            f"SELECT {CASE_COLUMNS} FROM cases WHERE entity = :entity ORDER BY id DESC "
            "LIMIT :limit",
            entity=entity,
            limit=limit,
        )
        now = self._clock.now()
        return [as_case(row, now) for row in rows]

    def last_alerts(self, case: int, limit: int = 100) -> list[Alert]:
        """Return the last alerts of a case."""
        rows = self._database.read(
            f"SELECT {ALERT_COLUMNS} FROM alerts WHERE case_id = :id ORDER BY sequence DESC "
            "LIMIT :limit",
            id=case,
            limit=limit,
        )
        return [as_alert(row) for row in rows]

    def verdicts(self, case: int, *, after: int = 0, limit: int = ABOVE_ALL) -> list[StoredVerdict]:
        """Return all that was ever found of a case after a verdict, the first first."""
        rows = self._database.read(
            "SELECT id, verdict, person, at, note FROM verdicts WHERE case_id = :case "
            "AND id > :after ORDER BY id LIMIT :limit",
            case=case,
            after=after,
            limit=limit,
        )
        return [StoredVerdict(*row) for row in rows]

    def last_verdicts(self, case: int, limit: int = 100) -> list[StoredVerdict]:
        """Return what was found of a case last, in its order."""
        rows = self._database.read(
            "SELECT id, verdict, person, at, note FROM verdicts WHERE case_id = :case "
            "ORDER BY id DESC LIMIT :limit",
            case=case,
            limit=limit,
        )
        return [StoredVerdict(*row) for row in reversed(rows)]

    def count_verdicts(self, case: int) -> int:
        """Return how many verdicts a case has."""
        ((count,),) = self._database.read(
            "SELECT count(*) FROM verdicts WHERE case_id = :id", id=case
        )
        return int(count)

    def count_alerts(self, case: int) -> int:
        """Return how many alerts a case has."""
        ((count,),) = self._database.read(
            "SELECT count(*) FROM alerts WHERE case_id = :id", id=case
        )
        return int(count)

    def alerts_after(self, sequence: int) -> int:
        """Return how many alerts came after a row of the ledger."""
        ((count,),) = self._database.read(
            "SELECT count(*) FROM alerts WHERE sequence > :sequence", sequence=sequence
        )
        return int(count)

    def cases_of(self, sequences: Sequence[int]) -> dict[int, int]:
        """Return the number of the case of each alert, by its row of the ledger."""
        if not sequences:
            return {}
        rows = self._database.read(
            "SELECT sequence, case_id FROM alerts WHERE sequence IN :sequences",
            sequences=list(sequences),
        )
        return dict(rows)

"""Checks and hits by the day on which cases were opened."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, migrate
from rarefind.desk.measures._day_names import days_of
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.schema import Schema

__all__ = ["CaseCounter"]

#: So many days are counted again each time: cases that are older are closed.
_DAYS = 60
_DAY = 86_400 * 10**9
_PLACES = {"fraud": "hits", "unclear": "unclear"}


class CaseCounter:
    """Counts the cases of the last days again and again, since people go on deciding them.

    Parameters
    ----------
    database : Database
        That of the desk, with the tables of cases.
    schema : Schema
    clock : DeskClock
    """

    def __init__(self, database: Database, schema: Schema, clock: DeskClock) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._clock = database, clock
        self._zone = schema.transaction.time_zone

    def run(self) -> bool:
        """Count the cases of the last days; there is never more to do."""
        rows = self._database.read(
            "SELECT opened, state, verdict FROM cases WHERE opened >= :since",
            since=self._clock.now() - _DAYS * _DAY,
        )
        if not rows:
            return False
        days = days_of(np.array([row[0] for row in rows], dtype=np.int64), self._zone)
        # Of the first day a part may be missing.
        first = min(days)
        counts: dict[str, Counter[str]] = {}
        for day, (_, state, verdict) in zip(days, rows, strict=True):
            own = counts.setdefault(day, Counter())
            own["opened"] += 1
            own["checked"] += state == "decided"
            own["expired"] += state == "expired"
            if verdict in _PLACES:
                own[_PLACES[verdict]] += 1
        known = {row[0] for row in self._database.read("SELECT day FROM day_cases")}
        changed = [
            {name: own[name] for name in ("opened", "checked", "hits", "unclear", "expired")}
            | {"day": day}
            for day, own in counts.items()
            if day != first or day not in known
        ]
        with self._database.write() as writer:
            writer.executemany("DELETE FROM day_cases WHERE day = :day", changed)
            writer.executemany(
                "INSERT INTO day_cases (day, opened, checked, hits, unclear, expired) "
                "VALUES (:day, :opened, :checked, :hits, :unclear, :expired)",
                changed,
            )
        return False

"""How long decisions took, by day: counts of a few bounds, which a process adds once a minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rarefind.desk.database import Database, migrate

__all__ = ["LatencyDay", "LatencyDays"]

_STEPS = (
    """
    CREATE TABLE latency (
        day TEXT NOT NULL,
        bound REAL NOT NULL,
        decisions INTEGER NOT NULL,
        PRIMARY KEY (day, bound)
    )
    """,
)
#: Stands for "longer than all bounds".
_LONGER = -1.0
_ADD = """
INSERT INTO latency (day, bound, decisions) VALUES (:day, :bound, :decisions)
ON CONFLICT (day, bound) DO UPDATE SET decisions = latency.decisions + excluded.decisions
"""


@dataclass(frozen=True, slots=True)
class LatencyDay:
    """The requests of a day by how long their answers took.

    Attributes
    ----------
    day : str
        As 2026-01-31, by the clock of the desk's time zone.
    bounds : tuple of float
        Seconds.
    counts : tuple of int
        Answers within each bound and not within the one before; the last one, which has no bound,
        those that took longer.
    """

    day: str
    bounds: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """All answers of the day."""
        return sum(self.counts)

    def within(self, share: float) -> float | None:
        """The least bound within which so large a share was answered; None if beyond all."""
        for bound, count in zip(self.bounds, accumulate(self.counts), strict=False):
            if count >= share * self.total:
                return bound
        return None

    def share_within(self, bound: float) -> float:
        """The share that was answered within one of the bounds."""
        known = sum(c for b, c in zip(self.bounds, self.counts, strict=False) if b <= bound)
        return known / self.total if self.total else 1.0


class LatencyDays:
    """The figures of a desk.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    """

    def __init__(self, database: Database) -> None:
        migrate(database, "latency", _STEPS)
        self._database = database

    def add(self, day: str, bounds: Sequence[float], counts: Sequence[int]) -> None:
        """Add answers of a day; ``counts`` has one more entry than ``bounds``."""
        with self._database.write() as writer:
            writer.executemany(
                _ADD,
                [
                    {"day": day, "bound": bound, "decisions": count}
                    for bound, count in zip((*bounds, _LONGER), counts, strict=True)
                    if count
                ],
            )

    def since(self, day: str) -> list[LatencyDay]:
        """Return the days from one on that have figures, the oldest first."""
        rows = self._database.read(
            "SELECT day, bound, decisions FROM latency WHERE day >= :day ORDER BY day", day=day
        )
        found: dict[str, dict[float, int]] = {}
        for own, bound, count in rows:
            found.setdefault(own, {})[bound] = count
        return [_as_day(name, counts) for name, counts in found.items()]


def _as_day(name: str, counts: dict[float, int]) -> LatencyDay:
    longer = counts.pop(_LONGER, 0)
    bounds = tuple(sorted(counts))
    return LatencyDay(name, bounds, (*(counts[bound] for bound in bounds), longer))

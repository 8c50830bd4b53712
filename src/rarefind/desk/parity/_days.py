"""What comparisons have found, by the day on which the transactions arrived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rarefind.desk.database import Database, migrate
from rarefind.desk.ledger import Position

__all__ = ["ParityDay", "ParityDays"]

_STEPS = (
    """
    CREATE TABLE parity (
        day TEXT NOT NULL PRIMARY KEY,
        compared INTEGER NOT NULL,
        differ INTEGER NOT NULL,
        left_out INTEGER NOT NULL,
        first_differing INTEGER
    );
    CREATE TABLE parity_read (
        name TEXT NOT NULL PRIMARY KEY,
        sequence INTEGER NOT NULL,
        chain TEXT NOT NULL,
        erasures INTEGER NOT NULL
    )
    """,
)
_ADD = """
INSERT INTO parity (day, compared, differ, left_out, first_differing)
VALUES (:day, :compared, :differ, :left_out, :first_differing)
ON CONFLICT (day) DO UPDATE SET
    compared = parity.compared + excluded.compared,
    differ = parity.differ + excluded.differ,
    left_out = parity.left_out + excluded.left_out,
    first_differing = coalesce(parity.first_differing, excluded.first_differing)
"""
_NAME = "features"


@dataclass(frozen=True, slots=True)
class ParityDay:
    """The transactions of a day whose features were computed again.

    Attributes
    ----------
    day : str
        As 2026-01-31, by the clock of the desk's time zone.
    compared, differ : int
        How many were computed again, and how many of these differ in at least one bit.
    left_out : int
        Those that were erased since, or stored before an entity was declared; and those that
        differ because of an erasure in between.
    first_differing : int or None
        The sequence of the first that differs.
    """

    day: str
    compared: int
    differ: int
    left_out: int
    first_differing: int | None

    def __str__(self) -> str:
        first = "" if self.first_differing is None else f"; the first is row {self.first_differing}"
        left = f" ({self.left_out:,} were left out)" if self.left_out else ""
        return f"{self.differ:,} of {self.compared:,} differ on {self.day}{left}{first}."


class ParityDays:
    """The results of a desk, and how far the ledger was compared.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    """

    def __init__(self, database: Database) -> None:
        migrate(database, "parity", _STEPS)
        self._database = database

    @property
    def read_up_to(self) -> Position:
        """The last row of the ledger that was compared."""
        rows = self._database.read(
            "SELECT sequence, chain FROM parity_read WHERE name = :name", name=_NAME
        )
        return Position(rows[0][0], bytes.fromhex(rows[0][1])) if rows else Position(0, b"")

    @property
    def erasures(self) -> int:
        """The number of the ledger's last erasure when it was compared."""
        rows = self._database.read(
            "SELECT erasures FROM parity_read WHERE name = :name", name=_NAME
        )
        return int(rows[0][0]) if rows else 0

    def add(self, days: Iterable[ParityDay], read_up_to: Position, erasures: int) -> None:
        """Add what was found, and how far, in one transaction."""
        with self._database.write() as writer:
            writer.executemany(
                _ADD,
                [
                    {
                        "day": day.day,
                        "compared": day.compared,
                        "differ": day.differ,
                        "left_out": day.left_out,
                        "first_differing": day.first_differing,
                    }
                    for day in days
                ],
            )
            writer.execute(
                "INSERT INTO parity_read (name, sequence, chain, erasures) "
                "VALUES (:name, :sequence, :chain, :erasures) "
                "ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, "
                "chain = excluded.chain, erasures = excluded.erasures",
                name=_NAME,
                erasures=erasures,
                sequence=read_up_to.sequence,
                chain=read_up_to.chain.hex(),
            )

    def last(self, limit: int = 1) -> list[ParityDay]:
        """Return the last days that were compared, the newest first."""
        rows = self._database.read(
            "SELECT day, compared, differ, left_out, first_differing FROM parity "
            "ORDER BY day DESC LIMIT :limit",
            limit=limit,
        )
        return [ParityDay(*row) for row in rows]

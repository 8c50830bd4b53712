"""Tables are made and changed by numbered steps, each of which is taken once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rarefind.desk.database._door import Database, Writer

__all__ = ["check_migrations", "migrate"]

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    room TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (room, number)
)
"""


def migrate(database: Database, room: str, steps: Sequence[str]) -> None:
    """Take the steps of a room that its tables have not taken yet, all or none.

    Parameters
    ----------
    database : Database
    room : str
        Whose tables they are: ``alerts``, ``tokens``.
    steps : sequence of str
        Each is SQL as SQLite reads it, several statements with ``;`` between them. Words that
        PostgreSQL writes differently are replaced: INTEGER is 64 bits in both, INTEGER PRIMARY
        KEY counts by itself, REAL is 64 bits, BLOB is bytes. A step never changes once it is
        published; a change is a new step.

    Raises
    ------
    ValueError
        If the tables were made by a newer version of rarefind.
    """
    with database.write() as transaction:
        _execute(database, transaction, _TABLE)
        done = check_migrations(database, room, steps)
        for number, step in enumerate(steps[done:], start=done + 1):
            for statement in filter(str.strip, step.split(";")):
                _execute(database, transaction, statement)
            transaction.execute(
                "INSERT INTO migrations VALUES (:room, :number)", room=room, number=number
            )


def check_migrations(database: Database, room: str, steps: Sequence[str]) -> int:
    """Return how many steps the tables of a room have taken; more than are known is an error."""
    rows = database.read("SELECT max(number) FROM migrations WHERE room = :room", room=room)
    done = int(rows[0][0] or 0)
    if done > len(steps):
        raise ValueError(
            f"{database.name} was written by a newer version of rarefind ({room} {done}, known "
            f"here: {len(steps)}): install that version."
        )
    return done


def _execute(database: Database, transaction: Writer, statement: str) -> None:
    for word, own in database.migration_words.items():
        statement = re.sub(rf"\b{word}\b", own, statement)
    transaction.execute(statement)

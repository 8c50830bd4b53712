"""The one door to SQLite and PostgreSQL: the same SQL, the same errors, and what a commit is worth.

SQL is written once, with parameters such as ``:name``. Reading is one statement; writing is a
transaction in which nobody else writes, so that what was read inside it still holds when it ends::

    rows = database.read("SELECT id FROM cases WHERE state = :state", state="open")
    with database.write() as transaction:
        transaction.execute("UPDATE cases SET state = :state WHERE id = :id", state="taken", id=7)

A condition is true as ``1``: a column of truths is an INTEGER in both. Texts have no NUL character,
which PostgreSQL does not keep.
"""

from rarefind.desk.database._door import (
    ABOVE_ALL,
    CommitUnknown,
    Database,
    DatabaseConflict,
    DatabaseUnavailable,
    Durability,
    Parameter,
    Parameters,
    Row,
    Writer,
)
from rarefind.desk.database._migrations import check_migrations, migrate
from rarefind.desk.database._postgresql import PostgresDatabase
from rarefind.desk.database._sqlite import SqliteDatabase

__all__ = [
    "ABOVE_ALL",
    "CommitUnknown",
    "Database",
    "DatabaseConflict",
    "DatabaseUnavailable",
    "Durability",
    "Parameter",
    "Parameters",
    "PostgresDatabase",
    "Row",
    "SqliteDatabase",
    "Writer",
    "check_migrations",
    "migrate",
]

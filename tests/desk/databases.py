"""The databases that a desk is tried in: a SQLite file, and a schema of a real PostgreSQL."""

from itertools import count

import pytest
from databases import postgresql_url

from rarefind.desk.database import PostgresDatabase, SqliteDatabase

KINDS = ("sqlite", "postgresql")
_numbers = count()


def opener(kind, folder):
    """What opens the same empty database again and again."""
    if kind == "sqlite":
        return lambda **settings: SqliteDatabase(folder / "desk.db", **settings)
    pytest.importorskip("psycopg", reason="there is no psycopg for this machine")
    schema = f"desk{next(_numbers)}"
    return lambda **settings: PostgresDatabase(postgresql_url(), schema, **settings)

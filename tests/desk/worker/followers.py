"""A process that follows a ledger, and is killed by the tests."""

from pathlib import Path

from desk.worker.desks import follower_of

from rarefind.desk.database import PostgresDatabase, SqliteDatabase


def follow(line, kind, place, schema):
    """Follow a ledger to its end, a few rows at a time; say when it begins and when it ends."""
    if kind == "sqlite":
        desk = SqliteDatabase(Path(place) / "desk.db")
        ledger = SqliteDatabase(Path(place) / "ledger.db", read_only=True)
    else:
        desk = PostgresDatabase(place, schema)
        ledger = PostgresDatabase(place, f"{schema}_ledger", read_only=True)
    follower = follower_of(desk, ledger, rows=10)
    line.send("begin")
    while follower.run():
        continue
    line.send("end")

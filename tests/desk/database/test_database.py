import sqlite3
import sys
import threading

import pytest
from desk.databases import KINDS, opener

from rarefind.desk.clock import DeskClock, ManualClock
from rarefind.desk.database import (
    DatabaseConflict,
    DatabaseUnavailable,
    PostgresDatabase,
    SqliteDatabase,
    migrate,
)

STEPS = (
    "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL, share REAL, raw BLOB);"
    "CREATE UNIQUE INDEX things_name ON things (name)",
)


@pytest.fixture(params=KINDS)
def open_database(request, tmp_path):
    opened = []
    make = opener(request.param, tmp_path)

    def open_it(**settings):
        opened.append(make(**settings))
        return opened[-1]

    yield open_it
    for database in opened:
        database.close()


@pytest.fixture
def database(open_database):
    database = open_database()
    migrate(database, "things", STEPS)
    return database


def add(database, *names):
    with database.write() as transaction:
        transaction.executemany(
            "INSERT INTO things (name, share) VALUES (:name, :share)",
            [{"name": name, "share": 0.5} for name in names],
        )


def names(database):
    return [name for (name,) in database.read("SELECT name FROM things ORDER BY id")]


def test_what_was_written_is_read(database):
    hostile = "'; DROP TABLE things; -- :name %(name)s %s \\ 雪"
    with database.write() as transaction:
        rows = transaction.read(
            "INSERT INTO things (name, share, raw) VALUES (:name, :share, :raw) RETURNING id",
            name=hostile,
            share=0.1,
            raw=b"\0\xff",
        )
        assert rows == [(1,)]
    assert database.read("SELECT * FROM things") == [(1, hostile, 0.1, b"\0\xff")]
    assert database.read("SELECT ':name', '5 %', id FROM things WHERE id = :id", id=1) == [
        (":name", "5 %", 1)
    ]


def test_a_truth_is_one(database):
    assert database.read("SELECT CAST(:yes AS INTEGER) + 1", yes=True) == [(2,)]


def test_a_list_of_any_length_follows_in(database):
    add(database, *"abcde")
    found = "SELECT name FROM things WHERE name IN :names AND share > :share ORDER BY id"
    for wanted in ([], ["b"], ["e", "a", "d"], ["a", "b", "c", "d", "e", "none"]):
        rows = database.read(found, names=wanted, share=0.0)
        assert [name for (name,) in rows] == sorted(set(wanted) - {"none"})


def test_an_error_undoes_the_transaction(database):
    add(database, "a")

    def work():
        with database.write() as transaction:
            assert transaction.execute("DELETE FROM things") == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert names(database) == ["a"]


def test_a_name_twice_is_a_conflict(database):
    add(database, "a")
    with pytest.raises(DatabaseConflict):
        add(database, "b", "a")
    add(database, "c")
    assert names(database) == ["a", "c"]


def test_what_was_read_in_a_transaction_still_holds_at_its_end(open_database, database):
    """Four writers count up what they read: no step is lost."""
    with database.write() as transaction:
        transaction.execute("INSERT INTO things (name, share) VALUES ('counter', 0)")
    start = threading.Barrier(4)

    def work():
        own = open_database(wait=60.0)
        start.wait()
        for _ in range(10):
            with own.write() as transaction:
                ((share,),) = transaction.read("SELECT share FROM things")
                transaction.execute("UPDATE things SET share = :share", share=share + 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert database.read("SELECT share FROM things") == [(40,)]


def test_threads_share_a_connection(database):
    threads = [threading.Thread(target=add, args=(database, f"name {n}")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names(database)) == 8


def test_a_transaction_inside_another_is_told(database):
    with pytest.raises(RuntimeError, match="begun already"), database.write(), database.write():
        pass
    assert names(database) == []


def test_a_reader_cannot_write(open_database, database):
    add(database, "a")
    reader = open_database(read_only=True)
    assert names(reader) == ["a"]
    with pytest.raises(Exception, match=r"read-?only"), reader.write() as transaction:
        transaction.execute("DELETE FROM things")
    assert names(database) == ["a"]


def test_steps_are_taken_once_and_in_order(open_database, database):
    add(database, "a")
    newer = (*STEPS, "ALTER TABLE things ADD COLUMN colour TEXT")
    again = open_database()
    migrate(again, "things", newer)
    migrate(again, "things", newer)
    assert again.read("SELECT name, colour FROM things") == [("a", None)]
    with pytest.raises(ValueError, match="newer version of rarefind"):
        migrate(database, "things", STEPS)


def test_a_step_that_fails_is_taken_back(open_database, database):
    wrong = (*STEPS, "ALTER TABLE things ADD COLUMN colour TEXT; INSERT INTO nowhere VALUES (1)")
    with pytest.raises(Exception, match="nowhere"):
        migrate(database, "things", wrong)
    with pytest.raises(Exception, match="colour"):
        database.read("SELECT colour FROM things")


def test_a_process_that_writes_for_too_long_is_told(open_database, database):
    other = open_database(wait=1.0)
    with database.write(), pytest.raises(DatabaseUnavailable), other.write():
        pass
    add(other, "a")
    assert names(database) == ["a"]


def test_a_connection_that_was_lost_is_made_again(open_database, database):
    if isinstance(database, SqliteDatabase):
        pytest.skip("a file is not lost")
    add(database, "a")
    end_connection(open_database(), database)
    assert names(database) == ["a"]
    end_connection(open_database(), database)
    add(database, "b")
    assert names(database) == ["a", "b"]


def test_a_transaction_ends_with_its_connection(open_database, database):
    if isinstance(database, SqliteDatabase):
        pytest.skip("a file is not lost")
    admin = open_database()

    def work():
        with database.write() as transaction:
            transaction.execute("INSERT INTO things (name) VALUES ('a')")
            end_connection(admin, database)
            transaction.execute("INSERT INTO things (name) VALUES ('b')")

    with pytest.raises(DatabaseUnavailable, match="terminating connection"):
        work()
    assert names(database) == []


def end_connection(admin, database):
    """End the connection of a database, as a server does that is stopped."""
    ((own,),) = database.read("SELECT pg_backend_pid()")
    admin.read("SELECT pg_terminate_backend(CAST(:own AS INTEGER), 5000)", own=own)


def test_only_one_is_the_sole_writer(open_database, database):
    if isinstance(database, SqliteDatabase):
        pytest.skip("a folder has a lock of its own")
    first = open_database(sole=True)
    with pytest.raises(DatabaseUnavailable, match="another decision process"):
        open_database(sole=True, wait=1.0)
    first.close()
    open_database(sole=True)


def test_a_server_that_is_not_there_is_told_without_the_password():
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseUnavailable, match=r"rows on 127\.0\.0\.1:1 ") as told:
        PostgresDatabase("postgresql://me:secret@127.0.0.1:1/rows", "desk")
    assert "secret" not in str(told.value)


def test_psycopg_that_is_missing_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ImportError, match=r"pip install 'rarefind\[postgresql\]'"):
        PostgresDatabase("postgresql://127.0.0.1/rows", "desk")


def test_sqlite_that_is_too_old_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(ValueError, match=r"needs SQLite 3\.35\.0 or newer"):
        SqliteDatabase(tmp_path / "desk.db")


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 100])
def test_a_file_of_another_kind_is_told(tmp_path, content):
    (tmp_path / "desk.db").write_bytes(content)
    with pytest.raises(DatabaseUnavailable, match="not a SQLite file"):
        SqliteDatabase(tmp_path / "desk.db")


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(DatabaseUnavailable, match="look whether the folder is there"):
        SqliteDatabase(tmp_path / "nowhere" / "desk.db")


def test_a_full_disk_is_told_and_nothing_is_stored(tmp_path):
    database = SqliteDatabase(tmp_path / "desk.db")
    migrate(database, "things", STEPS)
    ((pages,),) = database.read("PRAGMA page_count")
    database.read(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseUnavailable, match="make space"):
        add(database, *(f"{n} {'x' * 100}" for n in range(1_000)))
    database.read("PRAGMA max_page_count = 100000")
    add(database, "a")
    assert names(database) == ["a"]


def test_clocks():
    assert 0 <= DeskClock().now() - DeskClock().now() + 10**12 <= 10**12
    clock = ManualClock(5)
    clock.advance("1D")
    clock.advance(-5)
    assert clock.now() == 86_400 * 10**9
    clock.set(1)
    assert clock.now() == 1

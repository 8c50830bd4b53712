"""A SQLite file as a database of the desk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import quote

from rarefind.desk.database._door import (
    CommitUnknown,
    DatabaseConflict,
    DatabaseUnavailable,
    Durability,
    Parameter,
    Parameters,
    Row,
    spread,
)

__all__ = ["OLDEST", "SqliteDatabase"]

#: The first version that knows RETURNING.
OLDEST = (3, 35, 0)
_SYNCHRONOUS = {"process": "NORMAL", "disk": "FULL"}


class SqliteDatabase:
    """A SQLite file.

    Parameters
    ----------
    path : Path
        It is made if it is not there, unless ``read_only``.
    journal : {"truncate", "wal"}
        With ``truncate`` any number of processes may write. With ``wal`` **one** connection in all
        may write, and it alone checkpoints, when it is told to: SQLite before 3.51.3 can damage a
        file when two connections reset its log at once. Readers open it ``read_only``.
    durability : {"process", "disk"}
    read_only : bool
    wait : float
        Seconds to wait for another process that writes.
    """

    migration_words: Mapping[str, str] = {}

    def __init__(
        self,
        path: Path,
        *,
        journal: Literal["truncate", "wal"] = "truncate",
        durability: Durability = "disk",
        read_only: bool = False,
        wait: float = 5.0,
    ) -> None:
        check_version()
        self.path = path
        self.name = str(path)
        self._journal = journal
        self._durability = durability
        self._read_only = read_only
        self._wait = wait
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inside = False
        with self._lock, self._errors():
            self._open()

    def read(self, sql: str, **parameters: Parameter) -> list[Row]:
        """Return the rows of a query."""
        with self._lock:
            try:
                return self._open().execute(*spread(sql, parameters)).fetchall()
            except sqlite3.Error as error:
                self._raise(error)

    @contextmanager
    def write(self) -> Iterator[_SqliteWriter]:
        """Begin a transaction; it is committed at the end of the block, undone on an error."""
        with self._lock:
            if self._inside:
                raise RuntimeError("A transaction has begun already: use it.")
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                self._raise(error)
            self._inside = True
            try:
                yield _SqliteWriter(connection)
                self._commit(connection)
            except BaseException as error:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    self._raise(error)
                raise
            finally:
                self._inside = False

    def checkpoint(self) -> None:
        """Move what the log has into the file, as far as readers allow it."""
        if self._journal == "wal":
            self.read("PRAGMA wal_checkpoint(PASSIVE)")

    def clear_log(self) -> bool:
        """Move all of the log into the file and empty it; False while a reader needs it."""
        if self._journal != "wal":
            return True
        with self._lock:
            self.read("PRAGMA busy_timeout = 0")
            try:
                ((is_busy, _, _),) = self.read("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self.read(f"PRAGMA busy_timeout = {round(self._wait * 1_000)}")
        return not is_busy

    def close(self) -> None:
        """Close the connection; it is opened again when it is needed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            # Whether the last bytes reached the disk is not known when writing or syncing failed.
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise CommitUnknown(f"{self.name}: {error}.") from error
            raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        mode = "ro" if self._read_only else "rwc"
        connection = sqlite3.connect(
            f"file:{quote(str(self.path.absolute()))}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=self._wait,
            cached_statements=256,
        )
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
        if self._read_only:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return
        (found,) = connection.execute(f"PRAGMA journal_mode = {self._journal}").fetchone()
        if found != self._journal:
            raise DatabaseUnavailable(
                f"{self.name} cannot have a journal of kind {self._journal!r} (it has {found!r}): "
                "put the desk on a disk of this machine, not on a network drive."
            )
        connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self._durability]}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA secure_delete = ON")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self._raise(error)

    def _raise(self, error: sqlite3.Error) -> NoReturn:
        """Raise what the database's own error means to the desk."""
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if isinstance(error, sqlite3.IntegrityError):
            raise DatabaseConflict(f"{self.name}: {error}.") from error
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DatabaseUnavailable(
                f"{self.name} is damaged or not a SQLite file ({error}): restore it from a backup."
            ) from error
        if primary in _UNAVAILABLE:
            raise DatabaseUnavailable(f"{self.name}: {error}; {_UNAVAILABLE[primary]}.") from error
        raise error


_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: "another process has been writing for too long",
    sqlite3.SQLITE_LOCKED: "another process has been writing for too long",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_IOERR: "look at the disk",
    sqlite3.SQLITE_FULL: "make space on its disk",
    sqlite3.SQLITE_CANTOPEN: "look whether the folder is there and may be read",
}


class _SqliteWriter:
    """What writes in a transaction of a SQLite file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, **parameters: Parameter) -> int:
        """Run a statement, and return how many rows it changed."""
        return self._connection.execute(*spread(sql, parameters)).rowcount

    def executemany(self, sql: str, rows: Iterable[Parameters]) -> None:
        """Run a statement once with each of the rows."""
        self._connection.executemany(sql, rows)

    def read(self, sql: str, **parameters: Parameter) -> list[Row]:
        """Return the rows of a query, or of a statement with RETURNING."""
        return self._connection.execute(*spread(sql, parameters)).fetchall()


def check_version() -> None:
    """Raise where Python's SQLite lacks what the desk needs."""
    if sqlite3.sqlite_version_info < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise ValueError(
            f"The desk needs SQLite {needed} or newer, and this Python has "
            f"{sqlite3.sqlite_version}: use a newer Python, or give --database postgresql://…."
        )

"""A desk is a folder: what is in it, and whether it may be opened."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Self

from rarefind import __version__
from rarefind.desk.database import (
    Database,
    Durability,
    PostgresDatabase,
    SqliteDatabase,
    migrate,
)
from rarefind.desk.ledger import Ledger
from rarefind.desk.schema import FILE, Schema
from rarefind.desk.settings import make_tables, read_settings

__all__ = ["DeskFolder", "FolderInUseError"]

_SECRET = 32
_ABOUT = (
    """
    CREATE TABLE about (
        desk TEXT NOT NULL PRIMARY KEY,
        declared TEXT NOT NULL,
        version TEXT NOT NULL
    )
    """,
)


class FolderInUseError(ValueError):
    """Another process decides in the folder."""


class DeskFolder:
    """A folder with ``desk.toml``, the ledger, the desk's own database, models and snapshots.

    Parameters
    ----------
    path : Path
        A folder that ``create`` has made.
    database : str, optional
        ``postgresql://…``: the ledger and the desk's own database are there, in the schemas
        ``ledger`` and ``desk``. By default they are the SQLite files ``ledger.db`` and ``desk.db``.
    is_new : bool, default=False
        Whether the databases are to be made; ``create`` says so. Otherwise they must be there.

    Raises
    ------
    ValueError
        If the folder is not a desk, its databases are missing, belong to another desk or were
        written by a newer version of rarefind, or desk.toml was changed in more than columns that
        were added after the first transaction was stored.
    DatabaseUnavailable
        If a database cannot be opened.

    Attributes
    ----------
    path : Path
    declared : Schema
        What desk.toml says.
    schema : Schema
        The same with the settings that people have changed since, as of the last look.
    secret : bytes
        Known to this desk alone: it draws the random share and signs messages.
    """

    def __init__(self, path: Path, database: str | None = None, *, is_new: bool = False) -> None:
        self.path = path
        self._url = _check_url(database)
        if not (path / FILE).is_file():
            raise ValueError(
                f"{path} is not a desk, since it has no {FILE}: "
                f"make one with rarefind desk init FILE.csv {path}."
            )
        self.declared = self.schema = Schema.from_file(path / FILE)
        self.secret = _read_secret(path / "secret")
        self._lock: int | None = None
        self._databases: list[Database] = []
        if not is_new:
            self._check_files()
        try:
            desk = self.open_desk()
            if self._check_about(desk, is_new=is_new):
                self.open_ledger()
            make_tables(desk)
            self.follow_settings(desk)
        finally:
            self.close()

    @classmethod
    def create(cls, path: Path, schema: Schema, database: str | None = None) -> Self:
        """Make the folder of a new desk, which must be empty or not there."""
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ValueError(f"{path} is not an empty folder: name a new one for the desk.")
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o700)  # cards, amounts and secrets are in it
        for name in ("models", "snapshots"):
            (path / name).mkdir()
        descriptor = os.open(path / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_SECRET))
        schema.to_file(path / FILE)
        return cls(path, database, is_new=True)

    @property
    def is_remote(self) -> bool:
        """Whether the databases are reached through a network."""
        return self._url is not None

    @property
    def database_url(self) -> str | None:
        """Where the databases are, if not in the folder; it may have a password in it."""
        return self._url

    @property
    def is_deciding(self) -> bool:
        """Whether a process of this machine decides transactions in this folder."""
        if self._lock is not None:
            return True
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    @property
    def models(self) -> Path:
        """The folder of model files, named by their digests."""
        return self.path / "models"

    @property
    def snapshots(self) -> Path:
        """The folder of snapshots of the features."""
        return self.path / "snapshots"

    @property
    def history(self) -> Path:
        """The folder of the last weeks of the ledger as columns; it can be made again."""
        return self.path / "history"

    def open_desk(self) -> Database:
        """Open the desk's own database: cases, verdicts, rules, lists, models, tokens."""
        if self._url is not None:
            return self._keep(PostgresDatabase(self._url, "desk"))
        return self._keep(SqliteDatabase(self.path / "desk.db"))

    def open_ledger(self, durability: Durability = "disk") -> Ledger:
        """Open the ledger for the one process that decides; a second one is refused.

        Raises
        ------
        ValueError
            If another process has it open.
        """
        self._take_lock()
        database: Database
        if self._url is not None:
            database = PostgresDatabase(self._url, "ledger", durability=durability, sole=True)
        else:
            database = SqliteDatabase(self.path / "ledger.db", journal="wal", durability=durability)
        self._keep(database)
        self._check_about(database)
        return Ledger(database, writes=True)

    def read_ledger(self) -> Ledger:
        """Open the ledger for a process that reads it while another one writes."""
        database: Database
        if self._url is not None:
            database = PostgresDatabase(self._url, "ledger", read_only=True)
        else:
            database = SqliteDatabase(self.path / "ledger.db", read_only=True)
        return Ledger(self._keep(database), writes=False)

    def follow_settings(self, desk: Database) -> bool:
        """Look whether people have changed settings; ``schema`` is what counts then.

        Parameters
        ----------
        desk : Database
            From :meth:`open_desk`.
        """
        before, (self.schema, _) = self.schema, read_settings(self.declared, desk)
        return self.schema != before

    def close(self) -> None:
        """Close what was opened, and let another process decide."""
        for database in self._databases:
            database.close()
        self._databases.clear()
        self._release_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep(self, database: Database) -> Database:
        self._databases.append(database)
        return database

    def _check_files(self) -> None:
        """Look whether the databases are in the folder, where an empty one would be made else."""
        if self._url is not None:
            return
        for name in ("ledger.db", "desk.db"):
            if not (self.path / name).is_file():
                raise ValueError(
                    f"{self.path} has no {name}: if the desk is kept in PostgreSQL, name its "
                    "address by --database; otherwise restore the folder from a backup."
                )

    def _check_about(self, database: Database, *, is_new: bool = True) -> bool:
        """Look whether a database is this desk's own, and its columns are there; True if new."""
        migrate(database, "about", _ABOUT)
        desk = blake2b(self.secret, digest_size=16, person=b"rarefind desk").hexdigest()
        declared = self.declared.to_text()
        now = {"desk": desk, "declared": declared, "version": __version__}
        with database.write() as writer:
            rows = writer.read("SELECT desk, declared, version FROM about")
            if not rows:
                if not is_new:
                    raise ValueError(
                        f"{database.name} has no desk in it: name the database of the folder "
                        f"{self.path}, or restore it from a backup."
                    )
                writer.execute("INSERT INTO about VALUES (:desk, :declared, :version)", **now)
                return True
            ((owner, before, version),) = rows
            if owner != desk:
                raise ValueError(
                    f"{database.name} belongs to another desk than the folder {self.path}: "
                    "name the folder it was made with, or another database."
                )
            if (before, version) != (declared, __version__):
                if self._is_used():
                    self.declared.added_since(Schema.from_text(before))
                writer.execute(
                    "UPDATE about SET declared = :declared, version = :version WHERE desk = :desk",
                    **now,
                )
        return False

    def _is_used(self) -> bool:
        """Whether a transaction was ever stored; before that desk.toml may be changed at will."""
        ledger = self.read_ledger()
        try:
            return ledger.last.sequence > 0
        finally:
            ledger.close()

    def _take_lock(self) -> None:
        if self._lock is not None:
            raise ValueError(f"The ledger of {self.path} is open in this process already.")
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            raise FolderInUseError(
                f"Another decision process works in {self.path}: stop it first, or name "
                "another folder."
            ) from None
        self._lock = descriptor

    def _release_lock(self) -> None:
        if self._lock is not None:
            # Its owner need not undo the lock: it ends with the file, and with the process.
            os.close(self._lock)
            self._lock = None


def _lock(descriptor: int) -> None:
    """Lock a file for this process, until the file is closed; an OSError if another one has."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _check_url(database: str | None) -> str | None:
    if database is None or database.startswith(("postgresql://", "postgres://")):
        return database
    kind = database.partition("://")[0]
    raise ValueError(f"A desk is kept in SQLite or in postgresql://…, and not in {kind!r}.")


def _read_secret(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise ValueError(
            f"{path} is missing; it was made with the desk: restore it from a backup."
        ) from None
    if len(content) != _SECRET:
        raise ValueError(f"{path} does not have {_SECRET} bytes: restore it from a backup.")
    if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ValueError(f"{path} can be read by other users: chmod 600 {path}")
    return content

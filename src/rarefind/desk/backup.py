"""A copy of a desk, taken while it runs: another desk folder, from which it can be served."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.folder import DeskFolder
from rarefind.desk.schema import FILE

__all__ = ["back_up"]

#: Pages that are copied at a time: between two pieces others may go on.
_PIECE = 1_000
_WAIT = 30.0


def back_up(folder: DeskFolder, target: Path) -> None:
    """Copy a desk to a folder that is not there yet; it is there when it is whole.

    Both databases are copied as they were at one time: no verdict is missing that the ledger knows
    of, and no alert is known whose transaction is missing. Payments are decided meanwhile; who
    writes to the desk's own database waits until that one is copied, which is the small one.

    Parameters
    ----------
    folder : DeskFolder
        With SQLite files; a server has its own way (``pg_dump``).
    target : Path
    """
    if folder.is_remote:
        raise ValueError(
            "This desk is kept in PostgreSQL: back that up with pg_dump, and the folder by copying."
        )
    if target.exists():
        raise ValueError(f"{target} is there already: name a new folder for the copy.")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(mkdtemp(prefix=".rarefind-", dir=target.parent))
    try:
        _copy(folder, part)
        part.replace(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _copy(folder: DeskFolder, part: Path) -> None:
    for name in (FILE, "secret"):
        shutil.copy2(folder.path / name, part / name)
    for source in (folder.models, folder.snapshots):
        (part / source.name).mkdir()
        for file in source.iterdir():
            # A snapshot that its writer replaces meanwhile is not needed.
            if file.is_file() and not file.name.startswith("."):
                with suppress(FileNotFoundError):
                    shutil.copy2(file, part / source.name / file.name)
    with _errors(folder.path), _read_only(folder.path / "ledger.db") as ledger:
        with _locked(folder.path / "desk.db") as desk:
            # From here on the ledger is read as it is now, while others write it.
            ledger.execute("BEGIN")
            ledger.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            _copy_database(desk, part / "desk.db")
        _copy_database(ledger, part / "ledger.db")


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(_connect(path, "ro")) as connection:
        yield connection


@contextmanager
def _locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that reads, while nobody writes."""
    with closing(_connect(path, "rw")) as lock, _read_only(path) as reader:
        lock.execute("BEGIN IMMEDIATE")
        yield reader
        lock.execute("ROLLBACK")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=_WAIT,
    )


def _copy_database(source: sqlite3.Connection, path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.close(descriptor)
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        source.backup(copy, pages=_PIECE)
        # The log of the copy is moved into its file: one file is the whole database.
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise DatabaseUnavailable(f"The desk in {path} cannot be copied: {error}.") from error

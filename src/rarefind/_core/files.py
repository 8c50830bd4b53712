"""Files that are whole or not there."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["MARK", "atomic_write", "check_replaceable"]

#: How model files begin.
MARK = b"rarefind\n"

# Longer endings say nothing to a writer that looks at them, and names have a greatest length.
_LONGEST_ENDING = 20


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside ``path``; it becomes ``path`` only when all went well.

    The temporary file is new and has a random name that ends as the path does, so that any number
    of threads, processes and machines can write to one path: the last one stays, whole. A file that
    is replaced passes on its permissions. Where the path is a link, the file it leads to is
    replaced and the link stays. What a writer that was killed has left behind is removed by the
    next one of the same path.
    """
    with _errors_about(path):
        old = check_replaceable(path)
        target = Path(os.path.realpath(path))
        _remove_left_over(target)
        part, descriptor = _new_part(target, old)
    try:
        with _errors_about(path, part):
            yield part
            os.fsync(descriptor)
            _close_on_windows(descriptor)
            if old is not None:
                _keep_permissions(part, old)
            part.replace(target)
            _sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)
        with suppress(OSError):
            os.close(descriptor)


def check_replaceable(path: Path) -> os.stat_result | None:
    """Raise where a path is a folder, a device or a pipe; else say what is there now, if any."""
    try:
        old = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise ValueError(f"{path} is a folder: name a file inside it.")
    if not stat.S_ISREG(old.st_mode):
        raise ValueError(f"{path} is a device or a pipe: name a file, which can be replaced.")
    return old


@contextmanager
def _errors_about(path: Path, part: Path | None = None) -> Iterator[None]:
    """Name the path that was asked for in errors, not the temporary one."""
    try:
        yield
    except OSError as error:
        is_ours = part is None or error.filename in (None, part, str(part))
        if error.errno is None or not is_ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _new_part(target: Path, old: os.stat_result | None) -> tuple[Path, int]:
    """A file that nobody else has, locked for as long as it is open."""
    # Nobody may read what replaces a private file, not even before it does.
    mode = 0o666 if old is None else 0o600
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    ending = "".join(target.suffixes[-2:])
    ending = ending if len(ending) <= _LONGEST_ENDING else ""
    while True:
        part = target.with_name(f"{_beginning(target)}{secrets.token_hex(8)}{ending}")
        try:
            descriptor = os.open(part, flags, mode)
        except FileExistsError:
            continue
        # A writer that cleans up may have seen the file before it was locked.
        if _lock(descriptor) is not False and part.exists():
            return part, descriptor
        os.close(descriptor)
        part.unlink(missing_ok=True)


def _beginning(target: Path) -> str:
    """How the temporary files of a path begin; they go by its digest, since it may be long."""
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()
    return f".rarefind-{digest[:12]}-"


def _lock(descriptor: int) -> bool | None:
    """Lock an open file; False where another has it, None where files cannot be locked."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_left_over(target: Path) -> None:
    """Remove temporary files of the same path whose writer has ended: nobody has their lock."""
    if sys.platform == "win32":
        return
    for part in target.parent.glob(f"{_beginning(target)}*"):
        with suppress(OSError):
            descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor):
                    part.unlink()
            finally:
                os.close(descriptor)


def _keep_permissions(part: Path, old: os.stat_result) -> None:
    """Give a file the owner and the permissions of the one that it replaces."""
    mode = stat.S_IMODE(old.st_mode)
    if sys.platform != "win32":
        own = part.stat()
        if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
            try:
                os.chown(part, old.st_uid, old.st_gid)
            except PermissionError:
                # What its group was allowed is not for ours.
                mode &= ~(stat.S_IRWXG if own.st_gid != old.st_gid else 0)
    part.chmod(mode)


def _close_on_windows(descriptor: int) -> None:
    """There a file that is open cannot be renamed."""
    if sys.platform == "win32":
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Have the new name on disk as well, where folders can be asked for that."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

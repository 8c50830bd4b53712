"""Snapshots: all that decisions remember at one place of the ledger, in a file that is checked.

A snapshot is a file ``<sequence>.snapshot`` in the folder's ``snapshots``::

    mark, length of the head (8 bytes), head (JSON), arrays one behind the other, digest of all that

It has personal data, as the ledger has: only the desk's user can read it, and it is deleted when
somebody was erased after it was made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from rarefind._core.files import atomic_write
from rarefind._core.types import Array
from rarefind.desk.ledger import Position
from rarefind.desk.schema import Schema

__all__ = ["Snapshot", "SnapshotError", "delete_snapshots", "fingerprint", "snapshot_files"]

_MARK = b"rarefind snapshot 1\n"
_ENDING = ".snapshot"
_DIGEST = 32
_LONGEST_HEAD = 1_000_000
_CHUNK = 1 << 24
_NOTHING = np.zeros(0, dtype=np.uint8)
_TYPES = {"<i8": np.int64, "|u1": np.uint8}


class SnapshotError(ValueError):
    """A snapshot that cannot be used: it is damaged, or of another desk, ledger or schema."""


class _StoredArray(msgspec.Struct, frozen=True):
    name: str
    type: str
    shape: tuple[int, ...]


class _SnapshotHead(msgspec.Struct, frozen=True):
    sequence: int
    chain: str
    erasures: int
    made: int
    fingerprint: str
    arrays: list[_StoredArray]


class Snapshot(msgspec.Struct, frozen=True):
    """What was remembered at a place of the ledger.

    Attributes
    ----------
    position : Position
    erasures : int
        The number of the ledger's last erasure then: what was erased later is still in here.
    made : int
        When, by the clock of the machine that made it.
    fingerprint : str
        Of what the settings say about features; see :func:`fingerprint`.
    arrays : dict of str to array
    """

    position: Position
    erasures: int
    made: int
    fingerprint: str
    arrays: Mapping[str, Array]

    def write(self, folder: Path, pause: Callable[[], object] = lambda: None) -> Path:
        """Write the file into a folder; it is whole or not there."""
        path = folder / f"{self.position.sequence:020d}{_ENDING}"
        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        head = msgspec.json.encode(
            _SnapshotHead(
                self.position.sequence,
                self.position.chain.hex(),
                self.erasures,
                self.made,
                self.fingerprint,
                [_StoredArray(name, each.dtype.str, each.shape) for name, each in arrays.items()],
            )
        )
        digest = blake2b(digest_size=_DIGEST)
        with atomic_write(path) as part:
            part.chmod(0o600)
            with part.open("r+b") as file:
                for piece in _pieces(head, arrays):
                    digest.update(piece)
                    file.write(piece)
                    # Piece by piece, so that others do not wait behind all of it for the disk.
                    file.flush()
                    os.fsync(file.fileno())
                    pause()
                file.write(digest.digest())
        return path

    @classmethod
    def read(cls, path: Path) -> Snapshot:
        """Read a file that was written here.

        Raises
        ------
        SnapshotError
            If it is damaged.
        OSError
            If it cannot be read.
        """
        is_empty = path.stat().st_size == 0
        content: Array = _NOTHING if is_empty else np.memmap(path, dtype=np.uint8, mode="r")
        start = len(_MARK) + 8
        if len(content) < start + _DIGEST or bytes(content[: len(_MARK)]) != _MARK:
            raise SnapshotError("it does not begin as a snapshot")
        digest = blake2b(digest_size=_DIGEST)
        stop = len(content) - _DIGEST
        for begin in range(0, stop, _CHUNK):
            digest.update(content[begin : min(stop, begin + _CHUNK)].data)
        if digest.digest() != bytes(content[stop:]):
            raise SnapshotError("it does not fit its digest")
        length = int.from_bytes(bytes(content[len(_MARK) : start]), "little")
        if length > min(_LONGEST_HEAD, stop - start):
            raise SnapshotError("its head is too long")
        try:
            head = msgspec.json.decode(bytes(content[start : start + length]), type=_SnapshotHead)
            position = Position(head.sequence, bytes.fromhex(head.chain))
        except ValueError as error:
            raise SnapshotError("its head cannot be read") from error
        arrays = _read_arrays(head.arrays, content[start + length : stop])
        return cls(position, head.erasures, head.made, head.fingerprint, arrays)


def fingerprint(schema: Schema) -> str:
    """A digest of what the settings say about features."""
    said = repr((schema.features, schema.limits.late))
    return blake2b(said.encode(), digest_size=16).hexdigest()


def snapshot_files(folder: Path) -> list[Path]:
    """The snapshots of a folder, the newest first, by the sequence they are of."""
    found = [each for each in folder.glob(f"*{_ENDING}") if each.stem.isdigit()]
    return sorted(found, key=lambda each: int(each.stem), reverse=True)


def delete_snapshots(folder: Path, *, kept: int = 0, before: int | None = None) -> int:
    """Delete the snapshots of a folder, and what writers that were killed have left.

    Parameters
    ----------
    folder : Path
    kept : int
        So many of the newest stay.
    before : int, optional
        Only those of earlier sequences, whatever ``kept`` says.
    """
    files = snapshot_files(folder)
    old = files[kept:] if before is None else [each for each in files if int(each.stem) < before]
    if before is None and not kept:
        old += folder.glob(f".rarefind-*{_ENDING}")
    for each in old:
        each.unlink(missing_ok=True)
    return len(old)


def _pieces(head: bytes, arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    yield _MARK
    yield len(head).to_bytes(8, "little")
    yield head
    for array in arrays.values():
        if array.size:
            whole = array.data.cast("B")
            for begin in range(0, len(whole), _CHUNK):
                yield whole[begin : begin + _CHUNK]


def _read_arrays(listed: list[_StoredArray], content: Array) -> dict[str, Array]:
    found: dict[str, Array] = {}
    begin = 0
    for each in listed:
        kind = _TYPES.get(each.type)
        if kind is None or each.name in found or any(length < 0 for length in each.shape):
            raise SnapshotError("its head names an array that cannot be")
        size = np.dtype(kind).itemsize
        for length in each.shape:
            size *= length
        if begin + size > len(content):
            raise SnapshotError("it is too short")
        # Arrays of whole numbers need not begin at a multiple of their size in the file.
        found[each.name] = np.frombuffer(content[begin : begin + size], dtype=kind).reshape(
            each.shape
        )
        begin += size
    if begin != len(content):
        raise SnapshotError("it is too long")
    return found

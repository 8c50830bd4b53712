"""The parts of a model file: nothing is read before its size and its checksum are known."""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from io import BufferedReader
from typing import IO, Any

import numpy as np

from rarefind._core.files import MARK
from rarefind.persistence._codec import RefusedError

_DIGEST = hashlib.sha256().digest_size
_PIECE = 2**18
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class Archive:
    """An open model file: its manifest, its tree and its arrays.

    Nothing but what is asked for is in memory.

    Parameters
    ----------
    file : binary file
        Open for reading, at its beginning.
    """

    def __init__(self, file: BufferedReader) -> None:
        if file.read(len(MARK)) != MARK:
            raise RefusedError("is not a rarefind model file.")
        digest, found = file.read(_DIGEST), hashlib.file_digest(file, "sha256")
        if found.digest() != digest:
            raise RefusedError("is damaged: it is cut short or was changed after it was saved.")
        self.sha256 = found.hexdigest()
        self._size = file.tell()
        self._zip = zipfile.ZipFile(file)
        self._check_parts()

    @property
    def n_arrays(self) -> int:
        """How many arrays there are."""
        return len(self._zip.infolist()) - 2

    def manifest(self) -> dict[str, Any]:
        """What the file says of itself."""
        manifest = self.json("manifest.json")
        if not isinstance(manifest, dict):
            raise RefusedError("does not say what it is.")
        return manifest

    def json(self, name: str) -> Any:
        """A part that is JSON."""
        return json.loads(self._zip.read(name))

    def array(self, number: int) -> Any:
        """The array with a number."""
        name = f"{number}.npy"
        if number >= self.n_arrays:
            raise RefusedError(f"does not hold a whole model (there is no array {number}).")
        with self._zip.open(name) as part:
            shape, in_columns, dtype = _HEADERS[np.lib.format.read_magic(part)](part)
            # What the header promises must be there: memory is taken by its word.
            size = self._zip.getinfo(name).file_size - part.tell()
            if math.prod(shape) * dtype.itemsize != size or max(shape, default=0) > self._size:
                raise RefusedError("holds an array that is not as long as it says.")
            if dtype.hasobject:
                raise RefusedError("holds an array of objects, which a model file never does.")
            made = np.empty(shape, dtype, order="F" if in_columns else "C")
            if size:
                _fill(made, part)
            # By rows, as every model has them: kernels would be compiled anew for another layout.
            return np.asarray(made, order="C")

    def _check_parts(self) -> None:
        """Nothing is compressed, twice there or shared: no more than the file can come out."""
        parts = self._zip.infolist()
        if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
            raise RefusedError("holds compressed parts, which a model file never does.")
        wanted = {"manifest.json", "model.json", *(f"{i}.npy" for i in range(len(parts) - 2))}
        if len(parts) != len(wanted) or {part.filename for part in parts} != wanted:
            raise RefusedError("holds other parts than a model file does.")
        end = 0
        for part in sorted(parts, key=lambda part: part.header_offset):
            if part.header_offset < end or part.file_size != part.compress_size:
                raise RefusedError("holds parts that lie in each other.")
            end = part.header_offset + part.file_size
        if end > self._size:
            raise RefusedError("holds parts that are not as long as they say.")


def _fill(array: Any, part: IO[bytes]) -> None:
    content = memoryview(array.reshape(-1, order="A").view(np.uint8))
    while content:
        read = part.readinto(content[:_PIECE])  # type: ignore[attr-defined]
        if not read:
            raise RefusedError("holds an array that is not as long as it says.")
        content = content[read:]

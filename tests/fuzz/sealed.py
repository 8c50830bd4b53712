"""A model file in parts, and how they are sealed again with the right checksum."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rarefind._core.files import MARK

_DIGEST = hashlib.sha256().digest_size


@dataclass
class Parts:
    """What a model file holds; a part that is bytes is written as it is.

    Attributes
    ----------
    manifest, tree : object of JSON, or bytes
    arrays : list of ndarray or bytes
    members : dict of bytes
        Further members of the archive, or others in the place of known ones; None leaves one out.
    compressed : set of str
        Members that are compressed.
    """

    manifest: Any
    tree: Any
    arrays: list[Any]
    members: dict[str, bytes | None] = field(default_factory=dict)
    compressed: set[str] = field(default_factory=set)
    damage: Any = None

    @classmethod
    def read(cls, path: Path) -> Parts:
        """Take an honest file apart."""
        with zipfile.ZipFile(io.BytesIO(path.read_bytes()[len(MARK) + _DIGEST :])) as archive:
            manifest, tree = (json.loads(archive.read(f"{n}.json")) for n in ("manifest", "model"))
            count = len(archive.namelist()) - 2
            arrays = [np.load(io.BytesIO(archive.read(f"{i}.npy"))) for i in range(count)]
        return cls(manifest, tree, arrays)

    def write(self, path: Path) -> None:
        """Seal the parts: mark, checksum, archive."""
        members: dict[str, bytes | None] = {
            "manifest.json": _text(self.manifest),
            "model.json": _text(self.tree),
            **{f"{i}.npy": _npy(array) for i, array in enumerate(self.arrays)},
            **self.members,
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in members.items():
                if content is not None:
                    how = zipfile.ZIP_DEFLATED if name in self.compressed else zipfile.ZIP_STORED
                    archive.writestr(zipfile.ZipInfo(name), content, how)
        body = packed.getvalue()
        if self.damage is not None:
            body = self.damage(body)
        path.write_bytes(MARK + hashlib.sha256(body).digest() + body)


def _text(part: Any) -> bytes:
    if isinstance(part, bytes):
        return part
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode(
        errors="surrogatepass"
    )


def _npy(part: Any) -> bytes:
    if isinstance(part, bytes):
        return part
    buffer = io.BytesIO()
    np.save(buffer, part, allow_pickle=True)
    return buffer.getvalue()

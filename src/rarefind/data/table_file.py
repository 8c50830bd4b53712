"""Which table is meant: a file, and the sheet of it where it has several."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

#: What names a file: a path, or a :class:`TableFile`.
AnyFile: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class TableFile:
    """A file with a table; wherever a path is taken, this is.

    Parameters
    ----------
    path : Path
        The file.
    sheet : str, default=None
        The sheet of an Excel file; by default the first.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rarefind.data.table_file import TableFile
    >>> str(TableFile(Path("claims.xlsx"), sheet="May"))
    'claims.xlsx'
    """

    path: Path
    sheet: str | None = None

    @classmethod
    def of(cls, path: AnyFile) -> TableFile:
        """A path, or what it is already."""
        return path if isinstance(path, TableFile) else cls(Path(path))

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self.path.name

    @property
    def is_packed(self) -> bool:
        """Whether the file is packed by gzip."""
        return self.path.suffix.lower() == ".gz"

    @property
    def kind(self) -> str:
        """The ending of the name that says the kind, before ``.gz``."""
        path = Path(self.path.stem) if self.is_packed else self.path
        return path.suffix.lower()

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)

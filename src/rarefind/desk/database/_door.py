"""What every database here can do, and how it says that it cannot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, Protocol, TypeAlias

__all__ = [
    "ABOVE_ALL",
    "CommitUnknown",
    "Database",
    "DatabaseConflict",
    "DatabaseUnavailable",
    "Durability",
    "Parameter",
    "Parameters",
    "Row",
    "Writer",
    "spread",
]

#: A list stands where SQL has ``IN :name``.
Parameter: TypeAlias = str | int | float | bytes | Sequence[str] | Sequence[int] | None
Parameters: TypeAlias = Mapping[str, Parameter]
#: Above the number of any row.
ABOVE_ALL: Final = 2**63 - 1
Row: TypeAlias = tuple[Any, ...]
#: Nothing committed is lost when the process is killed; or when the machine loses its power, too.
Durability: TypeAlias = Literal["process", "disk"]


class DatabaseUnavailable(Exception):  # noqa: N818
    """The database cannot be reached, is full, or is busy for too long; nothing was stored."""


class CommitUnknown(DatabaseUnavailable):
    """The database was lost in the middle of a commit: all of it was stored, or nothing."""


class DatabaseConflict(Exception):  # noqa: N818
    """A row breaks a constraint, such as a name that is there already; nothing was stored."""


class Writer(Protocol):
    """What can be done between the beginning and the commit of a transaction."""

    def execute(self, sql: str, **parameters: Parameter) -> int:
        """Run a statement, and return how many rows it changed."""
        ...

    def executemany(self, sql: str, rows: Iterable[Parameters]) -> None:
        """Run a statement once with each of the rows."""
        ...

    def read(self, sql: str, **parameters: Parameter) -> list[Row]:
        """Return the rows of a query, or of a statement with RETURNING."""
        ...


class Database(Protocol):
    """A database that is open; threads may share it, one at a time is inside."""

    def read(self, sql: str, **parameters: Parameter) -> list[Row]:
        """Return the rows of a query."""
        ...

    def write(self) -> AbstractContextManager[Writer]:
        """Begin a transaction; it is committed at the end of the block, undone on an error."""
        ...

    def checkpoint(self) -> None:
        """Do in an idle time what would hold up a commit later."""
        ...

    def clear_log(self) -> bool:
        """Let the log not have what was deleted; False while a reader needs it: try again."""
        ...

    def close(self) -> None:
        """Close the connection; it is opened again when it is needed."""
        ...

    @property
    def name(self) -> str:
        """What to call it in a sentence, without a password."""
        ...

    @property
    def migration_words(self) -> Mapping[str, str]:
        """What is written differently where tables are made."""
        ...


def spread(sql: str, parameters: Parameters) -> tuple[str, Parameters]:
    """Write a list of values that follows IN as one parameter a value."""
    lists = {name: value for name, value in parameters.items() if isinstance(value, (list, tuple))}
    if not lists:
        return sql, parameters
    spread_out = {name: value for name, value in parameters.items() if name not in lists}
    for name, values in lists.items():
        # Few different lengths, so that statements stay prepared; a value twice changes nothing.
        length = 1 << max(len(values) - 1, 0).bit_length()
        padded = [*values, *[values[-1] if values else None] * (length - len(values))]
        spread_out |= {f"{name}_{number}": value for number, value in enumerate(padded)}
        marks = ", ".join(f":{name}_{number}" for number in range(length))
        sql = re.sub(rf"\bIN :{name}\b", f"IN ({marks})", sql)
    return sql, spread_out

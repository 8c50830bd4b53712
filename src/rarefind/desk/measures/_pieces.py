"""Pieces of the ledger as columns: Parquet files, each whole or not there.

A piece has the transactions of ``LENGTH`` places of the ledger; the last one grows. Its name says
which, up to where, the ledger's chain there, and a checksum of its own content::

    00000012-000000000425983-<chain>-<checksum>.parquet
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
import polars as pl

from rarefind._core.files import atomic_write
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger, Position
from rarefind.desk.records import Entry
from rarefind.desk.schema import Kind, Schema

__all__ = [
    "OUTCOME",
    "HistoryPiece",
    "delete_pieces_with",
    "end_of",
    "first_piece",
    "list_pieces",
    "piece_columns",
    "piece_of",
    "record_column",
    "to_frame",
    "write_piece",
]

#: So many places of the ledger are one piece.
LENGTH = 1 << 15
_ENDING = ".parquet"
#: Of zstd. Simulated payments have a fifth of the bytes that they have uncompressed.
_LEVEL = 3
_SIZE = 8
_DAY = 86_400 * 10**9
_encode = msgspec.json.Encoder().encode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: What the ledger says of a transaction, beside what rules and models see.
OUTCOME: dict[str, Any] = {
    "sequence": pl.Int64,
    "id": pl.String,
    "time": pl.Int64,
    "arrived": pl.Int64,
    "amount": pl.Int64,
    "denied": pl.Boolean,
    "by": pl.String,
    "rules": pl.String,
    "score": pl.Float64,
    "priority": pl.Float64,
    "alert": pl.String,
    "propensity": pl.Float64,
    "model": pl.String,
    "entity": pl.String,
}


@dataclass(frozen=True, slots=True)
class HistoryPiece:
    """A file of rows: its number, the last place of the ledger that it knows, the ledger's chain
    there, and a checksum of its content."""

    path: Path
    number: int
    last: int
    chain: str
    checksum: str

    @property
    def is_full(self) -> bool:
        """Whether no row can come to it any more."""
        return self.last == end_of(self.number)

    def is_whole(self) -> bool:
        """Whether its content is what was written."""
        try:
            self._content()
        except OSError:
            return False
        return True

    def read(self, names: Collection[str] | None = None) -> pl.DataFrame:
        """Return its rows, with some columns as far as it has them, or with all.

        Raises
        ------
        OSError
            If the file is gone, or its content is not what was written.
        """
        content = self._content()
        columns = None
        if names is not None:
            columns = [name for name in pl.read_parquet_schema(BytesIO(content)) if name in names]
        return pl.read_parquet(BytesIO(content), columns=columns)

    def _content(self) -> bytes:
        # It is read, not mapped: a mapped file that somebody cuts off ends the process.
        content = self.path.read_bytes()
        if _checksum(content) != self.checksum:
            raise OSError(f"{self.path} is damaged.")
        return content


def piece_of(sequence: Any) -> Any:
    """Return the number of the piece of a place of the ledger, or of an array; they begin at 1."""
    return (sequence - 1) // LENGTH


def end_of(number: int) -> int:
    """Return the last place of the ledger that belongs to a piece."""
    return (number + 1) * LENGTH


def first_piece(ledger: Ledger, now: int, days: int) -> int:
    """Return the first piece of a history of so many days, of what retention has left."""
    before = ledger.arrived_since(now - days * _DAY)[1]
    return int(piece_of(max(before, ledger.deleted().sequence) + 1))


def record_column(name: str) -> str:
    """Return what a column that rules and models see is called in a file."""
    return f".{name}"


def list_pieces(folder: Path) -> list[HistoryPiece]:
    """Return the pieces in a folder, in order; of one that was written again, the longest."""
    found: dict[int, HistoryPiece] = {}
    for piece in _all_pieces(folder):
        other = found.get(piece.number)
        if other is None or other.last < piece.last:
            found[piece.number] = piece
    return [found[number] for number in sorted(found)]


def delete_pieces_with(folder: Path, sequences: Iterable[int]) -> int:
    """Delete the pieces that have places of the ledger, which somebody wants to be erased.

    Whoever keeps the history makes them again, from what the ledger has now.
    """
    numbers = {piece_of(sequence) for sequence in sequences}
    found = [piece for piece in _all_pieces(folder) if piece.number in numbers]
    for piece in found:
        piece.path.unlink(missing_ok=True)
    return len(found)


def write_piece(folder: Path, frame: pl.DataFrame, number: int, last: Position) -> HistoryPiece:
    """Write rows as a piece, and delete what was written of it before."""
    folder.mkdir(mode=0o700, exist_ok=True)
    content = BytesIO()
    frame.write_parquet(content, compression="zstd", compression_level=_LEVEL, statistics=False)
    checksum = _checksum(content.getbuffer())
    chain = last.chain.hex()[: 2 * _SIZE] or "0"
    path = folder / f"{number:08d}-{last.sequence:015d}-{chain}-{checksum}{_ENDING}"
    with atomic_write(path) as part:
        part.write_bytes(content.getbuffer())
    for other in _all_pieces(folder):
        if other.number == number and other.path != path:
            with suppress(OSError):  # where a reader holds it, the next writer does so
                other.path.unlink()
    return HistoryPiece(path, number, last.sequence, chain, checksum)


def to_frame(entries: Sequence[Entry], intake: Intake) -> pl.DataFrame:
    """Return transactions as columns: their outcomes, and what rules and models saw of them.

    Those that were erased, or stored before an entity was declared, are left out.
    """
    schema = intake.schema
    names = schema.features.names
    checked = list(schema.entities).index(schema.alerts.entity)
    rows = [row for row in entries if row.body and len(row.features) == 8 * len(names)]
    features = np.frombuffer(b"".join(row.features for row in rows), dtype="<f8")
    features = features.reshape(len(rows), len(names))
    columns = _outcomes(rows, checked)
    sent = [intake.stored(row.body).values for row in rows]
    zone = schema.transaction.time_zone
    for place, name in enumerate(names):
        columns.append(pl.Series(record_column(name), features[:, place].copy()))
    for name, kind in schema.columns.items():
        series = _series(record_column(name), kind, [one[name] for one in sent], zone)
        # A column that was sent hides a feature of its name, as in a record.
        columns = [column for column in columns if column.name != series.name] + [series]
    return pl.DataFrame(columns)


def piece_columns(schema: Schema) -> Mapping[str, Any]:
    """Return the types of all columns of a piece, by their names."""
    return to_frame([], Intake(schema)).schema


def _outcomes(rows: Sequence[Entry], checked: int) -> list[pl.Series]:
    outcomes = [row.outcome for row in rows]
    values: dict[str, list[Any]] = {
        "sequence": [row.sequence for row in rows],
        "id": [row.id for row in rows],
        "time": [row.time for row in rows],
        "arrived": [row.arrived for row in rows],
        "amount": [row.amount for row in rows],
        "denied": [one.decision == "deny" for one in outcomes],
        "by": [one.by for one in outcomes],
        "rules": [_encode(one.rules).decode() for one in outcomes],
        "score": [one.score for one in outcomes],
        "priority": [one.priority for one in outcomes],
        "alert": [one.alert for one in outcomes],
        "propensity": [one.propensity for one in outcomes],
        "model": [one.model for one in outcomes],
        "entity": [row.entities[checked] for row in rows],
    }
    return [pl.Series(name, values[name], dtype=kind) for name, kind in OUTCOME.items()]


def _series(name: str, kind: Kind, values: list[Any], zone: str) -> pl.Series:
    if kind != "time":
        types = {"text": pl.String, "number": pl.Float64, "boolean": pl.Boolean}
        return pl.Series(name, values, dtype=types[kind])
    instants = [None if value is None else (value - _EPOCH) // _MICROSECOND for value in values]
    series = pl.Series(name, instants, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    return series if zone == "UTC" else series.dt.convert_time_zone(zone)


def _all_pieces(folder: Path) -> Iterator[HistoryPiece]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        parts = name.removesuffix(_ENDING).split("-")
        if name.endswith(_ENDING) and len(parts) == 4 and parts[0].isdecimal():
            number, last, chain, checksum = parts
            if last.isdecimal():
                yield HistoryPiece(folder / name, int(number), int(last), chain, checksum)


def _checksum(content: bytes | memoryview) -> str:
    """What tells damage; a digest takes ten times as long, and who may write here needs none."""
    return f"{crc32(content):08x}"

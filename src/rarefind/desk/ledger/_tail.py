"""The rows after a place in the ledger as columns: what a restart has to read of them, no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from rarefind._core.types import Array
from rarefind.desk.database import Database

__all__ = ["Deleted", "Tail", "TailLabel", "read_deleted", "read_tail"]

_ENTRIES = """
SELECT sequence, time, amount, entities FROM entries
WHERE sequence > :after AND sequence <= :last ORDER BY sequence LIMIT :limit
"""
_WITH_BODIES = _ENTRIES.replace("entities FROM", "entities, body FROM")
# The labels of what was deleted or erased are of nobody any more.
_LABELS = """
SELECT labels.sequence, labels.id, labels.fraud, entries.time, entries.entities
FROM labels JOIN entries ON entries.id = labels.id
WHERE labels.sequence > :after AND labels.sequence <= :last AND entries.erasure IS NULL
ORDER BY labels.sequence
"""
#: The entities of a transaction that was erased.
_ERASED = "[]"
_texts = msgspec.json.Decoder(tuple[str, ...]).decode
_flat_texts = msgspec.json.Decoder(list[str]).decode


class TailLabel(NamedTuple):
    """A label with what is stored of its transaction; ``fraud`` is None where it takes back."""

    id: str
    fraud: bool | None
    time: int
    entities: tuple[str, ...]


class Tail(NamedTuple):
    """Rows of the ledger in the order of their arrival.

    Attributes
    ----------
    last : int
        The sequence of the last of them: read on after it.
    times : array of int64
        Of all transactions, also of those that were erased.
    time, amount : arrays of int64
        Of those that were not erased, as is all that follows.
    entities : list of sequences of str or None
        Whose they are, an entity at a time; None for those from before it was declared.
    bodies : sequence of bytes
        What was sent; empty where it was not asked for.
    labels : list of TailLabel
        Of transactions that are there, among them or before.
    rows : int
        How many rows were read, labels too.
    """

    last: int
    times: Array
    time: Array
    amount: Array
    entities: list[Sequence[str | None]]
    bodies: Sequence[bytes]
    labels: list[TailLabel]
    rows: int


class Deleted(NamedTuple):
    """What is left of the transactions that retention has deleted.

    ``sequence`` is the last one's and ``newest`` their latest time, None if none was deleted;
    ``days`` says how many they were on each day since 1970 in UTC.
    """

    sequence: int
    newest: int | None
    days: dict[int, int]


def read_tail(
    database: Database, after: int, last: int, limit: int, *, bodies: bool
) -> Tail | None:
    """Return up to ``limit`` transactions after a sequence, and the labels between them.

    None if there is nothing after it.
    """
    sql = _WITH_BODIES if bodies else _ENTRIES
    entries = database.read(sql, after=after, last=last, limit=limit)
    if len(entries) == limit:
        last = entries[-1][0]
    ((n_labels,),) = database.read(
        "SELECT count(*) FROM labels WHERE sequence > :after AND sequence <= :last",
        after=after,
        last=last,
    )
    labels = database.read(_LABELS, after=after, last=last) if n_labels else []
    if not entries and not n_labels:
        return None
    left = [row for row in entries if row[3] != _ERASED]
    columns = list(zip(*left, strict=True)) or [()] * 5
    return Tail(
        last,
        np.array([row[1] for row in entries], dtype=np.int64),
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.int64),
        _by_entity(columns[3]),
        columns[4] if bodies else (),
        [
            TailLabel(id, None if fraud is None else bool(fraud), time, _texts(entities))
            for _, id, fraud, time, entities in labels
        ],
        len(entries) + n_labels,
    )


def _by_entity(texts: Sequence[str]) -> list[Sequence[str | None]]:
    """Whose transactions are, an entity at a time, from the texts that keep it."""
    if not texts:
        return []
    count = len(_texts(texts[0]))
    # All names in one list are read much faster than a list for each transaction.
    flat: Sequence[str | None] = _flat_texts(f"[{','.join([text[1:-1] for text in texts])}]")
    # Entities are only ever added: no transaction has fewer than the first one.
    if len(flat) != count * len(texts):
        rows = [_texts(text) for text in texts]
        count = max(map(len, rows))
        flat = [name for row in rows for name in (*row, *[None] * (count - len(row)))]
    return [flat[i::count] for i in range(count)]


def read_deleted(database: Database) -> Deleted:
    """Return what later rows still need to know of those that retention has deleted."""
    anchors = database.read("SELECT sequence, newest FROM anchors ORDER BY sequence DESC LIMIT 1")
    days = database.read("SELECT day, transactions FROM days")
    sequence, newest = anchors[0] if anchors else (0, None)
    return Deleted(sequence, newest, dict(days))

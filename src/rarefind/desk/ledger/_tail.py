"""The rows after a place in the ledger as columns: what a restart has to read of them, no more."""

from __future__ import annotations

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
_texts = msgspec.json.Decoder(tuple[str, ...]).decode
_many_texts = msgspec.json.Decoder(list[list[str]]).decode


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
    time, amount : arrays of int64
        Of all transactions.
    entities : list of list of str
        Of each transaction; an erased one has none.
    bodies : list of bytes
        Of each transaction, empty for an erased one; no bodies where they were not asked for.
    labels : list of TailLabel
        Of transactions that are there, among them or before.
    rows : int
        How many rows were read, labels too.
    """

    last: int
    time: Array
    amount: Array
    entities: list[list[str]]
    bodies: list[bytes]
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
    columns = list(zip(*entries, strict=True)) or [()] * 5
    return Tail(
        last,
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.int64),
        _many_texts(f"[{','.join(columns[3])}]"),
        [bytes(body) for body in columns[4]] if bodies else [],
        [
            TailLabel(id, None if fraud is None else bool(fraud), time, _texts(entities))
            for _, id, fraud, time, entities in labels
        ],
        len(entries) + n_labels,
    )


def read_deleted(database: Database) -> Deleted:
    """Return what later rows still need to know of those that retention has deleted."""
    anchors = database.read("SELECT sequence, newest FROM anchors ORDER BY sequence DESC LIMIT 1")
    days = database.read("SELECT day, transactions FROM days")
    sequence, newest = anchors[0] if anchors else (0, None)
    return Deleted(sequence, newest, dict(days))

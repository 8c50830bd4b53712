"""What was decided, without who it was about: for those who count, list and search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from rarefind.desk.database import Database
from rarefind.desk.ledger import _tables as tables
from rarefind.desk.records import Entry

__all__ = ["Listed", "OutcomeRow", "find_beginning", "read_listed", "read_outcomes"]

_OUTCOMES = """
SELECT sequence, time, amount, decision, alert, propensity, rules, model FROM entries
WHERE sequence > :after AND sequence <= :last ORDER BY sequence LIMIT :limit
"""
_LISTED = "SELECT sequence, id, time, amount, entities FROM entries WHERE sequence IN :sequences"
_BEGINNING = f"""
SELECT {tables.ENTRY} FROM entries WHERE id >= :first AND id < :after AND erasure IS NULL
ORDER BY id LIMIT :limit
"""
_AT_ONCE = 1_000
_texts = msgspec.json.Decoder(tuple[str, ...]).decode


class OutcomeRow(NamedTuple):
    """What was decided about a transaction; see :class:`rarefind.desk.records.Outcome`."""

    sequence: int
    time: int
    amount: int
    decision: str
    alert: str
    propensity: float
    rules: tuple[str, ...]
    model: str


class Listed(NamedTuple):
    """A transaction as a list shows it; ``entities`` are empty where it was erased."""

    sequence: int
    id: str
    time: int
    amount: int
    entities: tuple[str, ...]


def read_outcomes(database: Database, after: int, last: int, limit: int) -> list[OutcomeRow]:
    """Return what was decided in the next rows after a sequence."""
    rows = database.read(_OUTCOMES, after=after, last=last, limit=limit)
    return [
        OutcomeRow(sequence, time, amount, decision, alert, propensity, _texts(rules), model)
        for sequence, time, amount, decision, alert, propensity, rules, model in rows
    ]


def read_listed(database: Database, sequences: Sequence[int]) -> dict[int, Listed]:
    """Return the transactions of some rows, as far as they are there."""
    found: dict[int, Listed] = {}
    for begin in range(0, len(sequences), _AT_ONCE):
        some = list(sequences[begin : begin + _AT_ONCE])
        for sequence, id, time, amount, entities in database.read(_LISTED, sequences=some):
            found[sequence] = Listed(sequence, id, time, amount, _texts(entities))
    return found


def find_beginning(database: Database, beginning: str, limit: int) -> list[Entry]:
    """Return transactions whose identifiers begin so, and that are not erased."""
    rows = database.read(_BEGINNING, first=beginning, after=beginning + "\U0010ffff", limit=limit)
    found = map(tables.to_entry, rows)
    # A database that sorts by the rules of a language has others in between.
    return [entry for entry in found if entry.id.startswith(beginning)]

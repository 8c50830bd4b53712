"""What the ledger knows of one card or person: shown to them, or erased on their wish."""

from __future__ import annotations

from collections import defaultdict
from struct import iter_unpack
from typing import Any

import msgspec

from rarefind.desk.database import Database, Writer
from rarefind.desk.ledger import _tables as tables
from rarefind.desk.ledger.chain import personal_digest
from rarefind.desk.records import Entry, LabelEntry

__all__ = ["erase", "export", "read_entity"]

_OF_ENTITY = f"""
SELECT {", ".join(f"entries.{name}" for name in tables.ENTRY_COLUMNS)}, entries.salt
FROM members JOIN entries ON entries.sequence = members.sequence
WHERE members.member = :member AND members.sequence < :before
ORDER BY members.sequence DESC LIMIT :limit
"""
_ERASE = """
UPDATE entries
SET entities = '[]', body = :nothing, features = :nothing, salt = NULL,
    personal = :personal, erasure = :erasure
WHERE sequence = :sequence
"""
_ALL = 2**62


def read_entity(
    reader: Database | Writer, entity: int, key: str, *, before: int = _ALL, limit: int = _ALL
) -> list[tuple[Entry, bytes]]:
    """Return the transactions of an entity with their salts, the newest first."""
    member = tables.member_of(entity, key)
    rows = reader.read(_OF_ENTITY, member=member, before=before, limit=limit)
    found = [(tables.to_entry(row[:-1]), bytes(row[-1])) for row in rows]
    # Two keys may share a number.
    return [(entry, salt) for entry, salt in found if entry.entities[entity] == key]


def export(database: Database, entity: int, key: str) -> list[dict[str, Any]]:
    """Return all that is known of an entity, the oldest first, ready to be written as JSON."""
    entries = [entry for entry, _ in read_entity(database, entity, key)][::-1]
    labels: dict[str, list[LabelEntry]] = defaultdict(list)
    for start in range(0, len(entries), 1_000):
        for label in tables.labels_of(database, [row.id for row in entries[start : start + 1_000]]):
            labels[label.id].append(label)
    return [_plain(entry, labels[entry.id]) for entry in entries]


def erase(
    database: Database,
    entity: int,
    key: str,
    *,
    by: str,
    now: int,
    limit: int,
    order: int | None,
) -> int:
    """Erase who made the transactions of an entity, what was sent, and the features.

    Their place in the chain, identifier, time, amount and outcome stay. Return how many they are.
    """
    with database.write() as writer:
        found = read_entity(writer, entity, key, limit=limit)
        if not found:
            return 0
        ((number,),) = writer.read(
            "INSERT INTO erasures (arrived, entity, approved_by, transactions, for_order) "
            "VALUES (:now, :entity, :by, :transactions, :order) RETURNING number",
            now=now,
            entity=entity,
            by=by,
            transactions=len(found),
            order=order,
        )
        writer.executemany(
            _ERASE,
            [
                {
                    "sequence": entry.sequence,
                    "nothing": b"",
                    "personal": personal_digest(entry, salt),
                    "erasure": number,
                }
                for entry, salt in found
            ],
        )
        writer.executemany(
            "INSERT INTO erased (sequence, erasure) VALUES (:sequence, :erasure)",
            [{"sequence": entry.sequence, "erasure": number} for entry, _ in found],
        )
        tables.delete_members(
            writer, [(entry.sequence, tables.to_text(entry.entities)) for entry, _ in found]
        )
    return len(found)


def _plain(entry: Entry, labels: list[LabelEntry]) -> dict[str, Any]:
    return {
        "sequence": entry.sequence,
        "id": entry.id,
        "time": entry.time,
        "arrived": entry.arrived,
        "transaction": msgspec.json.decode(entry.body),
        "features": [value for (value,) in iter_unpack("<d", entry.features)],
        "outcome": msgspec.to_builtins(entry.outcome),
        "labels": [
            {"arrived": label.arrived, "fraud": label.fraud, "source": label.source}
            for label in labels
        ],
    }

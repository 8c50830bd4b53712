"""Cases of somebody who was erased do not say whose they are; old ones go with their rows."""

from __future__ import annotations

from collections.abc import Sequence

from rarefind.desk.alerts._tables import STEPS
from rarefind.desk.database import Database, migrate

__all__ = ["ERASED", "delete_closed", "erase_entity", "erase_reasons"]

#: What is left of a reason.
ERASED = "The transaction was erased or deleted before its reason was found."


def erase_entity(database: Database, entity: str, instead: str) -> int:
    """Let the cases of an entity have another name, without notes; returns how many there are."""
    migrate(database, "alerts", STEPS)
    with database.write() as writer:
        changed = writer.execute(
            "UPDATE cases SET entity = :instead WHERE entity = :entity",
            entity=entity,
            instead=instead,
        )
        # Reasons quote what was sent, and notes what a customer has said.
        writer.execute(
            "UPDATE alerts SET reason = :reason, because = NULL WHERE case_id IN "
            "(SELECT id FROM cases WHERE entity = :instead)",
            reason=ERASED,
            instead=instead,
        )
        writer.execute(
            "UPDATE verdicts SET note = '' WHERE case_id IN "
            "(SELECT id FROM cases WHERE entity = :instead)",
            instead=instead,
        )
        writer.execute(
            "DELETE FROM notes WHERE case_id IN (SELECT id FROM cases WHERE entity = :instead)",
            instead=instead,
        )
    return changed


def erase_reasons(database: Database, sequences: Sequence[int]) -> None:
    """Let the alerts of some rows of the ledger have no reason, which quotes what was sent."""
    migrate(database, "alerts", STEPS)
    with database.write() as writer:
        writer.execute(
            "UPDATE alerts SET reason = :reason, because = NULL WHERE sequence IN :sequences",
            reason=ERASED,
            sequences=list(sequences),
        )


def delete_closed(database: Database, upto: int, limit: int) -> int:
    """Delete closed cases whose transactions are all deleted from the ledger; returns how many.

    A verdict stays as the label of its transactions.

    Parameters
    ----------
    database : Database
        That of the desk.
    upto : int
        The sequence up to which the ledger's rows are deleted.
    limit : int
        How many cases at most; call it again for the others.
    """
    with database.write() as writer:
        rows = writer.read(
            "SELECT DISTINCT cases.id FROM alerts JOIN cases ON cases.id = alerts.case_id "
            "WHERE alerts.sequence <= :upto AND cases.closed IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM alerts AS later WHERE later.case_id = cases.id "
            "AND later.sequence > :upto) LIMIT :limit",
            upto=upto,
            limit=limit,
        )
        cases = [{"id": case} for (case,) in rows]
        writer.executemany("DELETE FROM alerts WHERE case_id = :id", cases)
        writer.executemany("DELETE FROM verdicts WHERE case_id = :id", cases)
        writer.executemany("DELETE FROM notes WHERE case_id = :id", cases)
        writer.executemany("DELETE FROM cases WHERE id = :id", cases)
    return len(cases)

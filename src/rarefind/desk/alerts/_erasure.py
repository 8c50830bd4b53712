"""Cases of somebody who was erased stay, and do not say whose they are."""

from __future__ import annotations

from rarefind.desk.alerts._tables import STEPS
from rarefind.desk.database import Database, migrate

__all__ = ["erase_entity"]


def erase_entity(database: Database, entity: str, instead: str) -> int:
    """Let the cases of an entity have another name; returns how many there are."""
    migrate(database, "alerts", STEPS)
    with database.write() as writer:
        return writer.execute(
            "UPDATE cases SET entity = :instead WHERE entity = :entity",
            entity=entity,
            instead=instead,
        )

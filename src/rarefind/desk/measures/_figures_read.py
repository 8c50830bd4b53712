"""How far something was read, kept in the transaction that stores what was found there."""

from __future__ import annotations

from rarefind.desk.database import Database, Writer

__all__ = ["read_place", "save_place"]


def read_place(door: Database | Writer, name: str) -> tuple[int, str] | None:
    """Return how far something was read, and the ledger's chain there; None if it never was."""
    rows = door.read("SELECT position, chain FROM figures_read WHERE name = :name", name=name)
    return (int(rows[0][0]), str(rows[0][1])) if rows else None


def save_place(writer: Writer, name: str, position: int, chain: str = "") -> None:
    """Store how far something was read."""
    writer.execute(
        "INSERT INTO figures_read (name, position, chain) VALUES (:name, :position, :chain) "
        "ON CONFLICT (name) DO UPDATE SET position = excluded.position, chain = excluded.chain",
        name=name,
        position=position,
        chain=chain,
    )

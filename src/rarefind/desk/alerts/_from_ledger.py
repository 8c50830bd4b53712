"""How alerts come from the ledger into cases, and how far it was read."""

from __future__ import annotations

from typing import NamedTuple

from rarefind.desk.alerts._case import ALERT_COLUMNS
from rarefind.desk.database import Database, Writer
from rarefind.desk.records import Entry

__all__ = ["Added", "add_alert", "cut_off", "read_position", "set_position"]

_FOLLOWER = "cases"


class Added(NamedTuple):
    """An alert that was added, and its case; ``is_new`` if it has opened the case."""

    entry: Entry
    case: int
    is_new: bool


def read_position(door: Database | Writer) -> tuple[int, str]:
    """How far the ledger was read: a sequence and the chain there, empty where it is not known."""
    rows = door.read("SELECT sequence, chain FROM read_up_to WHERE name = :name", name=_FOLLOWER)
    return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "")


def set_position(transaction: Writer, sequence: int, chain: str) -> None:
    """Store how far the ledger was read."""
    transaction.execute(
        "INSERT INTO read_up_to (name, sequence, chain) VALUES (:name, :sequence, :chain) "
        "ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, chain = excluded.chain",
        name=_FOLLOWER,
        sequence=sequence,
        chain=chain,
    )


def add_alert(transaction: Writer, entry: Entry, entity: str) -> Added:
    """Add an alert to the case of its entity, or to a new one."""
    outcome = entry.outcome
    rows = transaction.read(
        "SELECT id FROM cases WHERE entity = :entity AND closed IS NULL", entity=entity
    )
    about = {
        "priority": outcome.priority,
        "kind": outcome.alert,
        "propensity": outcome.propensity,
    }
    if rows:
        number = rows[0][0]
        # What is risky is risky, whatever the random share has chosen beside it.
        transaction.execute(
            "UPDATE cases SET priority = CASE WHEN priority < :priority THEN :priority ELSE "
            "priority END, kind = CASE WHEN :kind = 'risk' THEN 'risk' ELSE kind END, "
            "propensity = CASE WHEN propensity < :propensity THEN :propensity ELSE propensity "
            "END WHERE id = :id",
            id=number,
            **about,
        )
    else:
        ((number,),) = transaction.read(
            "INSERT INTO cases (entity, state, opened, priority, kind, propensity) "
            "VALUES (:entity, 'open', :opened, :priority, :kind, :propensity) RETURNING id",
            entity=entity,
            opened=entry.arrived,
            **about,
        )
    transaction.execute(
        f"INSERT INTO alerts ({ALERT_COLUMNS}) VALUES (:sequence, :case, :transaction, :time, "
        ":arrived, :amount, :score, :priority, :kind, :propensity, :rules, NULL, NULL, NULL)",
        sequence=entry.sequence,
        case=number,
        transaction=entry.id,
        time=entry.time,
        arrived=entry.arrived,
        amount=entry.amount,
        score=outcome.score,
        rules="\n".join(outcome.rules),
        **about,
    )
    return Added(entry, number, is_new=not rows)


def cut_off(transaction: Writer, after: int, chain: str) -> int:
    """Take away alerts after a place in the ledger; return their number.

    A machine that lost its power with durability ``process`` may have lost the ledger's last rows,
    and others have their numbers then. Cases that were opened by them alone go as well, unless a
    person has decided them or written a note.
    """
    lost = transaction.execute("DELETE FROM alerts WHERE sequence > :after", after=after)
    transaction.execute(
        "DELETE FROM cases WHERE NOT EXISTS "
        "(SELECT 1 FROM alerts WHERE alerts.case_id = cases.id) AND NOT EXISTS "
        "(SELECT 1 FROM verdicts WHERE verdicts.case_id = cases.id) AND NOT EXISTS "
        "(SELECT 1 FROM notes WHERE notes.case_id = cases.id)"
    )
    set_position(transaction, after, chain)
    return lost

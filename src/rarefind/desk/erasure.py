"""What is known of one card or person: shown to them, or erased where no process decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rarefind.desk.alerts import erase_entity, erase_reasons
from rarefind.desk.control import Control, Order
from rarefind.desk.database import ABOVE_ALL, Database
from rarefind.desk.features.snapshots import delete_snapshots
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import erase_notes
from rarefind.desk.measures import delete_pieces_with
from rarefind.desk.records import Entry
from rarefind.desk.schema import Schema
from rarefind.desk.webhooks import erase_messages

__all__ = [
    "carry_out_alone",
    "end_order",
    "export_entity",
    "forget_transactions",
    "order_erasure",
    "place_of_entity",
]

#: So many transactions are looked for at once.
_ROWS = 200


def place_of_entity(schema: Schema, entity: str) -> int:
    """The place of an entity among those of a schema."""
    if entity not in schema.entities:
        raise ValueError(
            f"{entity!r} is not an entity of this desk; they are {', '.join(schema.entities)}."
        )
    return list(schema.entities).index(entity)


def export_entity(folder: DeskFolder, entity: str, key: str, person: str) -> list[dict[str, Any]]:
    """All that the ledger knows of an entity, the oldest first; the audit log says who asked."""
    place = place_of_entity(folder.schema, entity)
    found = folder.read_ledger().export(place, key)
    database = folder.open_desk()
    control = Control(database, folder.declared, folder.models)
    # The log keeps for ever what it has: it names rows of the ledger, and not the key.
    detail: dict[str, Any] = {"rows": len(found)}
    if found:
        detail |= {"first": found[0]["sequence"], "last": found[-1]["sequence"]}
    with database.write() as writer:
        control.audit.add(writer, person, "export", entity, detail)
    return found


def order_erasure(control: Control, entity: str, key: str, person: str) -> Order:
    """Ask for an erasure, or approve it as the second person."""
    for order in control.orders.all():
        if (order.state, order.entity, order.key) == ("asked", entity, key):
            return order if order.asked_by == person else control.orders.approve(order.id, person)
        if (order.state, order.entity, order.key) == ("approved", entity, key):
            return order
    return control.orders.erase(entity, key, person)


def carry_out_alone(folder: DeskFolder, control: Control, database: Database, now: int) -> int:
    """Carry out all erasures that were approved; returns how many.

    Raises
    ------
    ValueError
        If a process decides in this folder: it does so by itself.
    """
    ledger = folder.open_ledger()
    orders = control.orders.to_do()
    for order in orders:
        place = place_of_entity(folder.schema, order.entity)
        by = order.answered_by or order.asked_by
        forget_transactions(database, ledger.read_entity(place, order.key, limit=ABOVE_ALL))
        ledger.erase(place, order.key, by=by, now=now, order=order.id)
        delete_snapshots(folder.snapshots)
        delete_pieces_with(folder.history, ledger.erased_rows(order.id))
        if not ledger.clean():
            raise ValueError("Another program reads the ledger: try again when it has ended.")
        end_order(control, database, folder.schema, order, ledger.erased_by(order.id))
    return len(orders)


def forget_transactions(database: Database, rows: Sequence[Entry]) -> None:
    """Take out of the desk's own database what quotes transactions that are about to be erased.

    It comes before the ledger, so that what is broken off is found and done again.
    """
    for begin in range(0, len(rows), _ROWS):
        part = rows[begin : begin + _ROWS]
        sequences = [row.sequence for row in part]
        erase_messages(database, sequences)
        erase_notes(database, [row.id for row in part])
        erase_reasons(database, sequences)


def end_order(
    control: Control, database: Database, schema: Schema, order: Order, transactions: int
) -> None:
    """Take an erased entity's name from its cases, and say that the order was carried out."""
    if order.entity == schema.alerts.entity:
        erase_entity(database, order.key, f"erased {order.id}")
    control.orders.done(order.id, transactions)

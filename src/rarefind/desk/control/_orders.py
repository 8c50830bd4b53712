"""What the decision process shall do to the ledger, which it alone may write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._approval import Approval
from rarefind.desk.control._audit import Audit, record_change
from rarefind.desk.control._errors import ControlConflict, ControlError, NotThere
from rarefind.desk.control._settings import SettingChanges
from rarefind.desk.database import ABOVE_ALL, Database, Row, Writer

__all__ = ["Order", "OrderState", "Orders"]

OrderState = Literal["asked", "approved", "rejected", "done", "failed"]
_COLUMNS = "id, kind, entity, key, state, asked, asked_by, answered, answered_by, ended, result"
_LONGEST_KEY = 10_000


@dataclass(frozen=True, slots=True)
class Order:
    """An order to the decision process.

    Attributes
    ----------
    id : int
    kind : {"erase"}
    entity : str
        The kind of entity, such as ``card``.
    key : str
        Which one; empty once it is done, since what was erased is not kept here either.
    state : {"asked", "approved", "rejected", "done", "failed"}
        The decision process carries out those that are approved.
    asked, answered, ended : int or None
        When.
    asked_by, answered_by : str or None
        Who.
    result : dict or None
        What came of it, such as the number of transactions, or the reason why it failed.
    """

    id: int
    kind: str
    entity: str
    key: str
    state: OrderState
    asked: int
    asked_by: str
    answered: int | None
    answered_by: str | None
    ended: int | None
    result: dict[str, Any] | None


class Orders:
    """The orders of a desk; each is carried out once.

    With ``alerts.second_person`` an order waits until another person than the one who asked has
    approved it; without, who asks has approved it.

    Parameters
    ----------
    database : Database
        That of the desk.
    settings : SettingChanges
    audit : Audit
    clock : DeskClock
    """

    def __init__(
        self, database: Database, settings: SettingChanges, audit: Audit, clock: DeskClock
    ) -> None:
        self._database, self._audit, self._clock = database, audit, clock
        self._schema = settings.declared
        self._approval = Approval(
            "orders",
            "order",
            waiting="asked",
            approved="approved",
            second_person=settings.second_person,
            clock=clock,
        )

    def get(self, order: int) -> Order:
        """Return an order."""
        return _get(self._database, order)

    def all(self, *, before: int = ABOVE_ALL, limit: int = 1_000) -> list[Order]:
        """Return the orders with a number below ``before``, the newest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM orders WHERE id < :before ORDER BY id DESC LIMIT :limit",
            before=before,
            limit=limit,
        )
        return [_as_order(row) for row in rows]

    def to_do(self, limit: int = 100) -> list[Order]:
        """Return what the decision process has to do, the oldest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM orders WHERE state = 'approved' ORDER BY id LIMIT :limit",
            limit=limit,
        )
        return [_as_order(row) for row in rows]

    def erase(self, entity: str, key: str, person: str) -> Order:
        """Ask to erase who made the transactions of an entity, what was sent, and its features."""
        if entity not in self._schema.entities:
            known = ", ".join(self._schema.entities)
            raise ControlError(f"{entity!r} is not an entity of this desk; they are {known}.")
        if not key or len(key) > _LONGEST_KEY or "\0" in key:
            raise ControlError(f"Name the {entity} to erase.")
        with self._database.write() as writer:
            asked = self._approval.ask(writer, person)
            ((number,),) = writer.read(
                "INSERT INTO orders "
                "(kind, entity, key, state, asked, asked_by, answered, answered_by) VALUES "
                "('erase', :entity, :key, :state, :asked, :asked_by, :answered, :answered_by) "
                "RETURNING id",
                entity=entity,
                key=key,
                **asked,
            )
            action = "ask for erasure" if asked["state"] == "asked" else "order erasure"
            self._record(writer, person, action, number, {"entity": entity})
            return _get(writer, number)

    def approve(self, order: int, person: str) -> Order:
        """Let an order be carried out; where a second person is wanted, not by who asked."""
        with self._database.write() as writer:
            known = _get(writer, order)
            if self._approval.approve(writer, known, person):
                self._record(writer, person, "approve erasure", order, {"entity": known.entity})
            return _get(writer, order)

    def reject(self, order: int, person: str) -> Order:
        """Answer that an order is not to be carried out."""
        with self._database.write() as writer:
            known = _get(writer, order)
            if self._approval.reject(writer, known, person):
                # Who is not erased need not be named here either.
                writer.execute("UPDATE orders SET key = '' WHERE id = :id", id=order)
                self._record(writer, person, "reject erasure", order, {"entity": known.entity})
            return _get(writer, order)

    def done(self, order: int, transactions: int) -> Order:
        """Say that an order was carried out; called by the decision process.

        Blocks of the entity that have ended, and lists that it was on, do not name it any more.
        Called again, as after a restart, it changes nothing.
        """
        return self._end(order, "done", {"transactions": transactions})

    def failed(self, order: int, reason: str) -> Order:
        """Say that an order cannot be carried out, and why; called by the decision process."""
        return self._end(order, "failed", {"reason": reason})

    def _end(self, order: int, state: OrderState, result: dict[str, Any]) -> Order:
        with self._database.write() as writer:
            known = _get(writer, order)
            if known.state in ("done", "failed"):
                return known
            if known.state != "approved":
                raise ControlConflict(f"Order {order} is {known.state}, and not approved.")
            writer.execute(
                "UPDATE orders SET state = :state, ended = :now, result = :result, key = '' "
                "WHERE id = :id",
                id=order,
                state=state,
                now=self._clock.now(),
                result=msgspec.json.encode(result).decode(),
            )
            if state == "done":
                if known.entity == self._schema.alerts.entity:
                    _forget_blocks(writer, known)
                _forget_listed(writer, known)
            approved_by = known.answered_by or known.asked_by
            action = "erase" if state == "done" else "fail to erase"
            self._record(writer, approved_by, action, order, {"entity": known.entity} | result)
            return _get(writer, order)

    def _record(
        self, writer: Writer, person: str, action: str, order: int, detail: dict[str, Any]
    ) -> None:
        record_change(self._audit, writer, person, action, f"order {order}", detail)


def _forget_blocks(writer: Writer, order: Order) -> None:
    """Let blocks that have ended not say whose they were; one that is in force goes on."""
    writer.execute(
        "UPDATE blocks SET entity = :instead, note = '', lift_note = '' "
        "WHERE entity = :key AND state <> 'waiting' AND state <> 'in force'",
        instead=f"erased {order.id}",
        key=order.key,
    )


def _forget_listed(writer: Writer, order: Order) -> None:
    """Let lists that it was taken off not name it; one that it is on still has it."""
    writer.execute(
        "UPDATE list_values SET value = :instead WHERE value = :key AND removed IS NOT NULL",
        instead=f"erased {order.id}",
        key=order.key,
    )


def _get(reader: Database | Writer, order: int) -> Order:
    rows = reader.read(f"SELECT {_COLUMNS} FROM orders WHERE id = :id", id=order)
    if not rows:
        raise NotThere(f"There is no order {order}.")
    return _as_order(rows[0])


def _as_order(row: Row) -> Order:
    order = Order(*row)
    return order if row[10] is None else replace(order, result=msgspec.json.decode(row[10]))

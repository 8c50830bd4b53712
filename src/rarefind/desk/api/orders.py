"""Orders to the decision process, which alone writes the ledger: to erase an entity."""

from __future__ import annotations

from operator import attrgetter

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import order_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import LARGEST, Before, Number, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.messages import OrderPage, OrderSummary

router = APIRouter(tags=["orders"])


@router.get("/orders", **described("manage", gives=OrderPage, example=examples.ORDERS))
def list_orders(door: Door, before: Before = None, limit: Rows = 100) -> Response:
    """List orders, the newest first."""
    rows = door.control.orders.all(before=before or LARGEST, limit=limit)
    found = [order_summary(order) for order in rows]
    return json_answer(OrderPage(orders=found, next=next_page(found, limit, attrgetter("id"))))


@router.get(
    "/orders/{order}",
    **described("manage", gives=OrderSummary, example=examples.ORDER, problems=(404,)),
)
def show_order(door: Door, order: Number) -> Response:
    """Show an order, and what came of it."""
    return json_answer(order_summary(door.control.orders.get(order)))


@router.post(
    "/orders/{order}/approve",
    **described("manage", gives=OrderSummary, example=examples.ORDER, problems=(404, 409)),
)
def approve_order(door: Door, order: Number, person: Person) -> Response:
    """Let an order be carried out; not by who has asked for it."""
    return json_answer(order_summary(door.control.orders.approve(order, person)))


@router.post(
    "/orders/{order}/reject",
    **described("manage", gives=OrderSummary, example=examples.ORDER, problems=(404, 409)),
)
def reject_order(door: Door, order: Number, person: Person) -> Response:
    """Answer that an order is not to be carried out."""
    return json_answer(order_summary(door.control.orders.reject(order, person)))

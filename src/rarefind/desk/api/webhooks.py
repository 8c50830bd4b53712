"""Webhooks: addresses that are told of alerts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import webhook_summary
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import Number
from rarefind.desk.api.people import Person
from rarefind.desk.api.sent import sent
from rarefind.desk.messages import MadeWebhook, NewWebhook, WebhookSummary

router = APIRouter(tags=["webhooks"])


@router.get(
    "/webhooks", **described("manage", gives=list[WebhookSummary], example=[examples.WEBHOOK])
)
def list_webhooks(door: Door) -> Response:
    """List the addresses that messages are sent to, and how that goes."""
    return json_answer([webhook_summary(each) for each in door.webhooks.all()])


@router.post(
    "/webhooks",
    **described(
        "manage",
        gives=MadeWebhook,
        example=examples.MADE_WEBHOOK,
        takes=NewWebhook,
        sends=examples.NEW_WEBHOOK,
    ),
)
def make_webhook(
    door: Door, person: Person, new: Annotated[NewWebhook, sent(NewWebhook)]
) -> Response:
    """Send messages to an address from now on; the secret that signs them is shown this once."""
    made, secret = door.webhooks.make(new.url, new.events, person)
    return json_answer(MadeWebhook(webhook=webhook_summary(made), secret=secret))


@router.delete(
    "/webhooks/{webhook}",
    **described("manage", gives=list[WebhookSummary], example=[examples.WEBHOOK], problems=(404,)),
)
def remove_webhook(door: Door, webhook: Number, person: Person) -> Response:
    """Send no more messages to an address; answers those that are left."""
    door.webhooks.remove(webhook, person)
    return json_answer([webhook_summary(each) for each in door.webhooks.all()])

"""Messages about alerts to programs of others: stored with the alert, signed, sent until they come.

A message is stored in the outbox in the same transaction as the alert it speaks of, and sent from
there by the worker. It comes **at least once**: one whose answer was lost is sent again, with the
same ``id``, by which its receiver knows it. Messages are sent in the order of their numbers, but
one that failed is tried again later, while newer ones go on: who needs the order has the
``sequence`` of the ledger in each of them.
"""

from rarefind.desk.webhooks._addresses import AddressError, check_url, is_public
from rarefind.desk.webhooks._deliverer import Deliverer
from rarefind.desk.webhooks._endpoints import NoSuchWebhook, Webhook, WebhookError, Webhooks
from rarefind.desk.webhooks._outbox import EVENTS, Event, Message, Outbox, erase_messages
from rarefind.desk.webhooks._sender import Sender
from rarefind.desk.webhooks._signature import is_signed, sign

__all__ = [
    "EVENTS",
    "AddressError",
    "Deliverer",
    "Event",
    "Message",
    "NoSuchWebhook",
    "Outbox",
    "Sender",
    "Webhook",
    "WebhookError",
    "Webhooks",
    "check_url",
    "erase_messages",
    "is_public",
    "is_signed",
    "sign",
]

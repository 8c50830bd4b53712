"""Sends what waits in the outbox, endpoint by endpoint."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Protocol

from rarefind.desk.clock import DeskClock
from rarefind.desk.webhooks._endpoints import derive_secret
from rarefind.desk.webhooks._outbox import Message, Outbox
from rarefind.desk.webhooks._sender import SendError
from rarefind.desk.webhooks._signature import sign

__all__ = ["Deliverer", "Sends"]

_SECOND = 10**9


class Sends(Protocol):
    """What posts a message."""

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> None:
        """Post a message; SendError unless it has come."""


class Deliverer:
    """Sends the messages of an outbox.

    A process that is killed after a message has come and before that is stored sends it again.

    Parameters
    ----------
    outbox : Outbox
    sender : Sends
    secret : bytes
        The desk's own, from which those of the endpoints are derived.
    clock : DeskClock
    """

    def __init__(self, outbox: Outbox, sender: Sends, secret: bytes, clock: DeskClock) -> None:
        self._outbox, self._sender, self._secret, self._clock = outbox, sender, secret, clock
        #: Counted since the start, for logs.
        self.delivered = self.failed = self.dead = 0

    async def deliver(self) -> int:
        """Send what is due, endpoints side by side; returns the number of messages that came."""
        by_webhook: dict[int, list[Message]] = defaultdict(list)
        for message in self._outbox.due():
            by_webhook[message.webhook].append(message)
        return sum(await asyncio.gather(*map(self._deliver_in_order, by_webhook.values())))

    async def _deliver_in_order(self, messages: list[Message]) -> int:
        for count, message in enumerate(messages):
            now = self._clock.now() // _SECOND
            headers = sign(derive_secret(self._secret, message.salt), message.id, message.body, now)
            headers |= {"Content-Type": "application/json", "User-Agent": "rarefind"}
            try:
                await self._sender.send(message.url, headers, message.body)
            except SendError as error:
                self.failed += 1
                self.dead += self._outbox.mark_failed(message, str(error))
                # The others of this endpoint would wait as long for nothing.
                return count
            self._outbox.mark_delivered(message)
            self.delivered += 1
        return len(messages)

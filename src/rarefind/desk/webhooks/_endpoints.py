"""The addresses that messages are sent to, and who has named them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.webhooks._addresses import check_url
from rarefind.desk.webhooks._outbox import EVENTS, Event
from rarefind.desk.webhooks._tables import STEPS

__all__ = ["Webhook", "WebhookError", "Webhooks"]

#: So many endpoints a desk may have: each alert is stored once for each.
MOST = 20
# A secret of a desk is seen as one where it should not be, such as in a repository.
_MARK = "rarefind_webhook_"


class WebhookError(ValueError):
    """What was asked of an endpoint cannot be done; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that messages are sent to.

    ``failures`` counts messages that failed since the last one that came; ``waiting`` and ``dead``
    are messages yet to be sent, and those that were given up.
    """

    id: int
    url: str
    events: tuple[Event, ...]
    made_by: str
    made: int
    failures: int
    waiting: int
    dead: int


class Webhooks:
    """The endpoints of a desk.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    secret : bytes
        The desk's own. The secret of an endpoint is derived from it and a salt, so that the
        database has nothing that a message could be forged with.
    clock : DeskClock
    allow_private : bool
        Whether messages may go to addresses of private networks.
    """

    def __init__(
        self, database: Database, secret: bytes, clock: DeskClock, *, allow_private: bool = False
    ) -> None:
        migrate(database, "webhooks", STEPS)
        self._database, self._secret, self._clock = database, secret, clock
        self._allow_private = allow_private

    def make(self, url: str, events: Sequence[str], person: str) -> tuple[Webhook, str]:
        """Store an endpoint; its secret is returned once, and is not shown again."""
        with self._database.write() as writer:
            number, secret = self.add(writer, url, events, person)
        return self.get(number), secret

    def add(self, writer: Writer, url: str, events: Sequence[str], person: str) -> tuple[int, str]:
        """Store an endpoint within a transaction; returns its number and its secret."""
        check_url(url, allow_private=self._allow_private)
        unknown = [each for each in events if each not in EVENTS]
        if unknown or not events:
            wrong = f", and not {unknown[0]!r}" if unknown else ": name one"
            raise WebhookError(f"The events are {', '.join(EVENTS)}{wrong}.")
        ((count,),) = writer.read("SELECT count(*) FROM webhooks WHERE removed IS NULL")
        if count >= MOST:
            raise WebhookError(f"There are {MOST} webhooks already: remove one first.")
        salt = secrets.token_hex(16)
        ((number,),) = writer.read(
            "INSERT INTO webhooks (url, events, salt, made_by, made, failures, paused_until) "
            "VALUES (:url, :events, :salt, :person, :now, 0, 0) RETURNING id",
            url=url,
            events=" ".join(event for event in EVENTS if event in events),
            salt=salt,
            person=person,
            now=self._clock.now(),
        )
        return int(number), derive_secret(self._secret, salt)

    def remove(self, webhook: int) -> None:
        """Send no more messages to an endpoint; those that wait are given up."""
        with self._database.write() as writer:
            self.drop(writer, webhook)

    def drop(self, writer: Writer, webhook: int) -> None:
        """Remove an endpoint within a transaction."""
        now = self._clock.now()
        changed = writer.execute(
            "UPDATE webhooks SET removed = :now WHERE id = :id AND removed IS NULL",
            id=webhook,
            now=now,
        )
        if not changed:
            raise WebhookError(f"There is no webhook {webhook}.")
        writer.execute(
            "UPDATE outbox SET state = 'dead', ended = :now, error = 'The webhook was removed.' "
            "WHERE webhook_id = :id AND state = 'waiting'",
            id=webhook,
            now=now,
        )

    def get(self, webhook: int) -> Webhook:
        """Return an endpoint."""
        for each in self.all():
            if each.id == webhook:
                return each
        raise WebhookError(f"There is no webhook {webhook}.")

    def all(self) -> list[Webhook]:
        """Return all endpoints that were not removed, the oldest first."""
        rows = self._database.read(
            "SELECT id, url, events, made_by, made, failures, "
            "(SELECT count(*) FROM outbox WHERE webhook_id = id AND state = 'waiting'), "
            "(SELECT count(*) FROM outbox WHERE webhook_id = id AND state = 'dead') "
            "FROM webhooks WHERE removed IS NULL ORDER BY id"
        )
        return [Webhook(row[0], row[1], tuple(row[2].split()), *row[3:]) for row in rows]


def derive_secret(desk: bytes, salt: str) -> str:
    """The secret of an endpoint."""
    digest = blake2b(salt.encode(), digest_size=32, key=desk, person=b"rarefind webhook")
    return _MARK + digest.hexdigest()

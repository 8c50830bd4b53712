"""The addresses that messages are sent to, and who has named them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, migrate
from rarefind.desk.webhooks._addresses import check_url
from rarefind.desk.webhooks._outbox import EVENTS, Event
from rarefind.desk.webhooks._tables import STEPS

if TYPE_CHECKING:
    from rarefind.desk.control import Audit
    from rarefind.desk.folder import DeskFolder

__all__ = ["NoSuchWebhook", "Webhook", "WebhookError", "Webhooks"]

#: So many endpoints a desk may have: each alert is stored once for each.
MOST = 20
# A secret of a desk is seen as one where it should not be, such as in a repository.
_MARK = "rarefind_webhook_"


class WebhookError(ValueError):
    """What was asked of an endpoint cannot be done; the sentence says why."""


class NoSuchWebhook(WebhookError):  # noqa: N818
    """There is no endpoint of that number."""


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
    audit : Audit
        Every change has its row there. It names the host, and not the rest of an address, which
        may be a secret of the receiver.
    clock : DeskClock
    allow_private : bool
        Whether messages may go to addresses of private networks.
    """

    def __init__(
        self,
        database: Database,
        secret: bytes,
        audit: Audit,
        clock: DeskClock,
        *,
        allow_private: bool = False,
    ) -> None:
        migrate(database, "webhooks", STEPS)
        self._database, self._secret, self._audit, self._clock = database, secret, audit, clock
        self._allow_private = allow_private

    @classmethod
    def of(cls, folder: DeskFolder, clock: DeskClock | None = None) -> Self:
        """Open the webhooks of a desk."""
        from rarefind.desk.control import Audit

        clock, database = clock or DeskClock(), folder.open_desk()
        allowed = folder.schema.webhooks.allow_private
        return cls(database, folder.secret, Audit(database, clock), clock, allow_private=allowed)

    def make(self, url: str, events: Sequence[str], person: str) -> tuple[Webhook, str]:
        """Store an endpoint; its secret is returned once, and is not shown again.

        Raises
        ------
        WebhookError, AddressError
            If it cannot be stored; the sentence says why.
        """
        read = check_url(url, allow_private=self._allow_private)
        unknown = [each for each in events if each not in EVENTS]
        if unknown or not events:
            wrong = f", and not {unknown[0]!r}" if unknown else ": name one"
            raise WebhookError(f"The events are {', '.join(EVENTS)}{wrong}.")
        salt = secrets.token_hex(16)
        wanted = [event for event in EVENTS if event in events]
        with self._database.write() as writer:
            ((count,),) = writer.read("SELECT count(*) FROM webhooks WHERE removed IS NULL")
            if count >= MOST:
                raise WebhookError(f"There are {MOST} webhooks already: remove one first.")
            ((number,),) = writer.read(
                "INSERT INTO webhooks (url, events, salt, made_by, made, failures, paused_until) "
                "VALUES (:url, :events, :salt, :person, :now, 0, 0) RETURNING id",
                url=url,
                events=" ".join(wanted),
                salt=salt,
                person=person,
                now=self._clock.now(),
            )
            detail = {"host": read.host, "events": wanted}
            self._audit.add(writer, person, "make webhook", f"webhook {number}", detail)
        return self.get(number), derive_secret(self._secret, salt)

    def remove(self, webhook: int, person: str) -> None:
        """Send no more messages to an endpoint; those that wait are given up."""
        now = self._clock.now()
        with self._database.write() as writer:
            changed = writer.execute(
                "UPDATE webhooks SET removed = :now WHERE id = :id AND removed IS NULL",
                id=webhook,
                now=now,
            )
            if not changed:
                raise NoSuchWebhook(f"There is no webhook {webhook}.")
            writer.execute(
                "UPDATE outbox SET state = 'dead', ended = :now, "
                "error = 'The webhook was removed.' WHERE webhook_id = :id AND state = 'waiting'",
                id=webhook,
                now=now,
            )
            self._audit.add(writer, person, "remove webhook", f"webhook {webhook}")

    def get(self, webhook: int) -> Webhook:
        """Return an endpoint."""
        for each in self.all():
            if each.id == webhook:
                return each
        raise NoSuchWebhook(f"There is no webhook {webhook}.")

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

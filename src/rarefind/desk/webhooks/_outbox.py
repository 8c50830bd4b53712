"""Messages that are stored with what they speak of, and wait to be sent."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

import msgspec

from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.webhooks._tables import STEPS

__all__ = ["EVENTS", "Event", "Message", "Outbox", "erase_messages"]

#: A transaction was proposed for checking; and it is the first of a new case.
Event = Literal["alert.raised", "case.opened"]
EVENTS: Final[tuple[Event, ...]] = get_args(Event)

_SECOND = 10**9
#: The second try comes after so long, each further one after twice that, up to the longest: all
#: tries together take about a day.
_FIRST_WAIT, _LONGEST_WAIT, MOST_TRIES = 10 * _SECOND, 4 * 3_600 * _SECOND, 16
#: An endpoint that has failed is left alone for so long, and longer when it fails again.
_FIRST_PAUSE, _LONGEST_PAUSE = 1 * _SECOND, 60 * _SECOND
_LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class Message:
    """A message to one endpoint.

    ``id`` is the same whenever it is sent; ``salt`` is what the endpoint's secret is derived with.
    """

    number: int
    webhook: int
    url: str
    salt: str
    id: str
    body: bytes
    tries: int


class Outbox:
    """The messages of a desk.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    clock : DeskClock
    """

    def __init__(self, database: Database, clock: DeskClock) -> None:
        migrate(database, "webhooks", STEPS)
        self._database, self._clock = database, clock

    def add(self, writer: Writer, event: Event, sequence: int, content: Mapping[str, Any]) -> int:
        """Store a message for each endpoint that wants the event; returns their number.

        Within the transaction that stores what it speaks of. ``sequence`` is that of the alert in
        the ledger: a message that is made again, after a database was restored, has the same id.
        """
        rows = writer.read("SELECT id, events FROM webhooks WHERE removed IS NULL")
        wanted = [number for number, events in rows if event in events.split()]
        if not wanted:
            return 0
        now, message = self._clock.now(), _name(event, sequence)
        made = datetime.fromtimestamp(now // _SECOND, UTC).isoformat()
        body = {"id": message, "event": event, "made": made, "sequence": sequence, **content}
        text = msgspec.json.encode(body).decode()
        writer.executemany(
            "INSERT INTO outbox (webhook_id, message, body, made, state, tries, next_try, error) "
            "VALUES (:webhook, :message, :body, :now, 'waiting', 0, 0, '') "
            "ON CONFLICT (webhook_id, message) DO NOTHING",
            [{"webhook": each, "message": message, "body": text, "now": now} for each in wanted],
        )
        return len(wanted)

    def due(self, limit: int = 100) -> list[Message]:
        """Return messages to send now, the oldest first."""
        # A time that lies farther ahead than any wait is from before the clock was set back.
        rows = self._database.read(
            "SELECT number, webhook_id, url, salt, message, body, tries "
            "FROM outbox JOIN webhooks ON webhooks.id = outbox.webhook_id "
            "WHERE state = 'waiting' AND removed IS NULL "
            "AND (next_try <= :now OR next_try > :latest_try) "
            "AND (paused_until <= :now OR paused_until > :latest_pause) "
            "ORDER BY number LIMIT :limit",
            now=(now := self._clock.now()),
            latest_try=now + _LONGEST_WAIT,
            latest_pause=now + _LONGEST_PAUSE,
            limit=limit,
        )
        return [
            Message(number, webhook, url, salt, message, body.encode(), tries)
            for number, webhook, url, salt, message, body, tries in rows
        ]

    def mark_delivered(self, message: Message) -> None:
        """Store that a message has come."""
        with self._database.write() as writer:
            writer.execute(
                "UPDATE outbox SET state = 'delivered', ended = :now, tries = :tries, error = '' "
                "WHERE number = :number AND state = 'waiting'",
                number=message.number,
                tries=message.tries + 1,
                now=self._clock.now(),
            )
            writer.execute(
                "UPDATE webhooks SET failures = 0, paused_until = 0 "
                "WHERE id = :id AND failures > 0",
                id=message.webhook,
            )

    def mark_failed(self, message: Message, error: str) -> bool:
        """Store that a message has not come; True if it is given up."""
        now, tries = self._clock.now(), message.tries + 1
        is_dead = tries >= MOST_TRIES
        with self._database.write() as writer:
            writer.execute(
                "UPDATE outbox SET state = :state, ended = :ended, tries = :tries, "
                "next_try = :next, error = :error WHERE number = :number AND state = 'waiting'",
                number=message.number,
                state="dead" if is_dead else "waiting",
                ended=now if is_dead else None,
                tries=tries,
                next=now + _wait(_FIRST_WAIT, _LONGEST_WAIT, tries),
                error=error[:_LONGEST_ERROR],
            )
            rows = writer.read("SELECT failures FROM webhooks WHERE id = :id", id=message.webhook)
            failures = int(rows[0][0]) + 1
            writer.execute(
                "UPDATE webhooks SET failures = :failures, paused_until = :until WHERE id = :id",
                id=message.webhook,
                failures=failures,
                until=now + _wait(_FIRST_PAUSE, _LONGEST_PAUSE, failures),
            )
        return is_dead

    def forget(self, before: int, limit: int = 1_000) -> int:
        """Delete messages that came or were given up before a time; returns how many."""
        with self._database.write() as writer:
            rows = writer.read(
                "SELECT number FROM outbox WHERE ended < :before ORDER BY ended LIMIT :limit",
                before=before,
                limit=limit,
            )
            writer.executemany(
                "DELETE FROM outbox WHERE number = :number",
                [{"number": number} for (number,) in rows],
            )
        return len(rows)


def erase_messages(database: Database, sequences: Sequence[int]) -> None:
    """Delete all messages about some rows of the ledger, whether they were sent or not."""
    migrate(database, "webhooks", STEPS)
    with database.write() as writer:
        writer.execute(
            "DELETE FROM outbox WHERE webhook_id IN (SELECT id FROM webhooks) "
            "AND message IN :messages",
            messages=[_name(event, each) for event in EVENTS for each in sequences],
        )


def _name(event: Event, sequence: int) -> str:
    """The id of a message about a row of the ledger, which is the same if it is made again."""
    return f"{event}:{sequence}"


def _wait(first: int, longest: int, times: int) -> int:
    """Twice as long each time, and never quite the same: not all come back at once."""
    nominal = min(first << min(times - 1, 40), longest)
    return round(nominal * random.uniform(0.5, 1.0))

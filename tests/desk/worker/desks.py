"""A desk of two databases, with a ledger that has alerts."""

import io

from desk.entries import entry

from rarefind.desk import Schema
from rarefind.desk.alerts import Cases
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import ManualClock
from rarefind.desk.labels import LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.webhooks import Outbox, Webhooks
from rarefind.desk.worker._follower import Follower

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[entities.card]
column = "card"
[entities.terminal]
column = "terminal"
[alerts]
entity = "card"
"""
)
SECRET = b"s" * 32
CLOCK = ManualClock(1_769_860_800 * 10**9)


def cases_of(desk):
    return Cases(desk, SCHEMA, LabelHistory(desk, SCHEMA, CLOCK), CLOCK)


def follower_of(desk, ledger, rows=2_000):
    log = Log("worker", io.StringIO())
    return Follower(
        Ledger(ledger, writes=False), cases_of(desk), Outbox(desk, CLOCK), SCHEMA, log, rows=rows
    )


def add_webhook(desk):
    from rarefind.desk.control import Audit  # which takes long to import

    webhooks = Webhooks(desk, SECRET, Audit(desk, CLOCK), CLOCK)
    return webhooks.make("https://example.org/", ["alert.raised", "case.opened"], "ann")


def some_entries(first, count):
    """Entries of which each third is an alert."""
    return [entry(n, alert="" if n % 3 else "risk") for n in range(first, first + count)]

"""The tables of webhooks: what they are made by."""

from __future__ import annotations

#: Each is taken once, in order; a published step never changes.
STEPS = (
    """
    CREATE TABLE webhooks (
        id INTEGER PRIMARY KEY,
        url TEXT NOT NULL,
        events TEXT NOT NULL,
        salt TEXT NOT NULL,
        made_by TEXT NOT NULL,
        made INTEGER NOT NULL,
        removed INTEGER,
        failures INTEGER NOT NULL,
        paused_until INTEGER NOT NULL
    );
    CREATE TABLE outbox (
        number INTEGER PRIMARY KEY,
        webhook_id INTEGER NOT NULL REFERENCES webhooks (id),
        message TEXT NOT NULL,
        body TEXT NOT NULL,
        made INTEGER NOT NULL,
        state TEXT NOT NULL,
        tries INTEGER NOT NULL,
        next_try INTEGER NOT NULL,
        ended INTEGER,
        error TEXT NOT NULL,
        UNIQUE (webhook_id, message)
    );
    CREATE INDEX outbox_waiting ON outbox (next_try) WHERE state = 'waiting';
    CREATE INDEX outbox_ended ON outbox (ended)
    """,
)

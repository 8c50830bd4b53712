"""The tables of labels and claims: what they are made by."""

from __future__ import annotations

#: Each is taken once, in order; a published step never changes.
STEPS = (
    """
    CREATE TABLE labels (
        number INTEGER PRIMARY KEY,
        transaction_id TEXT NOT NULL,
        fraud INTEGER,
        source TEXT NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE INDEX labels_of_transaction ON labels (transaction_id);
    CREATE TABLE claims (
        id INTEGER PRIMARY KEY,
        transaction_id TEXT NOT NULL UNIQUE,
        at INTEGER NOT NULL,
        note TEXT NOT NULL,
        state TEXT NOT NULL,
        person TEXT,
        answered INTEGER
    );
    """,
    "CREATE INDEX claims_by_state ON claims (state, id)",
)

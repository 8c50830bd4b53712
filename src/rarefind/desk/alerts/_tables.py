"""The tables of cases: what they are made by."""

from __future__ import annotations

#: Each is taken once, in order; a published step never changes.
STEPS = (
    """
    CREATE TABLE cases (
        id INTEGER PRIMARY KEY,
        entity TEXT NOT NULL,
        state TEXT NOT NULL,
        opened INTEGER NOT NULL,
        priority REAL NOT NULL,
        kind TEXT NOT NULL,
        propensity REAL NOT NULL,
        holder TEXT,
        held_until INTEGER,
        snoozed_until INTEGER,
        closed INTEGER,
        verdict TEXT
    );
    CREATE UNIQUE INDEX one_case_an_entity ON cases (entity) WHERE closed IS NULL;
    CREATE INDEX cases_closed ON cases (closed);
    CREATE TABLE alerts (
        sequence INTEGER NOT NULL PRIMARY KEY,
        case_id INTEGER NOT NULL REFERENCES cases (id),
        transaction_id TEXT NOT NULL,
        time INTEGER NOT NULL,
        arrived INTEGER NOT NULL,
        amount INTEGER NOT NULL,
        score REAL,
        priority REAL NOT NULL,
        kind TEXT NOT NULL,
        propensity REAL NOT NULL,
        rules TEXT NOT NULL,
        probability REAL,
        reason TEXT
    );
    CREATE INDEX alerts_of_case ON alerts (case_id);
    CREATE TABLE verdicts (
        id INTEGER PRIMARY KEY,
        case_id INTEGER NOT NULL REFERENCES cases (id),
        verdict TEXT NOT NULL,
        person TEXT NOT NULL,
        at INTEGER NOT NULL,
        note TEXT NOT NULL
    );
    CREATE INDEX verdicts_of_case ON verdicts (case_id);
    CREATE TABLE read_up_to (name TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL);
    """,
    """
    ALTER TABLE read_up_to ADD COLUMN chain TEXT NOT NULL DEFAULT '';
    CREATE INDEX alerts_without_reason ON alerts (priority DESC, sequence) WHERE reason IS NULL
    """,
    "CREATE INDEX cases_of_entity ON cases (entity)",
    """
    ALTER TABLE alerts ADD COLUMN because TEXT;
    CREATE INDEX cases_waiting ON cases (priority DESC, id) WHERE closed IS NULL;
    CREATE INDEX cases_drawn ON cases (opened, id) WHERE closed IS NULL AND kind = 'random';
    CREATE INDEX cases_in_hand ON cases (state, priority DESC, id)
        WHERE closed IS NULL AND state <> 'open';
    CREATE INDEX cases_found ON cases (verdict, closed) WHERE verdict IS NOT NULL;
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY,
        case_id INTEGER NOT NULL REFERENCES cases (id),
        person TEXT NOT NULL,
        at INTEGER NOT NULL,
        note TEXT NOT NULL
    );
    CREATE INDEX notes_of_case ON notes (case_id)
    """,
    # With all cases in it, it was taken for those that are not closed, which were then sorted.
    """
    DROP INDEX cases_closed;
    CREATE INDEX cases_closed ON cases (closed) WHERE closed IS NOT NULL
    """,
)

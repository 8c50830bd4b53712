"""The tables of people: what they are made by."""

from __future__ import annotations

#: Each is taken once, in order; a published step never changes.
STEPS = (
    """
    CREATE TABLE users (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        folded TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL,
        password TEXT,
        language TEXT NOT NULL,
        theme TEXT NOT NULL,
        made INTEGER NOT NULL,
        made_by TEXT NOT NULL,
        disabled INTEGER
    );
    CREATE TABLE sessions (
        digest TEXT NOT NULL PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        user_id INTEGER NOT NULL REFERENCES users (id),
        made INTEGER NOT NULL,
        seen INTEGER NOT NULL,
        address TEXT NOT NULL,
        browser TEXT NOT NULL
    );
    CREATE INDEX sessions_of_user ON sessions (user_id);
    CREATE INDEX sessions_by_use ON sessions (seen);
    CREATE TABLE links (
        digest TEXT NOT NULL PRIMARY KEY,
        user_id INTEGER REFERENCES users (id),
        made INTEGER NOT NULL,
        made_by TEXT NOT NULL,
        expires INTEGER NOT NULL
    );
    CREATE INDEX links_of_user ON links (user_id);
    CREATE TABLE attempts (
        number INTEGER PRIMARY KEY,
        subject TEXT NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE INDEX attempts_on_subject ON attempts (subject, at);
    CREATE INDEX attempts_by_time ON attempts (at);
    """,
)

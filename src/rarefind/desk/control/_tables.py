"""The tables of what people have decided: what they are made by."""

from __future__ import annotations

#: Each is taken once, in order; a published step never changes.
STEPS = (
    """
    CREATE TABLE revisions (one INTEGER NOT NULL PRIMARY KEY, number INTEGER NOT NULL);
    INSERT INTO revisions VALUES (1, 0);
    CREATE TABLE audit (
        number INTEGER NOT NULL PRIMARY KEY,
        at INTEGER NOT NULL,
        person TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        detail TEXT NOT NULL,
        chain BLOB NOT NULL
    );
    CREATE TABLE rule_versions (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        text TEXT NOT NULL,
        role TEXT NOT NULL,
        weight REAL,
        constants TEXT NOT NULL,
        lists TEXT NOT NULL,
        note TEXT NOT NULL,
        person TEXT NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (name, version)
    );
    CREATE TABLE lists (
        name TEXT NOT NULL PRIMARY KEY,
        person TEXT NOT NULL,
        changed INTEGER NOT NULL,
        version INTEGER NOT NULL,
        deleted INTEGER NOT NULL
    );
    CREATE TABLE list_values (
        number INTEGER PRIMARY KEY,
        list TEXT NOT NULL REFERENCES lists (name),
        value TEXT NOT NULL,
        added INTEGER NOT NULL,
        added_by TEXT NOT NULL,
        removed INTEGER,
        removed_by TEXT
    );
    CREATE UNIQUE INDEX values_of_list ON list_values (list, value) WHERE removed IS NULL;
    CREATE TABLE blocks (
        id INTEGER PRIMARY KEY,
        entity TEXT NOT NULL,
        state TEXT NOT NULL,
        note TEXT NOT NULL,
        asked INTEGER NOT NULL,
        asked_by TEXT NOT NULL,
        answered INTEGER,
        answered_by TEXT,
        lifted INTEGER,
        lifted_by TEXT
    );
    CREATE UNIQUE INDEX one_block_an_entity ON blocks (entity)
    WHERE state = 'waiting' OR state = 'in force';
    CREATE TABLE models (
        digest TEXT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        estimator TEXT NOT NULL,
        columns TEXT NOT NULL,
        own_threshold REAL NOT NULL,
        threshold REAL NOT NULL,
        state TEXT NOT NULL,
        added INTEGER NOT NULL,
        added_by TEXT NOT NULL,
        changed INTEGER NOT NULL,
        changed_by TEXT NOT NULL
    );
    CREATE UNIQUE INDEX one_champion ON models (state) WHERE state = 'champion';
    CREATE TABLE orders (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        entity TEXT NOT NULL,
        key TEXT NOT NULL,
        state TEXT NOT NULL,
        asked INTEGER NOT NULL,
        asked_by TEXT NOT NULL,
        answered INTEGER,
        answered_by TEXT,
        ended INTEGER,
        result TEXT
    );
    CREATE INDEX orders_by_state ON orders (state);
    """,
    """
    CREATE INDEX audit_by_person ON audit (person, number);
    CREATE INDEX audit_by_action ON audit (action, number);
    """,
    """
    ALTER TABLE rule_versions ADD COLUMN limits TEXT;
    ALTER TABLE rule_versions ADD COLUMN sunset TEXT
    """,
    "ALTER TABLE blocks ADD COLUMN lift_note TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX audit_by_subject ON audit (subject, number)",
    "CREATE INDEX blocks_of_entity ON blocks (entity, id)",
    """
    CREATE TABLE change_requests (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        content TEXT NOT NULL,
        state TEXT NOT NULL,
        asked INTEGER NOT NULL,
        asked_by TEXT NOT NULL,
        answered INTEGER,
        answered_by TEXT
    );
    CREATE INDEX change_requests_by_state ON change_requests (state, id);
    CREATE UNIQUE INDEX one_request_a_subject ON change_requests (kind, subject)
    WHERE state = 'waiting'
    """,
)

"""The tables of what the worker counts: by day, by rule, by model, and what it has read."""

from __future__ import annotations

#: Each is taken once, in order; a published step never changes.
STEPS = (
    """
    CREATE TABLE figures_read (
        name TEXT NOT NULL PRIMARY KEY,
        position INTEGER NOT NULL,
        chain TEXT NOT NULL
    );
    CREATE TABLE day_counts (
        day TEXT NOT NULL PRIMARY KEY,
        transactions INTEGER NOT NULL,
        denied INTEGER NOT NULL,
        risk INTEGER NOT NULL,
        drawn INTEGER NOT NULL,
        cannot_be_drawn INTEGER NOT NULL,
        least_propensity REAL NOT NULL
    );
    CREATE TABLE day_rules (
        day TEXT NOT NULL,
        rule TEXT NOT NULL,
        fired INTEGER NOT NULL,
        alerts INTEGER NOT NULL,
        PRIMARY KEY (day, rule)
    );
    CREATE TABLE day_models (
        day TEXT NOT NULL,
        model TEXT NOT NULL,
        scored INTEGER NOT NULL,
        alerts INTEGER NOT NULL,
        PRIMARY KEY (day, model)
    );
    CREATE TABLE labelled_rows (
        sequence INTEGER NOT NULL PRIMARY KEY,
        day TEXT NOT NULL,
        time INTEGER NOT NULL,
        at INTEGER NOT NULL,
        amount INTEGER NOT NULL,
        kind TEXT NOT NULL,
        propensity REAL NOT NULL,
        rules TEXT NOT NULL,
        model TEXT NOT NULL,
        fraud INTEGER,
        checked INTEGER NOT NULL
    );
    CREATE INDEX labelled_rows_of_day ON labelled_rows (day);
    CREATE TABLE day_labels (
        day TEXT NOT NULL PRIMARY KEY,
        labelled INTEGER NOT NULL,
        checked INTEGER NOT NULL,
        hits INTEGER NOT NULL,
        frauds INTEGER NOT NULL,
        frauds_amount INTEGER NOT NULL,
        drawn_checked INTEGER NOT NULL,
        drawn_hits INTEGER NOT NULL,
        drawn_weight REAL NOT NULL,
        drawn_squares REAL NOT NULL,
        lag_median INTEGER,
        lag_most INTEGER
    );
    CREATE TABLE day_labels_of (
        day TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        checked INTEGER NOT NULL,
        hits INTEGER NOT NULL,
        PRIMARY KEY (day, kind, name)
    );
    CREATE TABLE day_cases (
        day TEXT NOT NULL PRIMARY KEY,
        opened INTEGER NOT NULL,
        checked INTEGER NOT NULL,
        hits INTEGER NOT NULL,
        unclear INTEGER NOT NULL,
        expired INTEGER NOT NULL
    );
    CREATE TABLE saved_figures (
        name TEXT NOT NULL PRIMARY KEY,
        at INTEGER NOT NULL,
        figures TEXT NOT NULL
    );
    CREATE TABLE row_times (
        block INTEGER NOT NULL PRIMARY KEY,
        earliest INTEGER NOT NULL,
        latest INTEGER NOT NULL,
        times BLOB NOT NULL
    );
    CREATE TABLE row_scores (
        model TEXT NOT NULL,
        block INTEGER NOT NULL,
        scores BLOB NOT NULL,
        PRIMARY KEY (model, block)
    );
    CREATE TABLE model_periods (
        begins INTEGER NOT NULL PRIMARY KEY,
        ends INTEGER NOT NULL,
        models TEXT NOT NULL,
        figures TEXT NOT NULL
    )
    """,
)

"""The tables of the ledger, and how rows are written in them and read from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec

from rarefind.desk.database import Database, Parameters, Row, Writer
from rarefind.desk.records import Entry, LabelEntry, Outcome

__all__ = [
    "ADD_ENTRY",
    "ADD_LABEL",
    "ADD_MEMBER",
    "ENTRY",
    "ENTRY_COLUMNS",
    "LABEL",
    "STEPS",
    "delete_members",
    "entry_parameters",
    "label_parameters",
    "labels_of",
    "member_of",
    "member_parameters",
    "to_entry",
    "to_label",
    "to_text",
]

STEPS = (
    """
    CREATE TABLE entries (
        sequence INTEGER NOT NULL PRIMARY KEY,
        id TEXT NOT NULL,
        time INTEGER NOT NULL,
        arrived INTEGER NOT NULL,
        amount INTEGER NOT NULL,
        decision TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        rules TEXT NOT NULL,
        score REAL,
        priority REAL NOT NULL,
        alert TEXT NOT NULL,
        propensity REAL NOT NULL,
        rule_book TEXT NOT NULL,
        model TEXT NOT NULL,
        entities TEXT NOT NULL,
        body BLOB NOT NULL,
        features BLOB NOT NULL,
        salt BLOB,
        personal BLOB,
        erasure INTEGER,
        chain BLOB NOT NULL
    );
    CREATE UNIQUE INDEX entries_id ON entries (id);
    CREATE TABLE labels (
        sequence INTEGER NOT NULL PRIMARY KEY,
        id TEXT NOT NULL,
        arrived INTEGER NOT NULL,
        fraud INTEGER,
        source TEXT NOT NULL,
        chain BLOB NOT NULL
    );
    CREATE INDEX labels_id ON labels (id);
    CREATE TABLE anchors (
        sequence INTEGER NOT NULL PRIMARY KEY,
        chain BLOB NOT NULL,
        arrived INTEGER NOT NULL,
        newest INTEGER NOT NULL
    );
    CREATE TABLE days (
        day INTEGER NOT NULL PRIMARY KEY,
        transactions INTEGER NOT NULL,
        denied INTEGER NOT NULL,
        alerts INTEGER NOT NULL,
        frauds INTEGER NOT NULL,
        amount REAL NOT NULL
    );
    CREATE TABLE erasures (
        number INTEGER PRIMARY KEY,
        arrived INTEGER NOT NULL,
        entity INTEGER NOT NULL,
        approved_by TEXT NOT NULL,
        transactions INTEGER NOT NULL,
        for_order INTEGER
    );
    CREATE TABLE labels_read (
        one INTEGER NOT NULL PRIMARY KEY,
        number INTEGER NOT NULL
    );
    INSERT INTO labels_read (one, number) VALUES (1, 0);
    CREATE TABLE members (
        member INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        PRIMARY KEY (member, sequence)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE erased (
        sequence INTEGER NOT NULL PRIMARY KEY,
        erasure INTEGER NOT NULL
    );
    CREATE INDEX erased_by ON erased (erasure)
    """,
)

ENTRY_COLUMNS = (
    "sequence", "id", "time", "arrived", "amount", "decision", "decided_by", "rules", "score",
    "priority", "alert", "propensity", "rule_book", "model", "entities", "body", "features",
)  # fmt: skip
_LABEL_COLUMNS = ("sequence", "id", "arrived", "fraud", "source")
#: The columns of an entry and of a label, as ``to_entry`` and ``to_label`` read them.
ENTRY = ", ".join(ENTRY_COLUMNS)
LABEL = ", ".join(_LABEL_COLUMNS)


def _insert(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join(f":{name}" for name in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"


ADD_ENTRY = _insert("entries", (*ENTRY_COLUMNS, "salt", "chain"))
ADD_LABEL = _insert("labels", (*_LABEL_COLUMNS, "chain"))
ADD_MEMBER = _insert("members", ("member", "sequence"))

_encode = msgspec.json.Encoder().encode
_texts = msgspec.json.Decoder(tuple[str, ...]).decode


def to_text(values: tuple[str, ...]) -> str:
    """Write texts as they are kept in one column."""
    return _encode(values).decode()


def entry_parameters(entry: Entry, salt: bytes, chain: bytes) -> Parameters:
    """Return what is written of a transaction."""
    known = entry.outcome
    return {
        "sequence": entry.sequence,
        "id": entry.id,
        "time": entry.time,
        "arrived": entry.arrived,
        "amount": entry.amount,
        "decision": known.decision,
        "decided_by": known.by,
        "rules": to_text(known.rules),
        "score": known.score,
        "priority": known.priority,
        "alert": known.alert,
        "propensity": known.propensity,
        "rule_book": known.rule_book,
        "model": known.model,
        "entities": to_text(entry.entities),
        "body": entry.body,
        "features": entry.features,
        "salt": salt,
        "chain": chain,
    }


def member_of(entity: int, key: str) -> int:
    """Return the number under which the transactions of an entity are found."""
    digest = blake2b(key.encode(), digest_size=8, person=b"%d" % entity).digest()
    return int.from_bytes(digest, "little", signed=True)


def member_parameters(sequence: int, entities: tuple[str, ...]) -> list[Parameters]:
    """Return what is written so that a transaction is found by its entities."""
    return [
        {"member": member_of(entity, key), "sequence": sequence}
        for entity, key in enumerate(entities)
    ]


def delete_members(writer: Writer, rows: Iterable[tuple[int, str]]) -> None:
    """Let transactions, given by sequence and the text of their entities, not be found any more."""
    writer.executemany(
        "DELETE FROM members WHERE member = :member AND sequence = :sequence",
        [
            one
            for sequence, entities in rows
            for one in member_parameters(sequence, _texts(entities))
        ],
    )


def labels_of(database: Database, ids: Sequence[str]) -> list[LabelEntry]:
    """Return all labels of transactions, the oldest first."""
    rows = database.read(
        f"SELECT {LABEL} FROM labels WHERE id IN :ids ORDER BY sequence", ids=list(ids)
    )
    return [to_label(row) for row in rows]


def label_parameters(label: LabelEntry, chain: bytes) -> Parameters:
    """Return what is written of a label."""
    return {
        "sequence": label.sequence,
        "id": label.id,
        "arrived": label.arrived,
        "fraud": label.fraud,
        "source": label.source,
        "chain": chain,
    }


def to_entry(row: Row) -> Entry:
    """Read a transaction from the columns of ``ENTRY``; an erased one has no entities."""
    (
        sequence, id_, time, arrived, amount, decision, by, rules, score,
        priority, alert, propensity, rule_book, model, entities, body, features,
    ) = row  # fmt: skip
    outcome = Outcome(
        decision, by, _texts(rules), score, priority, alert, propensity, rule_book, model
    )
    return Entry(sequence, id_, time, arrived, amount, _texts(entities), body, features, outcome)


def to_label(row: Row) -> LabelEntry:
    """Read a label from the columns of ``LABEL``."""
    sequence, id_, arrived, fraud, source = row
    return LabelEntry(sequence, id_, arrived, None if fraud is None else bool(fraud), source)

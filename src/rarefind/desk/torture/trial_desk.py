"""A desk for a trial: with the columns, rules and model of another one, or with plain ones."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.folder import DeskFolder
from rarefind.desk.schema import FILE, Schema

_PERSON = "torture"
PLAIN = """
name = "torture"
[transaction]
id = "id"
time = "time"
amount = "amount"
outcome = "outcome"
[transaction.columns]
country = "text"
card_country = "text"
ecommerce = "boolean"
category = "text"
card_limit = "number"
[entities.card]
column = "card"
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
risk = true
[alerts]
entity = "card"
"""


class TrialDesk(NamedTuple):
    """The folder of a desk that is made for a trial, its schema, and a token to send with."""

    path: Path
    schema: Schema
    token: str


def make_trial_desk(path: Path, like: Path | None = None) -> TrialDesk:
    """Make a desk in a new folder.

    Parameters
    ----------
    path : Path
    like : Path, optional
        The folder of a desk whose columns, rules and model are taken; nothing else of it is read,
        and nothing of it is changed.
    """
    schema = Schema.from_text(PLAIN) if like is None else Schema.from_file(like / FILE)
    # One token sends all that is sent here.
    schema = replace(schema, limits=replace(schema.limits, rate=0))
    with DeskFolder.create(path, schema) as folder:
        if like is not None:
            _copy_control(like, schema, Control.of(folder))
        token = Tokens(folder.open_desk()).make("torture", "ingest", DeskClock().now())
    return TrialDesk(path, schema, token)


def _copy_control(like: Path, schema: Schema, own: Control) -> None:
    """Take the lists, the rules and the champion of a desk, which may be running."""
    if not (like / "desk.db").is_file():
        raise ValueError(
            f"{like} has no desk.db: only a desk that keeps its rules in SQLite can be copied."
        )
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name, "desk.db")
        database = SqliteDatabase(like / "desk.db", read_only=True)
        try:
            database.read("VACUUM INTO :copy", copy=str(copy))
        finally:
            database.close()
        database = SqliteDatabase(copy)
        try:
            theirs = Control(database, schema, like / "models")
            for list_name, values in theirs.lists.all().items():
                own.lists.save(list_name, values, _PERSON)
            for rule in theirs.rules.all():
                given = {"weight": rule.weight, "constants": rule.constants}
                own.rules.save(rule.name, rule.text, _PERSON, role=rule.role, **given)
            champion = theirs.models.champion()
            if champion is not None:
                own.models.add(theirs.models.path(champion.digest), _PERSON, champion.name)
                own.models.promote(champion.digest, _PERSON, champion.threshold)
        finally:
            database.close()

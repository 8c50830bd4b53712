"""A desk for a trial: with the columns, rules and model of another one, or with plain ones."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control, RuleRole
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
[labels]
delay = "1s"
[alerts]
entity = "card"
"""
#: Rules of the plain desk: name, text and role.
_RULES: Final[tuple[tuple[str, str, RuleRole], ...]] = (
    (
        "far from home",
        "amount > 5 * card_mean_30D and country != card_country and not ecommerce",
        "blocking",
    ),
    ("many in an hour", "card_count_1h > 3 and amount > 50", "scoring"),
    ("risky terminal", "terminal_risk_7D > 0.1", "scoring"),
    ("over the limit", "amount > card_limit", "scoring"),
    ("many countries", "card_distinct_country_1D > 2 and ecommerce", "shadow"),
)


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
    if like is not None and not (like / FILE).is_file():
        raise ValueError(f"{like} is not a desk, since it has no {FILE}: name the folder of one.")
    schema = Schema.from_text(PLAIN) if like is None else Schema.from_file(like / FILE)
    # One token sends all that is sent here.
    # Nobody is there to approve the rules that are copied, either.
    alerts = replace(schema.alerts, second_person=False)
    schema = replace(schema, limits=replace(schema.limits, rate=0), alerts=alerts)
    with DeskFolder.create(path, schema) as folder:
        control = Control.of(folder)
        if like is not None:
            _copy_control(like, schema, control)
        else:
            for name, text, role in _RULES:
                control.rules.save(name, text, _PERSON, role=role, weight=1.0)
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
                own.rules.save(
                    *(rule.name, rule.text, _PERSON),
                    role=rule.role,
                    weight=rule.weight,
                    constants=rule.constants,
                )
            champion = theirs.models.champion()
            if champion is not None:
                own.models.add(theirs.models.path(champion.digest), _PERSON, champion.name)
                own.models.promote(champion.digest, _PERSON, champion.threshold)
        finally:
            database.close()

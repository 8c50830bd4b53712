"""A desk for a trial: with the columns, rules and model of another one, or with plain ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.folder import DeskFolder
from rarefind.desk.schema import FILE, Schema

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
        token = Tokens(folder.open_desk()).make("torture", "ingest", DeskClock().now())
    return TrialDesk(path, schema, token)

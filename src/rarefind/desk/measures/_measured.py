"""What the rules of a desk were measured to be worth: stored by the worker, read by pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from rarefind.desk.database import Database, migrate
from rarefind.desk.measures._counts import RuleMeasures

__all__ = ["MeasuredRule", "MeasuredRules", "Proposal", "Proposals"]

_STEPS = (
    """
    CREATE TABLE measured_rules (
        name TEXT NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        at INTEGER NOT NULL,
        measures TEXT NOT NULL
    );
    CREATE TABLE proposals (
        number INTEGER PRIMARY KEY,
        text TEXT NOT NULL,
        measures TEXT NOT NULL
    );
    CREATE TABLE proposing (
        one INTEGER NOT NULL PRIMARY KEY,
        state TEXT NOT NULL,
        asked INTEGER,
        made INTEGER,
        note TEXT NOT NULL
    )
    """,
)
_decode = msgspec.json.Decoder(RuleMeasures).decode
ProposalState = Literal["never", "asked", "done"]


@dataclass(frozen=True, slots=True)
class MeasuredRule:
    """What a version of a rule was worth at a time."""

    name: str
    version: int
    at: int
    measures: RuleMeasures


class MeasuredRules:
    """The last measures of each rule.

    Parameters
    ----------
    database : Database
        That of the desk.
    """

    def __init__(self, database: Database) -> None:
        migrate(database, "measures", _STEPS)
        self._database = database

    def all(self) -> dict[str, MeasuredRule]:
        """Return what was measured, by the names of rules."""
        rows = self._database.read("SELECT name, version, at, measures FROM measured_rules")
        return {
            name: MeasuredRule(name, version, at, _decode(measures))
            for name, version, at, measures in rows
        }

    def store(self, found: Mapping[str, tuple[int, RuleMeasures]], at: int) -> None:
        """Store what was measured of rules and their versions, in place of what was there."""
        with self._database.write() as writer:
            writer.execute("DELETE FROM measured_rules")
            writer.executemany(
                "INSERT INTO measured_rules (name, version, at, measures) "
                "VALUES (:name, :version, :at, :measures)",
                [
                    {"name": name, "version": version, "at": at, "measures": _text(measures)}
                    for name, (version, measures) in found.items()
                ],
            )


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that was learnt from confirmed frauds, and judged on what came later."""

    number: int
    text: str
    measures: RuleMeasures


class Proposals:
    """The proposals of a desk, and whether somebody waits for new ones.

    Parameters
    ----------
    database : Database
        That of the desk.
    """

    def __init__(self, database: Database) -> None:
        migrate(database, "measures", _STEPS)
        self._database = database

    @property
    def state(self) -> tuple[ProposalState, int | None, str]:
        """Whether they were ever made or are asked for, when they were made, and a sentence."""
        rows = self._database.read("SELECT state, made, note FROM proposing")
        return rows[0] if rows else ("never", None, "")

    def all(self) -> list[Proposal]:
        """Return them, the most useful first."""
        rows = self._database.read("SELECT number, text, measures FROM proposals ORDER BY number")
        return [Proposal(number, text, _decode(measures)) for number, text, measures in rows]

    def ask(self, now: int) -> None:
        """Ask for new ones; the worker makes them."""
        with self._database.write() as writer:
            writer.execute(
                "INSERT INTO proposing (one, state, asked, note) VALUES (1, 'asked', :now, '') "
                "ON CONFLICT (one) DO UPDATE SET state = 'asked', asked = :now",
                now=now,
            )

    def store(self, found: Mapping[str, RuleMeasures], now: int, note: str = "") -> None:
        """Store new ones, in place of those that were there."""
        with self._database.write() as writer:
            writer.execute("DELETE FROM proposals")
            writer.executemany(
                "INSERT INTO proposals (text, measures) VALUES (:text, :measures)",
                [{"text": text, "measures": _text(one)} for text, one in found.items()],
            )
            writer.execute(
                "INSERT INTO proposing (one, state, made, note) VALUES (1, 'done', :now, :note) "
                "ON CONFLICT (one) DO UPDATE SET state = 'done', made = :now, note = :note",
                now=now,
                note=note,
            )


def _text(measures: RuleMeasures) -> str:
    return msgspec.json.encode(measures).decode()

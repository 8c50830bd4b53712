"""Rules as they are stored, one row a version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import msgspec

from rarefind.desk.database import Database, Row, Writer

__all__ = ["ROLES", "DeskRule", "RuleRole", "current_rules", "last_version", "versions_of"]

RuleRole = Literal["off", "shadow", "scoring", "blocking"]
#: Not run; only watched; raises an alert; denies.
ROLES: tuple[RuleRole, ...] = get_args(RuleRole)
_COLUMNS = "name, version, text, role, weight, constants, lists, note, person, at, limits, sunset"


@dataclass(frozen=True, slots=True)
class DeskRule:
    """A version of a rule.

    Attributes
    ----------
    name : str
    version : int
        Counted from 1 for each rule.
    text : str
        As it was written.
    role : {"off", "shadow", "scoring", "blocking"}
    weight : float or None
        What it adds to the priority where it fires as a scoring rule.
    constants : dict
        Values of names in the text that are not columns.
    lists : tuple of str
        The named lists that it asks.
    note : str
        Why it was saved.
    person : str
    at : int
    limits : dict of float
        Measures and the bounds that retire it, such as ``{"min_precision": 0.05}``.
    sunset : str or None
        The day from which on it is off, as 2026-12-31.
    """

    name: str
    version: int
    text: str
    role: RuleRole
    weight: float | None
    constants: dict[str, Any]
    lists: tuple[str, ...]
    note: str
    person: str
    at: int
    limits: dict[str, float] = field(default_factory=dict)
    sunset: str | None = None


def current_rules(reader: Database | Writer) -> list[DeskRule]:
    """Return the last version of each rule, in the order in which they were first saved."""
    rows = reader.read(
        f"SELECT {_COLUMNS} FROM rule_versions WHERE number IN "
        "(SELECT max(number) FROM rule_versions GROUP BY name) "
        "ORDER BY (SELECT min(number) FROM rule_versions AS first "
        "WHERE first.name = rule_versions.name)"
    )
    return [_as_rule(row) for row in rows]


def versions_of(
    reader: Database | Writer, name: str, *, after: int = 0, limit: int = 2**31
) -> list[DeskRule]:
    """Return the versions of a rule after one, the first first."""
    rows = reader.read(
        f"SELECT {_COLUMNS} FROM rule_versions WHERE name = :name AND version > :after "
        "ORDER BY version LIMIT :limit",
        name=name,
        after=after,
        limit=limit,
    )
    return [_as_rule(row) for row in rows]


def last_version(reader: Database | Writer, name: str) -> DeskRule | None:
    """Return a rule as it is now; None where there is none."""
    rows = reader.read(
        f"SELECT {_COLUMNS} FROM rule_versions WHERE name = :name ORDER BY version DESC LIMIT 1",
        name=name,
    )
    return _as_rule(rows[0]) if rows else None


def _as_rule(row: Row) -> DeskRule:
    name, version, text, role, weight, constants, lists, note, person, at, limits, sunset = row
    return DeskRule(
        name,
        version,
        text,
        role,
        weight,
        msgspec.json.decode(constants),
        tuple(msgspec.json.decode(lists)),
        note,
        person,
        at,
        msgspec.json.decode(limits) if limits else {},
        sunset,
    )

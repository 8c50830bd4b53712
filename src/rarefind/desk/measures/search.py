"""Finds a card, a transaction or a case by what somebody has written down of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rarefind.desk.alerts import Case, CaseLists, Cases, NoSuchCase
from rarefind.desk.database import Database
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry
from rarefind.desk.schema import Schema

__all__ = ["DeskSearch", "EntityFound", "SearchResult"]

#: So many of each kind are shown; who looks for more writes more.
_MOST = 20
_LONGEST = 256
_NUMBER = re.compile(r"#?([0-9]{1,18})\Z")
_ERASED = re.compile(r"erased [0-9]+\Z")


@dataclass(frozen=True, slots=True)
class EntityFound:
    """An entity such as a card: what it is called, its key, and the case that it has last had."""

    name: str
    key: str
    case: Case | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found; ``is_cut`` where there is more of a kind than is shown."""

    entities: list[EntityFound]
    transactions: list[Entry]
    cases: list[Case]
    is_cut: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.entities or self.transactions or self.cases)


class DeskSearch:
    """Looks in indexes only: entities by their whole key, or by a beginning where they have had a
    case; transactions by the beginning of their identifier; cases by their number.

    Nobody who was erased is found.

    Parameters
    ----------
    database : Database
        That of the desk.
    ledger : Ledger
    cases : Cases
    lists : CaseLists
    schema : Schema
    """

    def __init__(
        self, database: Database, ledger: Ledger, cases: Cases, lists: CaseLists, schema: Schema
    ) -> None:
        self._database, self._ledger = database, ledger
        self._cases, self._lists, self._schema = cases, lists, schema

    def find(self, text: str) -> SearchResult:
        """Return what a text stands for."""
        text = text.strip()
        if not text or len(text) > _LONGEST or "\0" in text:
            return SearchResult([], [], [], False)
        begun = self._checked_entities(text)
        entities = [each for each in self._whole(text) if (each.name, each.key) not in begun]
        transactions = self._ledger.find_beginning(text, _MOST + 1)
        return SearchResult(
            [*entities, *list(begun.values())][:_MOST],
            transactions[:_MOST],
            self._case(text),
            len(transactions) > _MOST or len(begun) > _MOST,
        )

    def _whole(self, key: str) -> list[EntityFound]:
        """Entities of any kind that have this key."""
        return [
            EntityFound(name, key, None)
            for place, name in enumerate(self._schema.entities)
            if self._ledger.read_entity(place, key, limit=1)
        ]

    def _checked_entities(self, beginning: str) -> dict[tuple[str, str], EntityFound]:
        """Entities that have had a case, by the beginning of their key."""
        rows = self._database.read(
            "SELECT DISTINCT entity FROM cases WHERE entity >= :first AND entity < :after "
            "ORDER BY entity LIMIT :limit",
            first=beginning,
            after=beginning + "\U0010ffff",
            limit=_MOST + 1,
        )
        name = self._schema.alerts.entity
        keys = [key for (key,) in rows if key.startswith(beginning) and not _ERASED.match(key)]
        return {
            (name, key): EntityFound(name, key, next(iter(self._lists.of_entity(key, 1)), None))
            for key in keys
        }

    def _case(self, text: str) -> list[Case]:
        number = _NUMBER.match(text)
        if number is None:
            return []
        try:
            case = self._cases.get(int(number[1]))
        except NoSuchCase:
            return []
        return [] if _ERASED.match(case.entity) else [case]

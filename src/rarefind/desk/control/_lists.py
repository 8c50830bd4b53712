"""Named lists of texts that rules ask: countries, merchants, cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._audit import Audit, record_change
from rarefind.desk.control._errors import ControlConflict, ControlError, NotThere, check_name
from rarefind.desk.control._rule_rows import current_rules
from rarefind.desk.database import ABOVE_ALL, Database, Row, Writer

__all__ = ["Lists", "NamedList"]

#: A list has no more values, a value no more characters.
MOST_VALUES, LONGEST_VALUE = 100_000, 256


@dataclass(frozen=True, slots=True)
class NamedList:
    """A list as it is now: who changed it last and when, and its values in order.

    ``count`` is how many values it has, where ``values`` are a part of them.
    """

    name: str
    person: str
    changed: int
    values: tuple[str, ...]
    count: int


class Lists:
    """The named lists of a desk; what was on a list and when stays known.

    Parameters
    ----------
    database : Database
        That of the desk.
    audit : Audit
    clock : DeskClock
    """

    def __init__(self, database: Database, audit: Audit, clock: DeskClock) -> None:
        self._database, self._audit, self._clock = database, audit, clock

    def names(self, *, after: str = "", limit: int = ABOVE_ALL) -> list[str]:
        """Return the names of the lists there are, or of those after one, in order."""
        rows = self._database.read(
            "SELECT name FROM lists WHERE deleted = 0 AND name > :after ORDER BY name LIMIT :limit",
            after=after,
            limit=limit,
        )
        return [row[0] for row in rows]

    def get(self, name: str) -> NamedList:
        """Return a list with all its values."""
        values = tuple(sorted(_values(self._database, name)))
        return self._named(name, values, len(values))

    def page(self, name: str, *, after: str = "", limit: int = 1_000) -> NamedList:
        """Return a list with those of its values that are after one, in the database's order."""
        rows = self._database.read(
            "SELECT value FROM list_values WHERE list = :name AND removed IS NULL "
            "AND value > :after ORDER BY value LIMIT :limit",
            name=name,
            after=after,
            limit=limit,
        )
        ((count,),) = self._database.read(
            "SELECT count(*) FROM list_values WHERE list = :name AND removed IS NULL", name=name
        )
        return self._named(name, tuple(row[0] for row in rows), count)

    def _named(self, name: str, values: tuple[str, ...], count: int) -> NamedList:
        rows = self._database.read(
            "SELECT name, person, changed FROM lists WHERE name = :name AND deleted = 0", name=name
        )
        if not rows:
            raise NotThere(f"There is no list {name!r}.")
        _, person, changed = rows[0]
        return NamedList(name, person, changed, values, count)

    def all(self) -> dict[str, tuple[str, ...]]:
        """Return all lists by name, as rules take them."""
        return read_lists(self._database, self.names())

    def save(self, name: str, values: Iterable[str], person: str) -> NamedList:
        """Make a list, or give it other values; those that stay keep their history."""
        check_name("list", name)
        check_name("person", person)
        wanted = _check_values(values)
        with self._database.write() as writer:
            known = _values(writer, name)
            is_new = not _exists(writer, name)
            added = [value for value in wanted if value not in known]
            removed = sorted(known.difference(wanted))
            if is_new or added or removed:
                self._change(writer, name, added, removed, person)
        return self.get(name)

    def add(self, name: str, values: Iterable[str], person: str) -> NamedList:
        """Add values to a list; those that are on it already stay as they are."""
        return self._edit(name, _check_values(values), (), person)

    def remove(self, name: str, values: Iterable[str], person: str) -> NamedList:
        """Take values off a list; those that are not on it change nothing."""
        return self._edit(name, (), _check_values(values), person)

    def delete(self, name: str, person: str) -> None:
        """Delete a list; one that a rule names is refused, unless the rule is off."""
        check_name("person", person)
        with self._database.write() as writer:
            if not _exists(writer, name):
                raise NotThere(f"There is no list {name!r}.")
            for rule in current_rules(writer):
                if rule.role != "off" and name in rule.lists:
                    raise ControlConflict(
                        f"The rule {rule.name!r} asks the list {name!r}: change the rule, or turn "
                        "it off, before you delete the list."
                    )
            removed = sorted(_values(writer, name))
            self._take_off(writer, name, removed, person)
            self._mark(writer, name, person, deleted=1)
            record_change(
                self._audit, writer, person, "delete list", name, {"values": len(removed)}
            )

    def _edit(
        self, name: str, adding: Sequence[str], removing: Sequence[str], person: str
    ) -> NamedList:
        check_name("person", person)
        with self._database.write() as writer:
            if not _exists(writer, name):
                raise NotThere(f"There is no list {name!r}.")
            known = _values(writer, name)
            added = [value for value in adding if value not in known]
            removed = [value for value in removing if value in known]
            if len(known) + len(added) > MOST_VALUES:
                raise ControlError(_too_many(len(known) + len(added)))
            if added or removed:
                self._change(writer, name, added, removed, person)
        return self.get(name)

    def _change(
        self, writer: Writer, name: str, added: list[str], removed: list[str], person: str
    ) -> None:
        self._mark(writer, name, person, deleted=0)
        self._take_off(writer, name, removed, person)
        writer.executemany(
            "INSERT INTO list_values (list, value, added, added_by) "
            "VALUES (:list, :value, :now, :person)",
            [
                {"list": name, "value": value, "now": self._clock.now(), "person": person}
                for value in added
            ],
        )
        # Values may be cards, and the log keeps for ever what it has; the list knows its own past.
        detail = {"added": len(added), "removed": len(removed)}
        record_change(self._audit, writer, person, "save list", name, detail)

    def _take_off(self, writer: Writer, name: str, values: list[str], person: str) -> None:
        writer.executemany(
            "UPDATE list_values SET removed = :now, removed_by = :person "
            "WHERE list = :list AND value = :value AND removed IS NULL",
            [
                {"list": name, "value": value, "now": self._clock.now(), "person": person}
                for value in values
            ],
        )

    def _mark(self, writer: Writer, name: str, person: str, *, deleted: int) -> None:
        writer.execute(
            "INSERT INTO lists (name, person, changed, version, deleted) "
            "VALUES (:name, :person, :now, 1, :deleted) "
            "ON CONFLICT (name) DO UPDATE SET person = excluded.person, "
            "changed = excluded.changed, version = lists.version + 1, deleted = excluded.deleted",
            name=name,
            person=person,
            now=self._clock.now(),
            deleted=deleted,
        )


class StoredLists(Mapping[str, tuple[str, ...]]):
    """All lists by name; the values of one are read when they are asked for."""

    def __init__(self, reader: Database | Writer) -> None:
        self._reader, self._names = reader, list(read_versions(reader))

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if name not in self._names:
            raise KeyError(name)
        return tuple(sorted(_values(self._reader, name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_versions(reader: Database | Writer) -> dict[str, int]:
    """Return the names of all lists, with numbers that change with their values."""
    rows = reader.read("SELECT name, version FROM lists WHERE deleted = 0 ORDER BY name")
    return dict(rows)


def read_lists(reader: Database | Writer, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of lists by name, as far as there are such lists; values are in order."""
    stored = StoredLists(reader)
    return {name: stored[name] for name in names if name in stored}


def _values(reader: Database | Writer, name: str) -> set[str]:
    rows: list[Row] = reader.read(
        "SELECT value FROM list_values WHERE list = :name AND removed IS NULL", name=name
    )
    return {row[0] for row in rows}


def _exists(writer: Writer, name: str) -> bool:
    return bool(writer.read("SELECT 1 FROM lists WHERE name = :name AND deleted = 0", name=name))


def _check_values(values: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(values))
    if len(found) > MOST_VALUES:
        raise ControlError(_too_many(len(found)))
    for value in found:
        if not isinstance(value, str) or not value or len(value) > LONGEST_VALUE or "\0" in value:
            raise ControlError(
                f"{value!r:.60} is not a value of a list: give texts of 1 to {LONGEST_VALUE} "
                "characters."
            )
    return found


def _too_many(count: int) -> str:
    return f"The list would have {count:,} values; at most {MOST_VALUES:,} are kept."

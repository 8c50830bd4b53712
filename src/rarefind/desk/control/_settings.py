"""Settings of desk.toml that an administrator changes while the desk runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._audit import Audit, record_change
from rarefind.desk.control._change_requests import ChangeRequest, ChangeRequests
from rarefind.desk.control._errors import check_name
from rarefind.desk.database import Database, Writer
from rarefind.desk.schema import Schema
from rarefind.desk.settings import (
    CHANGEABLE,
    SettingChange,
    SettingError,
    add_change,
    last_changes,
    make_tables,
    read_settings,
    setting_of,
    with_setting,
)

__all__ = ["SettingChanges", "SettingRow"]

#: What takes two people where the desk wants two: the wish for two itself, and deleting for good.
_TAKES_TWO = ("alerts.second_person", "retention.days")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting that can be changed.

    Attributes
    ----------
    name : str
    value, declared : object
        What counts, and what desk.toml says.
    change : SettingChange or None
        The last change, where it counts.
    waiting : ChangeRequest or None
        A change that waits for a second person.
    """

    name: str
    value: Any
    declared: Any
    change: SettingChange | None
    waiting: ChangeRequest | None


class SettingChanges:
    """The settings of a desk that can be changed without a restart.

    Parameters
    ----------
    database : Database
        That of the desk.
    declared : Schema
        What desk.toml says.
    audit : Audit
    clock : DeskClock
    """

    def __init__(
        self, database: Database, declared: Schema, audit: Audit, clock: DeskClock
    ) -> None:
        make_tables(database)
        self._database, self._audit, self._clock = database, audit, clock
        self.declared = declared
        self.requests = ChangeRequests(database, self.second_person, audit, clock)
        self.requests.applied_by("setting", self._approved)

    def schema(self) -> Schema:
        """Return what counts by now."""
        return read_settings(self.declared, self._database)[0]

    def second_person(self, reader: Database | Writer) -> bool:
        """Whether another person than the one who asked has to approve, by now."""
        return read_settings(self.declared, reader)[0].alerts.second_person

    def all(self) -> list[SettingRow]:
        """Return the settings that can be changed, as they are shown."""
        schema, changes = self.schema(), last_changes(self._database)
        waiting = {each.subject: each for each in self.requests.waiting("setting")}
        rows = []
        for name in CHANGEABLE:
            value, change = setting_of(schema, name), changes.get(name)
            counts = change is not None and change.value == value
            rows.append(
                SettingRow(
                    name,
                    value,
                    setting_of(self.declared, name),
                    change if counts else None,
                    waiting.get(name),
                )
            )
        return rows

    def get(self, name: str) -> SettingRow:
        """Return a setting."""
        return next(each for each in self.all() if each.name == _checked(name))

    def change(self, name: str, value: Any, person: str) -> SettingRow:
        """Let a setting have another value from now on.

        Where the desk wants a second person, one has to approve to end that, and to keep
        transactions for another time.

        Raises
        ------
        SettingError
            If the value cannot be, or the setting cannot be changed.
        """
        if value is None:
            raise SettingError(name, f"{name} needs a value.")
        return self._change(_checked(name), value, person)

    def reset(self, name: str, person: str) -> SettingRow:
        """Let a setting be again what desk.toml says."""
        return self._change(_checked(name), None, person)

    def _change(self, name: str, value: Any, person: str) -> SettingRow:
        check_name("person", person)
        with self._database.write() as writer:
            now, _ = read_settings(self.declared, writer)
            wanted = setting_of(self.declared, name) if value is None else value
            found = setting_of(with_setting(now, name, wanted), name)
            if name in _TAKES_TWO and self.requests.are_wanted(writer):
                if setting_of(now, name) != found:
                    content = {
                        "value": None if value is None else found,
                        "is": found,
                        "was": setting_of(now, name),
                    }
                    self.requests.ask(writer, "setting", name, content, person)
            else:
                self._store(writer, name, None if value is None else found, person, {})
        return self.get(name)

    def _approved(self, writer: Writer, request: ChangeRequest) -> None:
        value = request.content["value"]
        if value is not None:
            with_setting(read_settings(self.declared, writer)[0], request.subject, value)
        detail = {"change": request.id, "approved_by": request.answered_by}
        self._store(writer, request.subject, value, request.asked_by, detail)

    def _store(
        self, writer: Writer, name: str, value: Any, person: str, detail: dict[str, Any]
    ) -> None:
        before = read_settings(self.declared, writer)[0]
        last = last_changes(writer).get(name)
        if (None if last is None else last.value) == value:
            return
        add_change(writer, SettingChange(name, value, person, self._clock.now()))
        now, _ = read_settings(self.declared, writer)
        detail = {"was": setting_of(before, name), "is": setting_of(now, name)} | detail
        action = "reset setting" if value is None else "change setting"
        record_change(self._audit, writer, person, action, name, detail)


def _checked(name: str) -> str:
    if name not in CHANGEABLE:
        raise SettingError(
            name, f"{name[:60]!r} cannot be changed here; {', '.join(CHANGEABLE)} can."
        )
    return name

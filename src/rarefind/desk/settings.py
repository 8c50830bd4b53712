"""Settings that people change while a desk runs: which they are, and what counts by now.

``desk.toml`` is where they begin. A change is a row of the desk's own database, the last one of a
setting counts, and one without a value goes back to what ``desk.toml`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rarefind.desk.database import Database, Row, Writer, migrate
from rarefind.desk.schema import FILE, Schema

__all__ = [
    "CHANGEABLE",
    "SettingChange",
    "SettingError",
    "add_change",
    "last_changes",
    "make_tables",
    "read_setting",
    "read_settings",
    "retention_changed",
    "setting_of",
    "with_setting",
]

#: What can be changed without a restart, in the order in which it is shown.
CHANGEABLE: Final = (
    "alerts.budget",
    "alerts.per",
    "alerts.random_share",
    "alerts.lease",
    "alerts.expires",
    "alerts.second_person",
    "labels.delay",
    "retention.days",
    "limits.rate",
    "limits.requests",
)
_RETENTION = "retention.days"
_STEPS = (
    """
    CREATE TABLE setting_changes (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        value TEXT,
        person TEXT NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE INDEX setting_changes_by_name ON setting_changes (name, number)
    """,
)
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class SettingError(ValueError):
    """A setting that cannot be changed, or not to that; ``name`` says which."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A change of a setting.

    Attributes
    ----------
    name : str
        Such as ``alerts.budget``.
    value : object
        What it was changed to; None where it went back to what desk.toml says.
    person : str
        Who has changed it.
    at : int
        When.
    """

    name: str
    value: Any
    person: str
    at: int


def make_tables(database: Database) -> None:
    """Make the tables of settings, if they are not there."""
    migrate(database, "settings", _STEPS)


def setting_of(schema: Schema, name: str) -> Any:
    """Return the value that a setting has in a schema."""
    section, own = _parts(name)
    return getattr(getattr(schema, section), own)


def read_setting(name: str, text: str) -> Any:
    """Read the value of a setting as people type it: ``20``, ``5 %``, ``30min``, ``yes``.

    Raises
    ------
    SettingError
        If it is not such a value, or the setting cannot be changed.
    """
    kind, text = _kind(name), text.strip()
    if kind is str:
        return text
    if kind is bool:
        if text.lower() not in _TRUTHS:
            raise SettingError(name, f"{name} is yes or no, not {text!r}.")
        return _TRUTHS[text.lower()]
    plain = text.replace(",", ".") if kind is float else text
    try:
        if kind is float and plain.endswith("%"):
            return float(plain[:-1]) / 100
        return kind(plain)
    except ValueError:
        what = "a whole number" if kind is int else "a number, or one with %"
        raise SettingError(name, f"{name} is {what}, not {text!r}.") from None


def with_setting(schema: Schema, name: str, value: Any) -> Schema:
    """Return a schema in which a setting has another value, checked as desk.toml is.

    What features are computed by stays as it is: models were trained on it.

    Raises
    ------
    SettingError
        If the value cannot be, or the setting cannot be changed.
    """
    section, own = _parts(name)
    kind = _kind(name)
    try:
        known = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise SettingError(name, f"{name} is not {value!r}: {error}.") from None
    changed: dict[str, Any] = {own: known}
    if name == "labels.delay":
        changed["risk_delay"] = schema.labels.risk_delay or schema.labels.delay
    if name == _RETENTION:
        before = schema.retention.feature_days or schema.retention.days
        changed["feature_days"] = min(before, known)
    found = replace(schema, **{section: replace(getattr(schema, section), **changed)})
    try:
        found.check()
    except ValueError as error:
        raise SettingError(name, str(error).removeprefix(f"{FILE}: ")) from None
    return found


def last_changes(reader: Database | Writer) -> dict[str, SettingChange]:
    """Return the last change of each setting that was ever changed."""
    rows = reader.read(
        "SELECT name, value, person, at FROM setting_changes WHERE number IN "
        "(SELECT max(number) FROM setting_changes GROUP BY name) ORDER BY number"
    )
    return {row[0]: _as_change(row) for row in rows}


def add_change(writer: Writer, change: SettingChange) -> None:
    """Store a change in a transaction of the desk's database."""
    value = None if change.value is None else msgspec.json.encode(change.value).decode()
    writer.execute(
        "INSERT INTO setting_changes (name, value, person, at) "
        "VALUES (:name, :value, :person, :at)",
        name=change.name,
        value=value,
        person=change.person,
        at=change.at,
    )


def read_settings(declared: Schema, reader: Database | Writer) -> tuple[Schema, list[str]]:
    """Return what counts by now, and a sentence for each change that does not fit desk.toml.

    Parameters
    ----------
    declared : Schema
        What desk.toml says.
    reader : Database or Writer
        Of the desk's own database, after :func:`make_tables`.
    """
    schema, notes = _remembering(declared, reader), []
    for change in last_changes(reader).values():
        if change.value is None or change.name not in CHANGEABLE:
            continue
        try:
            schema = with_setting(schema, change.name, change.value)
        except SettingError as error:
            notes.append(
                f"{change.name} was changed to {change.value!r} by {change.person}, which does "
                f"not fit {FILE}, so that it counts as there: {error}"
            )
    return schema, notes


def retention_changed(reader: Database | Writer) -> int | None:
    """Return when transactions were last told to be kept shorter or longer; None for never.

    What is deleted then was seen when the transactions before were decided.
    """
    rows = reader.read("SELECT max(at) FROM setting_changes WHERE name = :name", name=_RETENTION)
    return None if rows[0][0] is None else int(rows[0][0])


def _remembering(declared: Schema, reader: Database | Writer) -> Schema:
    """The schema whose features see no farther back than was ever kept.

    What was deleted once does not come back when transactions are kept longer again; and a process
    that goes on must see the same as one that starts.
    """
    rows = reader.read(
        "SELECT DISTINCT value FROM setting_changes WHERE name = :name AND value IS NOT NULL",
        name=_RETENTION,
    )
    if not rows:
        return declared
    own = declared.retention
    most = own.feature_days or own.days
    least = min(most, *(int(msgspec.json.decode(row[0])) for row in rows))
    # An entity that was declared later may look back farther.
    least = min(most, max(least, declared.days_needed))
    return replace(declared, retention=replace(own, feature_days=least))


def _parts(name: str) -> tuple[str, str]:
    section, _, own = name.partition(".")
    return section, own


def _kind(name: str) -> Any:
    """The type of a setting that can be changed."""
    if name not in CHANGEABLE:
        raise SettingError(
            name, f"{name[:60]!r} cannot be changed here; {', '.join(CHANGEABLE)} can."
        )
    section, own = _parts(name)
    sections = {each.name: each.type for each in msgspec.structs.fields(Schema)}
    return {each.name: each.type for each in msgspec.structs.fields(sections[section])}[own]


def _as_change(row: Row) -> SettingChange:
    name, value, person, at = row
    return SettingChange(name, None if value is None else msgspec.json.decode(value), person, at)

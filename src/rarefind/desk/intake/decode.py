"""From the JSON of a request to transactions, and from a stored body to the same transaction."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple

from rarefind.desk.intake.refused import IntakeError, misfit, not_json
from rarefind.desk.records import Entry, Transaction, Value
from rarefind.desk.schema import Kind, Schema

_TYPES: dict[Kind, type] = {"text": str, "number": float, "boolean": bool, "time": datetime}
#: No amount has more minor units: the double nearest to it names it, and sums stay below 2^63.
LARGEST_AMOUNT = 10**15
#: Beyond this a double leaves out whole numbers.
LARGEST_NUMBER = float(2**53 - 1)
# The years that nanoseconds in 64 bits hold, whole.
_FIRST_YEAR, _LAST_YEAR = 1678, 2261
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Request(NamedTuple):
    """The transactions of a request, and whether they came as a list."""

    transactions: list[Transaction]
    is_batch: bool


class Intake:
    """Reads the transactions of one schema.

    Parameters
    ----------
    schema : Schema
        What a transaction is made of, and the limits on what is taken.

    Examples
    --------
    >>> from rarefind.desk import Schema
    >>> from rarefind.desk.intake import Intake
    >>> schema = Schema.from_text('''
    ... name = "cards"
    ... transaction = {id = "id", time = "time", amount = "amount"}
    ... entities = {card = {column = "card"}}
    ... alerts = {entity = "card"}
    ... ''')
    >>> body = b'{"id": "a1", "time": "2026-01-31T12:30:00Z", "amount": 12.5, "card": "c7"}'
    >>> request = Intake(schema).decode(body)
    >>> request.transactions[0].amount
    1250
    """

    def __init__(self, schema: Schema) -> None:
        own = schema.transaction
        self.schema = schema
        self._columns = schema.columns
        self._fields = [f"f{number}" for number in range(len(self._columns))]
        self._layout = list(zip(self._columns, self._columns.values(), self._fields, strict=True))
        self._struct = _struct(self._layout, own.columns)
        self._one = msgspec.json.Decoder(self._struct)
        self._many = msgspec.json.Decoder(list[self._struct])  # type: ignore[name-defined]
        self._encode = msgspec.json.Encoder().encode
        self._zone = UTC if own.time_zone == "UTC" else ZoneInfo(own.time_zone)
        self._scale = 10**own.minor_units
        self._entities = tuple(entity.column for entity in schema.entities.values())
        self._needed = frozenset(
            (own.id, *self._entities, *((own.outcome,) if own.outcome else ()))
        )
        self._optional = frozenset(own.columns)
        self._accepted = frozenset(own.accepted)
        self._features = schema.features.names

    def decode(self, body: bytes) -> Request:
        """Read a request: one transaction, or a list of them; it is taken or refused as a whole."""
        limits = self.schema.limits
        if len(body) > limits.body:
            raise IntakeError(
                "large", f"The body has {len(body):,} bytes; at most {limits.body:,} are taken."
            )
        is_batch = body.lstrip(b" \t\r\n")[:1] == b"["
        try:
            rows = self._many.decode(body) if is_batch else [self._one.decode(body)]
        except msgspec.ValidationError as error:
            raise misfit(error, self._columns) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise not_json(error) from None
        if len(rows) > limits.batch:
            raise IntakeError(
                "large",
                f"The list has {len(rows):,} transactions; at most {limits.batch:,} are taken.",
                "transactions",
            )
        if not rows:
            raise IntakeError("invalid", "The list is empty: send a transaction.", "transactions")
        # Without a backslash, quotes stand around keys and texts only, and a key that came twice
        # shows as quotes too many.
        expected = sum(map(self._quotes, rows))
        if b"\\" in body or body.count(b'"') != expected:
            _check_keys(body, is_batch)
        if not is_batch:
            return Request([self.transaction(rows[0])], False)
        return Request(
            [self.transaction(row, f"transactions[{i}]") for i, row in enumerate(rows)], True
        )

    def stored(self, body: bytes) -> Transaction:
        """Read the ``body`` of a transaction again, whatever the limits are by now."""
        return self._transaction(self._one.decode(body), "", None)

    def record(self, entry: Entry) -> dict[str, Value]:
        """What rules and models saw of a stored transaction: its features and its columns."""
        features = np.frombuffer(entry.features, dtype="<f8").tolist()
        found: dict[str, Value] = dict(zip(self._features, features, strict=True))
        return found | self.stored(entry.body).values

    def transaction(self, row: Any, where: str = "") -> Transaction:
        """Check a row of values, one a column of the schema; see :meth:`row`."""
        return self._transaction(row, where, self.schema.limits.text)

    def row(self, values: list[Any]) -> Any:
        """Make a row of values in the order of the schema's columns; None is missing."""
        return self._struct(*values)

    def _quotes(self, row: Any) -> int:
        found = 0
        for (_, kind, _), value in zip(self._layout, astuple(row), strict=True):
            if value is not UNSET:
                found += 4 if value is not None and kind in ("text", "time") else 2
        return found

    def _transaction(self, row: Any, where: str, longest: int | None) -> Transaction:
        """Check a row, and write it in the one way that it is stored in."""
        values: dict[str, Value] = {}
        for (name, kind, field), value in zip(self._layout, astuple(row), strict=True):
            if value is UNSET:
                value = None
            elif value is None:
                if name not in self._optional:
                    raise _refused(where, name, "is missing: send it")
                setattr(row, field, UNSET)
            elif kind == "text":
                if longest is not None and len(value) > longest:
                    raise _refused(
                        where, name, f"has {len(value):,} characters; at most {longest:,} are taken"
                    )
                if not value.isprintable():
                    _check_characters(value, where, name)
                if not value and name in self._needed:
                    raise _refused(where, name, "is empty: send what it is")
            elif kind == "number":
                if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
                    raise _refused(where, name, _too_large(value))
                if value == 0:  # -0 is 0
                    value = 0.0
                    setattr(row, field, value)
            elif kind == "time":
                value = self._instant(value, where, name)
                setattr(row, field, value)
            values[name] = value
        return self._finished(row, values, where)

    def _finished(self, row: Any, values: dict[str, Any], where: str) -> Transaction:
        own = self.schema.transaction
        amount = round(values[own.amount] * self._scale)
        if amount / self._scale != values[own.amount]:
            digits = "1 digit" if own.minor_units == 1 else f"{own.minor_units} digits"
            raise _refused(where, own.amount, f"has more than {digits} after the decimal point")
        if abs(amount) > LARGEST_AMOUNT:
            raise _refused(where, own.amount, _too_large(values[own.amount]))
        instant = values[own.time]
        body = self._encode(row)
        if self._zone is not UTC:
            for name, kind in self._columns.items():
                if kind == "time" and values[name] is not None:
                    values[name] = values[name].astimezone(self._zone)
        return Transaction(
            values[own.id],
            (instant - _EPOCH) // _MICROSECOND * 1_000,
            amount,
            tuple([values[name] for name in self._entities]),
            values,
            own.outcome is None or values[own.outcome] in self._accepted,
            body,
        )

    def _instant(self, time: datetime, where: str, name: str) -> datetime:
        """A time in UTC; one without a zone is by the clock of the desk's."""
        if _FIRST_YEAR <= time.year <= _LAST_YEAR:
            if time.tzinfo is None:
                time = time.replace(tzinfo=self._zone)
            time = time.astimezone(UTC)
            if _FIRST_YEAR <= time.year <= _LAST_YEAR:
                return time
        raise _refused(
            where,
            name,
            f"is in the year {time.year}; years from {_FIRST_YEAR} to {_LAST_YEAR} are taken",
        )


def _struct(layout: list[tuple[str, Kind, str]], optional: dict[str, Kind]) -> type[msgspec.Struct]:
    """A type with a field a column; what may be missing is unset by default."""
    fields: list[Any] = []
    for name, kind, field in layout:
        if name in optional:
            kinds = _TYPES[kind] | None | UnsetType
            fields.append((field, kinds, msgspec.field(name=name, default=UNSET)))
        else:
            fields.append((field, _TYPES[kind], msgspec.field(name=name)))
    return msgspec.defstruct("SentTransaction", fields, forbid_unknown_fields=True)


def _check_keys(body: bytes, is_batch: bool) -> None:
    """Refuse an object that has a key twice: readers differ in which of the two they take."""

    objects = count()

    def check(pairs: list[tuple[str, Any]]) -> None:
        number = next(objects)
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            where = f"transactions[{number}]" if is_batch else ""
            raise _refused(where, twice, "was sent twice: send it once")

    json.loads(body, object_pairs_hook=check, parse_int=str, parse_float=str)


def _check_characters(text: str, where: str, name: str) -> None:
    for place, character in enumerate(text, start=1):
        if unicodedata.category(character) in ("Cc", "Cs"):
            shown = f"U+{ord(character):04X}"
            raise _refused(
                where, name, f"has the control character {shown} as character {place}: leave it out"
            )


def _too_large(value: float) -> str:
    return f"is {value:.6g}, which is too large to be kept exactly"


def _refused(where: str, name: str, what: str) -> IntakeError:
    return IntakeError(
        "invalid", f"The column {name!r} {what}.", f"{where}.{name}" if where else name
    )

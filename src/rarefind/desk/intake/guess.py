"""A schema proposed from a table of transactions, for a person to read and correct."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rarefind.data.decode import kind_of, numbers
from rarefind.desk.schema import (
    AlertSchema,
    EntitySchema,
    Kind,
    Schema,
    TransactionSchema,
)

# Words that names of columns are made of, the surest first.
_ID = ("transaction", "tx", "trx", "trans", "payment", "id", "uuid", "reference", "number")
_TIME = ("time", "timestamp", "datetime", "date", "at", "when")
_AMOUNT = ("amount", "amt", "sum", "value", "total", "price", "betrag", "montant")
_PAYER = ("card", "account", "customer", "client", "payer", "user", "holder", "iban", "policy")
_PAID = ("terminal", "merchant", "payee", "shop", "device", "seller", "beneficiary", "provider")
# With a word like "country" behind it, the card is not meant, but something of it.
_KEY = ("id", "number", "no", "nr", "key", "hash", "token", "tx", "trx", "code", "name")
_LABEL = ("fraud", "label", "target", "class")
_LATER = ("claim", "claimed", "chargeback", "verdict")
_OUTCOME = ("outcome", "checked", "response", "authorisation", "authorization", "status", "result")
_ACCEPTED = ("accepted", "accept", "approved", "authorised", "authorized", "ok", "success", "yes")
_PLACE = ("country",)
_KINDS: dict[str, Kind] = {
    "number": "number",
    "boolean": "boolean",
    "date": "time",
    "text": "text",
}
_MOST_DIGITS = 6


class Guess(NamedTuple):
    """A schema, and what a person should know of how it was found."""

    schema: Schema
    notes: tuple[str, ...]


def guess_schema(
    table: pd.DataFrame,
    name: str = "desk",
    *,
    id: str | None = None,
    time: str | None = None,
    amount: str | None = None,
    entities: Sequence[str] | None = None,
    target: str | None = None,
    budget: int | None = None,
    time_zone: str | None = None,
) -> Guess:
    """Propose the schema of a desk from some of its transactions.

    Parameters
    ----------
    table : DataFrame
        Transactions, as :func:`rarefind.data.read_table` gives them.
    name : str, default="desk"
        The name of the desk.
    id, time, amount : str, default=None
        The columns with the identifier, the time and the amount; by default they are found by
        their names and values.
    entities : sequence of str, default=None
        The columns of who pays and is paid; the first is the one that is checked.
    target : str, default=None
        A column with labels, which is not part of a transaction.
    budget : int, default=None
        Checks a day; by default that of :class:`rarefind.desk.Schema`.
    time_zone : str, default=None
        Of times that are written without one; by default UTC.

    Returns
    -------
    Guess
        The schema, and notes on what was left out and why.
    """
    for given in (id, time, amount, target, *(entities or ())):
        if given is not None and given not in table:
            raise ValueError(f"The table has no column {given!r}.")
    columns = _ColumnCandidates(table, target)
    found_time = time or columns.find_time()
    payer_paid = list(entities) if entities is not None else columns.find_entities(found_time)
    found_amount = amount or columns.find_amount(payer_paid)
    found_id = id or columns.find_id([found_time, found_amount, *payer_paid])
    if not payer_paid:
        raise ValueError(
            "No column says who pays, such as a card or an account: name it as an entity."
        )
    own = [found_id, found_time, found_amount, *payer_paid]
    outcome, accepted = columns.find_outcome(own)
    extra = columns.extra([*own, *([outcome] if outcome else [])])
    return Guess(
        _schema(name, columns, own, outcome, accepted, extra, budget, time_zone),
        tuple(columns.notes),
    )


class _ColumnCandidates:
    """The columns of a table, and how well they fit a role."""

    def __init__(self, table: pd.DataFrame, target: str | None) -> None:
        self.table = table
        self.notes: list[str] = []
        self.kinds = {str(c): kind_of(table[c]) for c in table.columns if c != target}
        for column in list(self.kinds):
            if target is None and _rank(column, _LABEL) is not None and self._is_label(column):
                del self.kinds[column]
                self.notes.append(f"{column!r} looks like a label and is left out.")
            elif _rank(column, _LATER) is not None:
                del self.kinds[column]
                self.notes.append(f"{column!r} is known later only and is left out.")
            elif table[column].isna().all():
                del self.kinds[column]
                self.notes.append(f"{column!r} has no values and is left out.")

    def _is_label(self, column: str) -> bool:
        few = self.table[column].nunique() <= 10
        return bool(few and self.kinds[column] in ("number", "boolean", "text"))

    def find_time(self) -> str:
        found = self._best(_TIME, [c for c, kind in self.kinds.items() if kind == "date"])
        if found is None:
            raise ValueError("No column has times of transactions: name the one that has.")
        return found

    def find_entities(self, time: str) -> list[str]:
        keys = [c for c, kind in self.kinds.items() if c != time and self._is_key(c, kind)]
        repeated = [c for c in keys if self.table[c].nunique() < 0.95 * len(self.table)]
        repeated = [c for c in repeated if set(_words(c)) <= {*_PAYER, *_PAID, *_KEY}]
        payer = self._best(_PAYER, repeated, named=True)
        paid = self._best(_PAID, [c for c in repeated if c != payer], named=True)
        return [column for column in (payer, paid) if column is not None]

    def find_amount(self, taken: Sequence[str]) -> str:
        some = [c for c, kind in self.kinds.items() if kind == "number" and c not in taken]
        found = self._best(_AMOUNT, some, named=True)
        if found is None:
            fractions = [c for c in some if not self._is_whole(c)]
            found = fractions[0] if len(fractions) == 1 else None
        if found is None:
            raise ValueError("No column is known by its name as the amount: name it.")
        return found

    def find_id(self, taken: Sequence[str]) -> str:
        unique = [
            c
            for c, kind in self.kinds.items()
            if c not in taken and self._is_key(c, kind) and self.table[c].is_unique
        ]
        found = self._best(_ID, [c for c in unique if not self.table[c].isna().any()])
        if found is None:
            raise ValueError(
                "No column has another value in each row, as an identifier has: add one, "
                "or name the one that identifies a transaction."
            )
        return found

    def find_outcome(self, taken: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
        """The column of the terminal's own check, and its words for accepted."""
        for column, kind in self.kinds.items():
            if column in taken or kind != "text" or _rank(column, _OUTCOME) is None:
                continue
            words = [str(word) for word in self.table[column].dropna().unique()[:50]]
            accepted = tuple(word for word in words if word.casefold() in _ACCEPTED)
            if accepted and not self.table[column].isna().any():
                return column, accepted
        return None, ()

    def extra(self, taken: Sequence[str]) -> dict[str, Kind]:
        return {c: _KINDS[kind] for c, kind in self.kinds.items() if c not in taken}

    def minor_units(self, amount: str) -> int:
        """The digits after the decimal point that amounts have, at least 2 unless all are whole."""
        values = numbers(self.table[amount], None)
        values = values[~np.isnan(values)]
        for digits in (0, 2, 3, 4, 5, 6):
            scale = 10**digits
            if bool((np.round(values * scale) / scale == values).all()):
                return digits
        self.notes.append(
            f"{amount!r} has more than {_MOST_DIGITS} digits after the decimal point: such amounts "
            "are refused. Round them."
        )
        return _MOST_DIGITS

    def _best(self, words: Sequence[str], columns: list[str], named: bool = False) -> str | None:
        """The column whose name has the surest word; any of them if none has, unless ``named``."""
        ranked = sorted(
            (rank, i) for i, c in enumerate(columns) if (rank := _rank(c, words)) is not None
        )
        if ranked:
            return columns[ranked[0][1]]
        return columns[0] if columns and not named else None

    def _is_key(self, column: str, kind: str) -> bool:
        return kind == "text" or (kind == "number" and self._is_whole(column))

    def _is_whole(self, column: str) -> bool:
        values = numbers(self.table[column], None)
        return bool((np.isnan(values) | (values == np.round(values))).all())


def _schema(
    name: str,
    columns: _ColumnCandidates,
    own: Sequence[str],
    outcome: str | None,
    accepted: tuple[str, ...],
    extra: dict[str, Kind],
    budget: int | None,
    time_zone: str | None,
) -> Schema:
    id, time, amount, payer, *paid = own
    countries = [c for c, kind in extra.items() if kind == "text" and _rank(c, _PLACE) == 0]
    entities = {_entity(payer): EntitySchema(payer, distinct=(*paid, *countries[:1]))}
    for column in paid:
        entities[_entity(column)] = EntitySchema(column, risk=True)
    transaction: dict[str, Any] = {} if outcome is None else {"accepted": accepted}
    transaction |= {} if time_zone is None else {"time_zone": time_zone}
    alerts: dict[str, Any] = {} if budget is None else {"budget": budget}
    schema = Schema(
        name,
        TransactionSchema(
            *(id, time, amount),
            minor_units=columns.minor_units(amount),
            outcome=outcome,
            columns=extra,
            **transaction,
        ),
        entities,
        AlertSchema(_entity(payer), **alerts),
    )
    return Schema.from_text(schema.to_text())  # checked


def _words(name: str) -> list[str]:
    """The words of a name: ``TX_DATETIME``, ``cardId`` and ``card id``."""
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word.casefold() for word in re.split(r"[\W_]+", apart) if word]


def _rank(name: str, words: Sequence[str]) -> int | None:
    """The place of the surest word that a name has."""
    own = _words(name)
    return next((place for place, word in enumerate(words) if word in own), None)


def _entity(column: str) -> str:
    """A plain name for an entity: ``card`` for ``card_id``."""
    own = _words(column)
    known = next((word for word in own if word in _PAYER + _PAID), "")
    plain = known or re.sub(r"\W", "_", "_".join(own))
    return plain if plain.isidentifier() else f"entity_{plain}"

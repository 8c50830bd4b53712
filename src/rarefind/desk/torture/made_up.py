"""Transactions for any schema, made up: what they say does not matter, only that they are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np

from rarefind.desk.intake.decode import LARGEST_AMOUNT
from rarefind.desk.schema import Kind, Schema

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS = ("FR", "DE", "IT", "ES", "PL", "NL", "BE", "AT", "PT", "US")
#: So many are drawn at a time.
_PIECE = 4_096


class MadeUpTransactions:
    """Makes transactions that a desk of this schema takes, each with another identifier.

    Parameters
    ----------
    schema : Schema
    keys : int
        How many different ones there are of each entity.
    seed : int
        Of what is drawn; it begins the identifiers, too.
    """

    def __init__(self, schema: Schema, *, keys: int = 10_000, seed: int = 0) -> None:
        self._schema, self._keys, self._seed = schema, keys, seed
        self._encode = msgspec.json.Encoder().encode

    def bodies(self, times: Iterable[int]) -> Iterator[bytes]:
        """Give a transaction of each time, in nanoseconds since 1970, as JSON."""
        rows: list[tuple[Any, ...]] = []
        for number, time in enumerate(times):
            if number % _PIECE == 0:
                rows = list(zip(*self._columns(number // _PIECE), strict=True))
            yield self._encode(self._body(number, time, rows[number % _PIECE]))

    def _body(self, number: int, time: int, row: tuple[Any, ...]) -> dict[str, Any]:
        own, made = self._schema.transaction, dict(zip(self._schema.columns, row, strict=True))
        instant = _EPOCH + timedelta(microseconds=time // 1_000)
        made[own.id] = f"{self._seed}-{number}"
        return {
            name: instant if kind == "time" else made[name]
            for name, kind in self._schema.columns.items()
        }

    def _columns(self, piece: int) -> list[list[Any]]:
        rng = np.random.default_rng((self._seed, piece))
        own = self._schema.transaction
        entities = {each.column: name for name, each in self._schema.entities.items()}
        found = []
        for name, kind in self._schema.columns.items():
            if name in entities:
                keys = rng.integers(self._keys, size=_PIECE)
                found.append([f"{entities[name]}-{key}" for key in keys.tolist()])
            elif name == own.amount:
                minor = np.minimum(rng.lognormal(7.5, 1.2, _PIECE), LARGEST_AMOUNT).astype(int)
                found.append((minor / 10**own.minor_units).tolist())
            elif name == own.outcome:
                other = "declined" if "declined" not in own.accepted else "not accepted"
                declined = rng.random(_PIECE) < 0.02
                found.append([other if each else own.accepted[0] for each in declined.tolist()])
            else:
                found.append(_values(kind, rng))
        return found


def _values(kind: Kind, rng: np.random.Generator) -> list[Any]:
    if kind == "text":
        return [_TEXTS[each] for each in rng.integers(len(_TEXTS), size=_PIECE).tolist()]
    if kind == "boolean":
        return [bool(each) for each in rng.random(_PIECE) < 0.3]
    return [float(each) for each in rng.integers(1, 5_000, size=_PIECE)]

"""Confirmed frauds that look like a transaction, by the features that were stored of both."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rarefind._core.types import Floats
from rarefind.desk.alerts import Case, Cases
from rarefind.desk.database import Database
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry
from rarefind.desk.schema import Schema

__all__ = ["ConfirmedFrauds", "SimilarFraud"]

#: So many of the last confirmed frauds are compared.
_MOST = 300
#: In standard deviations: what is farther is not similar, and what is nearer is the same.
_FAR, _NEAR = 1.5, 0.5
#: Where only one of two values is missing, they are so far apart.
_MISSING = 1.5
#: How much of the distance goes by the reason, where there is one; the rest by all features.
_BY_REASON = 0.75


@dataclass(frozen=True, slots=True)
class SimilarFraud:
    """A confirmed fraud, how far away it is, and what both have in common.

    ``distance`` is in standard deviations of the confirmed frauds; ``alike`` are features with
    their values in the confirmed one.
    """

    case: Case
    transaction: str
    amount: int
    time: int
    distance: float
    alike: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Known:
    """The last confirmed frauds as rows of standardised features."""

    version: tuple[int, int]
    cases: list[Case]
    entries: list[Entry]
    raw: Floats
    mean: Floats
    scale: Floats
    rows: Floats


class ConfirmedFrauds:
    """Finds the confirmed frauds that are nearest to a transaction.

    The features of the last few hundred are kept, and read again after each verdict or erasure.

    Parameters
    ----------
    database : Database
        That of the desk.
    cases : Cases
    ledger : Ledger
        Opened to be read.
    schema : Schema
    """

    def __init__(self, database: Database, cases: Cases, ledger: Ledger, schema: Schema) -> None:
        self._database, self._cases, self._ledger = database, cases, ledger
        self._names = schema.features.names
        self._known: _Known | None = None
        self._lock = threading.Lock()

    def nearest(
        self, entry: Entry, shares: Mapping[str, float], count: int = 3
    ) -> list[SimilarFraud]:
        """Return the nearest confirmed frauds, the nearest first; none where none is near.

        Parameters
        ----------
        entry : Entry
            The transaction.
        shares : mapping of str to float
            Features of its reason, by their share: they count most.
        count : int
        """
        with self._lock:
            known = self._read()
        if not known.cases or len(entry.features) != 8 * len(self._names):
            return []
        own = (_tamed(_values(entry)) - known.mean) / known.scale
        apart = np.abs(known.rows - own)
        apart[np.isnan(known.rows) & np.isnan(own)] = 0.0
        apart[np.isnan(apart)] = _MISSING
        weight = self._weights(shares)
        distance = np.sqrt(np.square(apart) @ weight)
        found: list[SimilarFraud] = []
        for place in np.argsort(distance, kind="stable").tolist():
            if len(found) == count or distance[place] > _FAR:
                break
            other = known.entries[place]
            if other.id == entry.id:
                continue
            # By share of the reason first, then by how near.
            order = sorted(
                range(len(self._names)),
                key=lambda at: (-shares.get(self._names[at], 0.0), apart[place, at]),
            )
            alike = [at for at in order if apart[place, at] <= _NEAR][:3]
            found.append(
                SimilarFraud(
                    known.cases[place],
                    other.id,
                    other.amount,
                    other.time,
                    float(distance[place]),
                    {self._names[at]: float(known.raw[place, at]) for at in alike},
                )
            )
        return found

    def _weights(self, shares: Mapping[str, float]) -> Floats:
        by_reason = np.array([max(shares.get(name, 0.0), 0.0) for name in self._names])
        even = np.full(len(self._names), 1 / len(self._names))
        if not by_reason.sum():
            return even
        return _BY_REASON * by_reason / by_reason.sum() + (1 - _BY_REASON) * even

    def _read(self) -> _Known:
        ((last,),) = self._database.read("SELECT max(id) FROM verdicts")
        version = (int(last or 0), self._ledger.erasures)
        if self._known is None or self._known.version != version:
            self._known = self._read_again(version)
        return self._known

    def _read_again(self, version: tuple[int, int]) -> _Known:
        lines = self._cases.lines(self._cases.last_found("fraud", _MOST))
        ids = [line.best.transaction for line in lines if line.best is not None]
        entries = self._ledger.find(ids) if ids else {}
        size = 8 * len(self._names)
        kept = [
            (line.case, entries[line.best.transaction])
            for line in lines
            if line.best is not None
            and line.best.transaction in entries
            and len(entries[line.best.transaction].features) == size
        ]
        raw = np.array([_values(entry) for _, entry in kept]).reshape(len(kept), len(self._names))
        tamed = _tamed(raw)
        there = ~np.isnan(tamed)
        counts = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, tamed, 0.0).sum(axis=0) / counts
        spread = np.where(there, tamed - mean, 0.0)
        scale = np.sqrt(np.square(spread).sum(axis=0) / counts)
        scale[scale < 1e-9] = 1.0
        cases, found = [case for case, _ in kept], [entry for _, entry in kept]
        return _Known(version, cases, found, raw, mean, scale, (tamed - mean) / scale)


def _values(entry: Entry) -> Floats:
    return np.frombuffer(entry.features, dtype="<f8")


def _tamed(values: Floats) -> Floats:
    """Amounts and counts are skewed: their logarithm, with the sign, is not."""
    return np.sign(values) * np.log1p(np.abs(values))

"""Verdicts given while a desk is killed, and whether its ledger has each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from rarefind.desk.clock import DeskClock
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import LabelEntry

_PIECE = 1_000


class Verdicts:
    """Labels in the database of a desk, as its web process writes them.

    Parameters
    ----------
    folder : DeskFolder
        Of a desk that may be running and may be killed.
    """

    def __init__(self, folder: DeskFolder) -> None:
        self._folder = folder
        self._database = folder.open_desk()
        self._labels = LabelHistory(self._database, folder.schema, DeskClock())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.close()

    def give(self, ids: Sequence[str], *, fraud: bool) -> None:
        """Find that transactions are fraud, or that they are not."""
        with self._database.write() as writer:
            self._labels.add(writer, ids, "fraud" if fraud else "genuine", "verdict")

    def missing(self, ledger: Ledger) -> int:
        """How many verdicts the ledger does not have once each and in their order."""
        given, after = [], 0
        while labels := self._labels.after(after, _PIECE):
            given += [(label.transaction, label.fraud, label.source) for label in labels]
            after = labels[-1].number
        stored = [(row.id, row.fraud, row.source) for row in _labels_of(ledger)]
        same = sum(one == other for one, other in zip(given, stored, strict=False))
        return max(len(given), len(stored)) - same


def _labels_of(ledger: Ledger) -> list[LabelEntry]:
    found, after = [], 0
    while rows := ledger.read(after, _PIECE):
        found += [row for row in rows if isinstance(row, LabelEntry)]
        after = rows[-1].sequence
    return found

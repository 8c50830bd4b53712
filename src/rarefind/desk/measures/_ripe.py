"""Which labels are ripe, for as many transactions as there are: what everything is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rarefind._core.types import Array, Bools, Ints
from rarefind.desk.labels import LabelHistory

__all__ = ["SOURCES", "RipeColumns", "RipeLabels"]

#: Where a label is from, by its code in :attr:`RipeColumns.source`.
SOURCES = ("not ripe", "silence", "verdict", "claim", "correction")
_BATCH = 10_000


@dataclass(frozen=True)
class RipeColumns:
    """What is known by now of transactions, one entry each.

    Attributes
    ----------
    fraud : array of bool
        Ripe, and fraud.
    is_ripe : array of bool
    source : array of int8
        Where the label is from: a place in ``SOURCES``.
    """

    fraud: Bools
    is_ripe: Bools
    source: Array

    @property
    def genuine(self) -> Bools:
        """Ripe, and not fraud."""
        return self.is_ripe & ~self.fraud

    @property
    def not_ripe(self) -> int:
        """How many are not ripe yet: they are neither hits nor false alerts."""
        return int(self.is_ripe.size - np.count_nonzero(self.is_ripe))


class RipeLabels:
    """The one definition of a ripe label, as columns.

    A verdict counts at once, a claim when it is confirmed, silence after ``labels.delay``; a later
    label of a transaction replaces an earlier one, and one that was taken back leaves silence. It
    says the same as :meth:`LabelHistory.ripe`, which it reads from.

    Parameters
    ----------
    labels : LabelHistory
        Each of its labels is read once.
    """

    def __init__(self, labels: LabelHistory) -> None:
        self._labels = labels
        self._last = 0
        self._codes: dict[str, int] = {}

    @property
    def last(self) -> int:
        """The number of the last label that was read."""
        return self._last

    def refresh(self) -> bool:
        """Read the labels that were given since; True if there were any."""
        before = self._last
        while found := self._labels.after(self._last, _BATCH):
            for label in found:
                if label.fraud is None:
                    self._codes.pop(label.transaction, None)
                else:
                    code = SOURCES.index(label.source)
                    self._codes[label.transaction] = -code if label.fraud else code
            self._last = found[-1].number
        return self._last != before

    def given(self, ids: pl.Series | Sequence[str]) -> Array:
        """Return the label that each transaction was given: a place in ``SOURCES``, below 0 for
        fraud; 0 where there is none.
        """
        known = pl.DataFrame(
            {"id": list(self._codes), "code": list(self._codes.values())},
            schema={"id": pl.String, "code": pl.Int8},
        )
        wanted = pl.DataFrame({"id": ids}, schema={"id": pl.String})
        found = wanted.join(known, on="id", how="left", maintain_order="left")
        return found["code"].fill_null(0).to_numpy()

    def ripe(self, given: Array, time: Ints) -> RipeColumns:
        """Return what is known by now of transactions, from ``given`` and their own times."""
        silent = np.asarray(time) <= self._labels.silent_before
        source = np.where(given != 0, np.abs(given), silent.astype(np.int8)).astype(np.int8)
        return RipeColumns(given < 0, source > 0, source)

    def of(self, ids: pl.Series | Sequence[str], time: Ints) -> RipeColumns:
        """Return what is known by now of transactions, by their ids and their own times."""
        self.refresh()
        return self.ripe(self.given(ids), time)

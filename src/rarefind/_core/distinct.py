"""Which rows of a table are copies of each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel, read_only
from rarefind._core.pairs import embed
from rarefind._core.types import Floats, Ints

__all__ = ["DistinctPoints"]


class DistinctPoints(NamedTuple):
    """The different rows of a table, numbered in the order in which they first appear."""

    first: Ints  # (m,) the first row of each kind
    kind: Ints  # (n,) the kind of each row
    members: Ints  # (n,) the rows, kind after kind
    starts: Ints  # (m + 1,) where each kind begins among them

    @classmethod
    def of(cls, rows: Floats) -> DistinctPoints | None:
        """Find the copies; None where there are none."""
        first = _first_copies(rows)
        if first is None:
            return None
        firsts, kind = np.unique(first, return_inverse=True)
        members = np.argsort(kind, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(kind)))
        return cls(firsts, kind, members, starts)

    @property
    def multiplicity(self) -> Ints:
        """How many rows there are of each kind."""
        return np.diff(self.starts)

    def spread(
        self, found: Floats, at: Ints, k: int, exclude: Ints | None
    ) -> tuple[Floats, Ints, Ints]:
        """From the nearest kinds of rows to the k nearest rows, and how many are at distance 0.

        The row numbered in ``exclude`` (-1 for none) is left out.
        """
        own = np.full(len(found), -1, dtype=np.intp) if exclude is None else exclude
        arrays = (found, at, own, self.kind, self.members, self.starts)
        return _spread(k, *map(read_only, arrays))


def _first_copies(rows: Floats) -> Ints | None:
    """For each row the first that equals it; None where all differ."""
    n, d = rows.shape
    if n < 2:
        return None
    # Equal rows have equal sums, and almost no others do.
    rows = rows + 0.0  # -0.0 and 0.0 are one value
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=(1, d))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = embed(rows, weights)[:, 0]
    order = np.argsort(sums, kind="stable")
    same = sums[order[1:]] == sums[order[:-1]]
    # Sums of rows with huge values may be infinite or no number.
    same |= ~np.isfinite(sums[order[1:]])
    if not same.any():
        return None
    suspect = np.zeros(n, dtype=bool)
    suspect[order[1:][same]] = suspect[order[:-1][same]] = True
    asked = np.flatnonzero(suspect)
    _, at, kind = np.unique(rows[asked], axis=0, return_index=True, return_inverse=True)
    if at.size == asked.size:
        return None
    first = np.arange(n)
    first[asked] = asked[at][kind.ravel()]
    return first


@kernel
def _spread(
    k: int, found: Floats, at: Ints, own: Ints, kind: Ints, members: Ints, starts: Ints
) -> tuple[Floats, Ints, Ints]:
    n = found.shape[0]
    distances = np.full((n, k), np.inf)
    index = np.full((n, k), -1, dtype=np.intp)
    here = np.zeros(n, dtype=np.intp)
    for i in range(n):
        filled = 0
        for j in range(found.shape[1]):
            if at[i, j] < 0:
                break
            start, stop = starts[at[i, j]], starts[at[i, j] + 1]
            if found[i, j] == 0:
                here[i] += stop - start - (own[i] >= 0 and kind[own[i]] == at[i, j])
            for m in range(start, stop):
                if filled == k:
                    break
                if members[m] != own[i]:
                    distances[i, filled], index[i, filled] = found[i, j], members[m]
                    filled += 1
    return distances, index, here

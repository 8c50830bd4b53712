"""Whether a ledger is as it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from operator import attrgetter
from typing import NamedTuple

from rarefind.desk.database import Database, Row
from rarefind.desk.ledger import _tables as tables
from rarefind.desk.ledger.chain import (
    START,
    Position,
    chain_of_entry,
    chain_of_label,
    personal_digest,
)

__all__ = ["Verification", "read_anchor", "verify"]

_BATCH = 2_000
#: So many places are named; more would not help.
_NAMED = 100


@dataclass(frozen=True)
class Verification:
    """What was found in a ledger.

    Attributes
    ----------
    transactions, labels : int
        How many rows there are.
    erased : int
        Of how many transactions the personal part was erased.
    first : int
        The sequence after the last row that was deleted by retention.
    last : Position
        Write it down elsewhere: a ledger that was cut off or written anew does not have it.
    broken : dict of int to str
        What is wrong, by sequence; empty if the ledger is whole. At most 100 places are named.
    """

    transactions: int
    labels: int
    erased: int
    first: int
    last: Position
    broken: dict[int, str]

    @property
    def is_whole(self) -> bool:
        """Whether nothing was changed, removed or moved."""
        return not self.broken

    def __str__(self) -> str:
        if self.broken:
            found = "; ".join(f"row {sequence} {what}" for sequence, what in self.broken.items())
            return f"The ledger was changed: {found}."
        return (
            f"{self.transactions:,} transactions and {self.labels:,} labels are as they were "
            f"written; {self.erased:,} of them are erased. The last row is {self.last}."
        )


def read_anchor(database: Database) -> Position:
    """Return the last row that retention has deleted."""
    rows = database.read("SELECT sequence, chain FROM anchors ORDER BY sequence DESC LIMIT 1")
    return Position(rows[0][0], bytes(rows[0][1])) if rows else Position(0, START)


def verify(database: Database, last: Position, expected: Position | None = None) -> Verification:
    """Compute the chain of all rows up to the last one again."""
    anchor = read_anchor(database)
    walk = _ChainWalk(anchor, expected)
    recorded = {number for (number,) in database.read("SELECT number FROM erasures")}
    entries = _pages(database, _ENTRIES, anchor, last, lambda row: _entry(row, recorded))
    labels = _pages(database, _LABELS, anchor, last, _label)
    for link in merge(entries, labels, key=attrgetter("sequence")):
        walk.add(link)
        if len(walk.broken) >= _NAMED:
            break
    else:
        walk.end()
    return Verification(
        transactions=walk.transactions,
        labels=walk.labels,
        erased=walk.erased,
        first=anchor.sequence + 1,
        last=walk.before,
        broken=walk.broken,
    )


class _ChainLink(NamedTuple):
    """A row as a link of the chain."""

    sequence: int
    chain: bytes
    is_label: bool
    is_erased: bool
    #: What the chain should be, from the chain before; None where an erasure is not recorded.
    follow: Callable[[bytes], bytes] | None


@dataclass
class _ChainWalk:
    """What was seen so far on the way along the chain."""

    before: Position
    expected: Position | None
    transactions: int = 0
    labels: int = 0
    erased: int = 0
    broken: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.expected is not None and self.expected.sequence == self.before.sequence:
            self._compare(self.before)

    def add(self, link: _ChainLink) -> None:
        after = self.before.sequence + 1
        if link.sequence > after:
            self._miss(after, link.sequence - 1)
        elif link.follow is None:
            self.broken[link.sequence] = "was erased, and no erasure is recorded"
        elif link.follow(self.before.chain) != link.chain:
            self.broken[link.sequence] = "does not fit its digest"
        self.labels += link.is_label
        self.transactions += not link.is_label
        self.erased += link.is_erased
        self.before = Position(link.sequence, link.chain)
        if self.expected is not None and self.expected.sequence == link.sequence:
            self._compare(self.before)

    def end(self) -> None:
        """Look whether rows are missing at the end."""
        if self.expected is not None and self.expected.sequence > self.before.sequence:
            self._miss(self.before.sequence + 1, self.expected.sequence)

    def _compare(self, found: Position) -> None:
        if found != self.expected:
            self.broken[found.sequence] = "is not the one that was written down"

    def _miss(self, first: int, last: int) -> None:
        rest = "" if first == last else f", and all up to {last}"
        self.broken[first] = f"is missing{rest}"


_ENTRIES = f"""
SELECT {tables.ENTRY}, salt, personal, erasure, chain FROM entries
WHERE sequence > :after AND sequence <= :last ORDER BY sequence LIMIT :limit
"""
_LABELS = f"""
SELECT {tables.LABEL}, chain FROM labels
WHERE sequence > :after AND sequence <= :last ORDER BY sequence LIMIT :limit
"""


def _pages(
    database: Database,
    sql: str,
    anchor: Position,
    last: Position,
    to_link: Callable[[Row], _ChainLink],
) -> Iterator[_ChainLink]:
    """Read the rows of a table in order, some at a time."""
    after = anchor.sequence
    while rows := database.read(sql, after=after, last=last.sequence, limit=_BATCH):
        yield from map(to_link, rows)
        after = rows[-1][0]


def _entry(row: Row, recorded: set[int]) -> _ChainLink:
    *own, salt, personal, erasure, chain = row
    if erasure is not None and erasure not in recorded:
        return _ChainLink(own[0], bytes(chain), False, True, None)

    def follow(before: bytes) -> bytes:
        entry = tables.to_entry(tuple(own))
        digest = personal_digest(entry, salt) if erasure is None else personal
        return chain_of_entry(before, digest, entry)

    return _ChainLink(own[0], bytes(chain), False, erasure is not None, follow)


def _label(row: Row) -> _ChainLink:
    *own, chain = row
    return _ChainLink(
        own[0],
        bytes(chain),
        True,
        False,
        lambda before: chain_of_label(before, tables.to_label(tuple(own))),
    )

"""The chain: a digest of each row and of the digest before it.

A row has two parts. What may have to be erased (who it was, the transaction as it was sent, its
features) is digested by itself, with a random salt that is erased with it: nobody can find a card
number again by trying all of them. The chain takes that digest and the rest of the row::

    personal = blake2b(json([entities, length of body, length of features]) + body + features, salt)
    chain    = blake2b(chain of the row before + personal + json(the rest of the row))

So an erased row keeps its place in the chain, and all else that is written in it can be proved.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from rarefind.desk.records import Entry, LabelEntry

__all__ = ["SALT", "START", "Position", "chain_of_entry", "chain_of_label", "personal_digest"]

SIZE = 32
#: Bytes of a row's salt.
SALT = 16
#: What the first row is chained to.
START = bytes(SIZE)
_encode = msgspec.json.encode


class Position(NamedTuple):
    """A place in the ledger: the sequence of a row, and the chain up to it."""

    sequence: int
    chain: bytes

    def __str__(self) -> str:
        return f"{self.sequence}:{self.chain.hex()}"

    @classmethod
    def from_text(cls, text: str) -> Position:
        """Read a position as it was printed."""
        number, _, chain = text.strip().partition(":")
        try:
            found = cls(int(number), bytes.fromhex(chain))
        except ValueError:
            found = cls(-1, b"")
        if found.sequence < 0 or len(found.chain) != SIZE:
            raise ValueError(
                f"{text[:100]!r} is not a position: give it as it was printed, a number, a colon "
                f"and {2 * SIZE} digits and letters."
            )
        return found


def personal_digest(entry: Entry, salt: bytes) -> bytes:
    """Return the digest of what an erasure takes away."""
    lengths = _encode((entry.entities, len(entry.body), len(entry.features)))
    digest = blake2b(lengths, digest_size=SIZE, salt=salt)
    digest.update(entry.body)
    digest.update(entry.features)
    return digest.digest()


def chain_of_entry(before: bytes, personal: bytes, entry: Entry) -> bytes:
    """Return the chain up to a transaction."""
    known = entry.outcome
    rest = _encode(
        (
            "transaction",
            entry.sequence,
            entry.id,
            entry.time,
            entry.arrived,
            entry.amount,
            known.decision,
            known.by,
            known.rules,
            known.score,
            known.priority,
            known.alert,
            known.propensity,
            known.rule_book,
            known.model,
        )
    )
    return blake2b(before + personal + rest, digest_size=SIZE).digest()


def chain_of_label(before: bytes, label: LabelEntry) -> bytes:
    """Return the chain up to a label."""
    rest = _encode(("label", label.sequence, label.id, label.arrived, label.fraud, label.source))
    return blake2b(before + rest, digest_size=SIZE).digest()

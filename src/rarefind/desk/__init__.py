"""The running system: from a transaction to a decision to a verdict to a better model.

The rooms, in the order a transaction meets them: ``intake`` reads it, ``features`` know what its
card and its terminal did before, ``decision`` denies or accepts it and says what is risky,
``ledger`` keeps it for good, ``alerts`` are the short list that people work, ``labels`` what they
and time have found, ``worker`` does what can wait, ``api`` and ``client`` are the doors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily
from rarefind.desk.schema import Schema

if TYPE_CHECKING:
    from rarefind.desk.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "Schema"]

__getattr__ = lazily(
    __name__, {"AsyncClient": "rarefind.desk.client", "Client": "rarefind.desk.client"}
)

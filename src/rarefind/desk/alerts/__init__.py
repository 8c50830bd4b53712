"""The short list that people work: cases, and the queue of them that fits the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily
from rarefind.desk.alerts._case import (
    VERDICTS,
    Alert,
    Case,
    CaseError,
    NoSuchCase,
    StoredVerdict,
    Verdict,
)
from rarefind.desk.alerts._cases import Cases
from rarefind.desk.alerts._erasure import ERASED, delete_closed, erase_entity, erase_reasons
from rarefind.desk.alerts._expected import Expected, expected_hits
from rarefind.desk.alerts._from_ledger import Added
from rarefind.desk.alerts._lists import CaseLists

if TYPE_CHECKING:
    from rarefind.desk.alerts._queue import Queue, Today

__all__ = [
    "ERASED",
    "VERDICTS",
    "Added",
    "Alert",
    "Case",
    "CaseError",
    "CaseLists",
    "Cases",
    "Expected",
    "NoSuchCase",
    "Queue",
    "StoredVerdict",
    "Today",
    "Verdict",
    "delete_closed",
    "erase_entity",
    "erase_reasons",
    "expected_hits",
]

# The queue brings what lists of tables need, and most processes have no queue.
__getattr__ = lazily(
    __name__, {"Queue": "rarefind.desk.alerts._queue", "Today": "rarefind.desk.alerts._queue"}
)

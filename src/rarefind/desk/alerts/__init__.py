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
from rarefind.desk.alerts._expected import Expected, ExpectedAmount, expected_amount, expected_hits
from rarefind.desk.alerts._from_ledger import Added
from rarefind.desk.alerts._lists import CaseLists
from rarefind.desk.alerts._notes import LONGEST_NOTE, CaseNotes, Note
from rarefind.desk.alerts._summaries import CaseLine, case_lines, with_rule
from rarefind.desk.alerts._waiting import After, WaitingCases

if TYPE_CHECKING:
    from rarefind.desk.alerts._queue import Queue, Today, Track

__all__ = [
    "ERASED",
    "LONGEST_NOTE",
    "VERDICTS",
    "Added",
    "After",
    "Alert",
    "Case",
    "CaseError",
    "CaseLine",
    "CaseLists",
    "CaseNotes",
    "Cases",
    "Expected",
    "ExpectedAmount",
    "NoSuchCase",
    "Note",
    "Queue",
    "StoredVerdict",
    "Today",
    "Track",
    "Verdict",
    "WaitingCases",
    "case_lines",
    "delete_closed",
    "erase_entity",
    "erase_reasons",
    "expected_amount",
    "expected_hits",
    "with_rule",
]

# The queue brings what lists of tables need, and most processes have no queue.
__getattr__ = lazily(
    __name__, dict.fromkeys(("Queue", "Today", "Track"), "rarefind.desk.alerts._queue")
)

"""All that a desk keeps of one card or person, for them."""

from __future__ import annotations

from rarefind.desk.messages._base import ReadMessage
from rarefind.desk.messages._cases import CaseSummary, GivenVerdict, WrittenNote
from rarefind.desk.messages._claims import ClaimSummary
from rarefind.desk.messages._transactions import DecidedTransaction

__all__ = ["EntityExport", "ExportedCase"]


class ExportedCase(ReadMessage, frozen=True, kw_only=True):
    """A case, what was found, and what people have written about it."""

    case: CaseSummary
    verdicts: list[GivenVerdict]
    notes: list[WrittenNote]


class EntityExport(ReadMessage, frozen=True, kw_only=True):
    """All that is stored of an entity, the newest transactions first.

    ``cases`` come with the first page, ``claims`` with the transactions they are about; ``next`` is
    the ``before`` of the next page, or null.
    """

    entity: str
    key: str
    transactions: list[DecidedTransaction]
    claims: list[ClaimSummary]
    cases: list[ExportedCase]
    next: int | None

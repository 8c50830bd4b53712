"""What the web process and its clients tell each other: one definition for both ends.

Times are in UTC, amounts in the unit in which they were sent. What a client sends has no other
fields than these; what it reads may have more in a later version.
"""

from rarefind.desk.messages._cases import (
    AlertSummary,
    CaseFile,
    CasePage,
    CaseSummary,
    ExpectedHits,
    GivenVerdict,
    NewVerdict,
    NextCase,
    QueueToday,
    Snooze,
    VerdictPage,
)
from rarefind.desk.messages._claims import ClaimPage, ClaimSummary, NewClaim
from rarefind.desk.messages._control import (
    AuditEntry,
    AuditPage,
    BlockPage,
    BlockSummary,
    LiftedBlock,
    MadeWebhook,
    ModelSummary,
    NewBlock,
    NewWebhook,
    OrderPage,
    OrderSummary,
    Promotion,
    WebhookSummary,
)
from rarefind.desk.messages._entities import EntityExport, ExportedCase
from rarefind.desk.messages._rules import (
    ListNames,
    ListSummary,
    ListValues,
    NewRole,
    NewRule,
    RuleHistory,
    RuleSummary,
)
from rarefind.desk.messages._tokens import MadeToken, NewToken, TokenPage, TokenSummary
from rarefind.desk.messages._transactions import (
    DecidedTransaction,
    GivenLabel,
    TransactionPage,
    TransactionSummary,
)

__all__ = [
    "AlertSummary",
    "AuditEntry",
    "AuditPage",
    "BlockPage",
    "BlockSummary",
    "CaseFile",
    "CasePage",
    "CaseSummary",
    "ClaimPage",
    "ClaimSummary",
    "DecidedTransaction",
    "EntityExport",
    "ExpectedHits",
    "ExportedCase",
    "GivenLabel",
    "GivenVerdict",
    "LiftedBlock",
    "ListNames",
    "ListSummary",
    "ListValues",
    "MadeToken",
    "MadeWebhook",
    "ModelSummary",
    "NewBlock",
    "NewClaim",
    "NewRole",
    "NewRule",
    "NewToken",
    "NewVerdict",
    "NewWebhook",
    "NextCase",
    "OrderPage",
    "OrderSummary",
    "Promotion",
    "QueueToday",
    "RuleHistory",
    "RuleSummary",
    "Snooze",
    "TokenPage",
    "TokenSummary",
    "TransactionPage",
    "TransactionSummary",
    "VerdictPage",
    "WebhookSummary",
]

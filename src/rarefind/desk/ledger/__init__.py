"""What was decided, for good: an append-only book in which nothing can be changed unseen.

Transactions and labels share one sequence. Each row is chained to the one before it by a digest,
so that :meth:`Ledger.verify` names every row that was changed, removed or moved.
"""

from rarefind.desk.database import CommitUnknown as LedgerUnknown
from rarefind.desk.database import DatabaseUnavailable as LedgerUnavailable
from rarefind.desk.ledger._ledger import Ledger
from rarefind.desk.ledger._outcomes import Listed, OutcomeRow
from rarefind.desk.ledger._retention import Day
from rarefind.desk.ledger._tail import Deleted, Tail
from rarefind.desk.ledger._verify import Verification
from rarefind.desk.ledger.chain import Position

__all__ = [
    "Day",
    "Deleted",
    "Ledger",
    "LedgerUnavailable",
    "LedgerUnknown",
    "Listed",
    "OutcomeRow",
    "Position",
    "Tail",
    "Verification",
]

"""The process that does what can wait: cases, reasons, messages, snapshots, comparisons.

It reads the ledger and never writes it; all that it finds goes into the desk's own database.
"""

from rarefind.desk.worker._worker import work

__all__ = ["work"]

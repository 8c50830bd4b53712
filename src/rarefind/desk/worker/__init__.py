"""The process that does what can wait: cases, reasons, messages, snapshots, comparisons.

It reads the ledger and never writes it; all that it finds goes into the desk's own database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.desk.worker._worker import work

__all__ = ["work"]

__getattr__ = lazily(__name__, {"work": "rarefind.desk.worker._worker"})

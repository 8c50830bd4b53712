"""The process that does what can wait: cases, reasons, messages, snapshots, comparisons.

It reads the ledger and never writes it; all that it finds goes into the desk's own database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.desk.worker._jobs import Job, catch_up
    from rarefind.desk.worker._worker import make_jobs, work

__all__ = ["Job", "catch_up", "make_jobs", "work"]

__getattr__ = lazily(
    __name__,
    {
        "Job": "rarefind.desk.worker._jobs",
        "catch_up": "rarefind.desk.worker._jobs",
        "make_jobs": "rarefind.desk.worker._worker",
        "work": "rarefind.desk.worker._worker",
    },
)

"""The HTML report to hand over: what a budget finds, why, and how far to trust it."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.report._report import Report, make_report, write_report

__all__ = ["Report", "make_report", "write_report"]

__getattr__ = lazily(__name__, dict.fromkeys(__all__, "rarefind.report._report"))

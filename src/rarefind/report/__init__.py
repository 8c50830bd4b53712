"""The HTML pages to hand over."""

from rarefind.report._make import make_report

__all__ = ["make_report"]

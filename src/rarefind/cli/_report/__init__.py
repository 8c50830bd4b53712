"""``rarefind report``: a model and a file on one page that needs no network to open."""

from rarefind.cli._report._command import report

__all__ = ["report"]

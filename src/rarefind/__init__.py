"""Find the few that matter: learning from extremely imbalanced data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._lazy import lazily

if TYPE_CHECKING:
    from rarefind.model import TableModel
    from rarefind.persistence import load, save

__version__ = "0.1.0"
__all__ = ["TableModel", "__version__", "load", "save"]

__getattr__ = lazily(
    __name__,
    {
        "TableModel": "rarefind.model",
        "load": "rarefind.persistence",
        "save": "rarefind.persistence",
    },
)

"""Find the few that matter: learning from extremely imbalanced data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.persistence import load, save
    from rarefind.tables import TableModel

__version__ = "0.2.0.dev0"
__all__ = ["TableModel", "__version__", "load", "save"]

__getattr__ = lazily(
    __name__,
    {
        "TableModel": "rarefind.tables",
        "load": "rarefind.persistence",
        "save": "rarefind.persistence",
    },
)

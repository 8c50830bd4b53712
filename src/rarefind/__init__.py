"""Find the few that matter: learning from extremely imbalanced data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rarefind.model import TableModel
    from rarefind.persistence import load, save

__version__ = "0.1.0"
__all__ = ["TableModel", "__version__", "load", "save"]

_HOMES = {
    "TableModel": "rarefind.model",
    "load": "rarefind.persistence",
    "save": "rarefind.persistence",
}


def __getattr__(name: str) -> Any:
    # Imported when first used: the command line must start before scikit-learn does.
    if name not in _HOMES:
        raise AttributeError(f"module 'rarefind' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)

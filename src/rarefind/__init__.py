"""Find the few that matter: learning from extremely imbalanced data."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.persistence import load, save
    from rarefind.tables import TableModel

__version__ = "0.2.0.dev0"
__all__ = ["TableModel", "__version__", "load", "save"]

# OpenMP's threads wait for the next round by counting in a loop. On a machine with other work that
# takes many times the work itself, so let them sleep; unless it was set, or OpenMP is there already
# and has read it. No result depends on it.
if not {"sklearn", "xgboost"} & sys.modules.keys():
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__getattr__ = lazily(
    __name__,
    {
        "TableModel": "rarefind.tables",
        "load": "rarefind.persistence",
        "save": "rarefind.persistence",
    },
)

"""The product for people with a table: models, lists, estimates and monitoring."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.tables._estimate import Evidence
    from rarefind.tables._model import TableModel
    from rarefind.tables._monitor import MonitorReport, monitor
    from rarefind.tables._open import open_model
    from rarefind.tables._rank_file import rank_file

__all__ = ["Evidence", "MonitorReport", "TableModel", "monitor", "open_model", "rank_file"]

__getattr__ = lazily(
    __name__,
    {
        "Evidence": "rarefind.tables._estimate",
        "MonitorReport": "rarefind.tables._monitor",
        "TableModel": "rarefind.tables._model",
        "monitor": "rarefind.tables._monitor",
        "open_model": "rarefind.tables._open",
        "rank_file": "rarefind.tables._rank_file",
    },
)

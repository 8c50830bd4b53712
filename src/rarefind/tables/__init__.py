"""The product for people with a table: models, lists, estimates and monitoring."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.tables._card import ModelCard
    from rarefind.tables._estimate import BudgetEstimate, ListValue
    from rarefind.tables._hold_out import (
        CannotHoldOutError,
        HoldOut,
        estimate_budget,
        hold_out,
        whole_budget,
    )
    from rarefind.tables._model import TableModel
    from rarefind.tables._monitor import MonitorReport, monitor
    from rarefind.tables._open import open_model
    from rarefind.tables._plain import PlainXGBoost
    from rarefind.tables._rank_file import rank_file
    from rarefind.tables._rule_model import RuleModel
    from rarefind.tables._verdicts import ListCheck
    from rarefind.tables.list_files import write_list

__all__ = [
    "BudgetEstimate",
    "CannotHoldOutError",
    "HoldOut",
    "ListCheck",
    "ListValue",
    "ModelCard",
    "MonitorReport",
    "PlainXGBoost",
    "RuleModel",
    "TableModel",
    "estimate_budget",
    "hold_out",
    "monitor",
    "open_model",
    "rank_file",
    "whole_budget",
    "write_list",
]

__getattr__ = lazily(
    __name__,
    {
        "BudgetEstimate": "rarefind.tables._estimate",
        "CannotHoldOutError": "rarefind.tables._hold_out",
        "HoldOut": "rarefind.tables._hold_out",
        "ListCheck": "rarefind.tables._verdicts",
        "ListValue": "rarefind.tables._estimate",
        "ModelCard": "rarefind.tables._card",
        "MonitorReport": "rarefind.tables._monitor",
        "PlainXGBoost": "rarefind.tables._plain",
        "RuleModel": "rarefind.tables._rule_model",
        "TableModel": "rarefind.tables._model",
        "estimate_budget": "rarefind.tables._hold_out",
        "hold_out": "rarefind.tables._hold_out",
        "monitor": "rarefind.tables._monitor",
        "open_model": "rarefind.tables._open",
        "rank_file": "rarefind.tables._rank_file",
        "whole_budget": "rarefind.tables._hold_out",
        "write_list": "rarefind.tables.list_files",
    },
)

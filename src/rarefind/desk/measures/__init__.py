"""What rules and models are worth, by ripe labels alone: measured on what the desk has seen.

The last weeks of the ledger are kept as columns (:class:`HistoryKeeper` writes them in the worker,
:class:`History` reads them), and everything that judges takes its labels from :class:`RipeLabels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily
from rarefind.desk.measures._pieces import delete_pieces_with
from rarefind.desk.measures._ripe import SOURCES, RipeColumns, RipeLabels

if TYPE_CHECKING:
    from rarefind.desk.measures._counts import RuleCounts, RuleMeasures
    from rarefind.desk.measures._history import History, HistoryRows
    from rarefind.desk.measures._keeper import HistoryKeeper
    from rarefind.desk.measures._measured import MeasuredRule, MeasuredRules, Proposal, Proposals
    from rarefind.desk.measures._others import Others
    from rarefind.desk.measures._trial import HistoryTrial, TrialCase, try_rule
    from rarefind.desk.measures._watch import RuleWatch

__all__ = [
    "SOURCES",
    "History",
    "HistoryKeeper",
    "HistoryRows",
    "HistoryTrial",
    "MeasuredRule",
    "MeasuredRules",
    "Others",
    "Proposal",
    "Proposals",
    "RipeColumns",
    "RipeLabels",
    "RuleCounts",
    "RuleMeasures",
    "RuleWatch",
    "TrialCase",
    "delete_pieces_with",
    "try_rule",
]

_ROOM = "rarefind.desk.measures"
# The process that decides only deletes pieces.
__getattr__ = lazily(
    __name__,
    {
        "RuleCounts": f"{_ROOM}._counts",
        "RuleMeasures": f"{_ROOM}._counts",
        "History": f"{_ROOM}._history",
        "HistoryRows": f"{_ROOM}._history",
        "HistoryKeeper": f"{_ROOM}._keeper",
        "MeasuredRule": f"{_ROOM}._measured",
        "MeasuredRules": f"{_ROOM}._measured",
        "Proposal": f"{_ROOM}._measured",
        "Proposals": f"{_ROOM}._measured",
        "Others": f"{_ROOM}._others",
        "HistoryTrial": f"{_ROOM}._trial",
        "TrialCase": f"{_ROOM}._trial",
        "try_rule": f"{_ROOM}._trial",
        "RuleWatch": f"{_ROOM}._watch",
    },
)

"""A rule is tried on the last weeks before it is saved: what it would have raised, and added."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import polars as pl

from rarefind._core.types import Bools
from rarefind.desk.measures._counts import RuleCounts, RuleMeasures, Totals
from rarefind.desk.measures._history import History, HistoryRows
from rarefind.desk.measures._others import Others
from rarefind.rules import Rule

__all__ = ["HistoryTrial", "TrialCase", "try_rule"]

_MOST_CASES = 20


@dataclass(frozen=True, slots=True)
class TrialCase:
    """A case that a rule would raise: the transaction of an entity that stands first.

    ``fraud`` is None where it is not known by now; ``is_new`` says that nothing else has raised it.
    """

    id: str
    time: int
    entity: str
    amount: int
    score: float | None
    fraud: bool | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class HistoryTrial:
    """What a rule would have done on the last weeks.

    Attributes
    ----------
    measures : RuleMeasures
    rows, missing : int
        The transactions it was tried on, and places of the ledger that are not at hand now.
    first, last : int or None
        The time of the first and of the last of them.
    entities : int
        Different cards, or whatever is checked, among its alerts.
    cases : list of TrialCase
        Those that would stand first, one an entity.
    seconds : float
        How long it took.
    """

    measures: RuleMeasures
    rows: int
    missing: int
    first: int | None
    last: int | None
    entities: int
    cases: list[TrialCase]
    seconds: float


def try_rule(rule: Rule, history: History, others: Others, name: str | None = None) -> HistoryTrial:
    """Try a rule on the history.

    Parameters
    ----------
    rule : Rule
        As :meth:`Rules.check` gives it.
    history : History
    others : Others
        What else raises alerts.
    name : str, optional
        The rule of the desk that it would replace: that one does not count among the others.
    """
    begin = time.perf_counter()
    rows = history.rows()
    fires = rows.fires(rule)
    raised = others.raised(rows, without=name)
    totals = Totals()
    totals.add(rows)
    times = rows.values("time")
    return HistoryTrial(
        totals.measures(RuleCounts.of(rows, fires, raised)),
        len(rows),
        rows.missing,
        int(times.min()) if len(rows) else None,
        int(times.max()) if len(rows) else None,
        rows.frame["entity"].filter(pl.Series(fires)).n_unique() if fires.any() else 0,
        _cases(rows, fires, raised),
        time.perf_counter() - begin,
    )


def _cases(rows: HistoryRows, fires: Bools, raised: Bools) -> list[TrialCase]:
    """The alerts of the highest priority, the newest first among equals, one an entity."""
    places = np.flatnonzero(fires)
    order = np.lexsort((places, rows.values("priority")[places]))[::-1]
    found: dict[str, TrialCase] = {}
    for place in places[order].tolist():
        row = rows.frame.row(place, named=True)
        if row["entity"] in found:
            continue
        is_known = bool(rows.judged[place])
        found[row["entity"]] = TrialCase(
            row["id"],
            row["time"],
            row["entity"],
            row["amount"],
            row["score"],
            bool(rows.labels.fraud[place]) if is_known else None,
            not raised[place],
        )
        if len(found) == _MOST_CASES:
            break
    return list(found.values())

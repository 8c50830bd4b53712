"""A rule is tried on the last weeks before it is saved: what it would have raised, and added."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TypeAlias

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


#: Priority, place in the ledger, and the case.
_Found: TypeAlias = tuple[float, int, TrialCase]


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
    now = others.now(without=name)
    totals, counts, missing, count = Totals(), RuleCounts(), 0, 0
    times: list[int] = []
    entities: list[pl.Series] = []
    best: list[_Found] = []
    for rows in history.batches({*rule.columns, *now.columns}):
        missing += rows.missing
        if not len(rows):
            continue
        count += len(rows)
        fires, raised = rows.fires(rule), now.raised(rows)
        totals.add(rows)
        counts += RuleCounts.of(rows, fires, raised)
        times += [int(rows.values("time").min()), int(rows.values("time").max())]
        entities.append(rows.frame["entity"].filter(pl.Series(fires)).unique())
        best = _first_of_each([*best, *_cases(rows, fires, raised)])
    return HistoryTrial(
        totals.measures(counts),
        count,
        missing,
        min(times, default=None),
        max(times, default=None),
        pl.concat(entities).n_unique() if entities else 0,
        [case for _, _, case in best],
        time.perf_counter() - begin,
    )


def _cases(rows: HistoryRows, fires: Bools, raised: Bools) -> list[_Found]:
    """The alerts of the highest priority, the newest first among equals, one an entity."""
    places = np.flatnonzero(fires)
    order = np.lexsort((places, rows.values("priority")[places]))[::-1]
    found: dict[str, _Found] = {}
    for place in places[order].tolist():
        row = rows.frame.row(place, named=True)
        if row["entity"] in found:
            continue
        is_known = bool(rows.judged[place])
        case = TrialCase(
            row["id"],
            row["time"],
            row["entity"],
            row["amount"],
            row["score"],
            bool(rows.labels.fraud[place]) if is_known else None,
            not raised[place],
        )
        found[case.entity] = row["priority"], row["sequence"], case
        if len(found) == _MOST_CASES:
            break
    return list(found.values())


def _first_of_each(found: list[_Found]) -> list[_Found]:
    """The cases that stand first of those of several batches, one an entity."""
    found.sort(key=lambda each: each[:2], reverse=True)
    by_entity: dict[str, _Found] = {}
    for each in found:
        by_entity.setdefault(each[2].entity, each)
    return list(by_entity.values())[:_MOST_CASES]

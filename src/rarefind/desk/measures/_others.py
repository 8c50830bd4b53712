"""Where alerts are raised by what is in force now: rules that deny or score, and models."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from rarefind._core.types import Array, Bools
from rarefind.desk.control import Control, DeskRule
from rarefind.desk.measures._history import HistoryRows
from rarefind.rules import Rule, RuleError
from rarefind.rules.rule_set import RuleSet

__all__ = ["RAISING", "Others", "OthersNow", "model_alerts", "readable_rules"]

#: The roles that raise alerts, or deny.
RAISING = ("scoring", "blocking")
#: So many rules are run at a time: each takes a byte a row.
_AT_ONCE = 16


def readable_rules(control: Control, rules: Sequence[DeskRule]) -> dict[str, Rule]:
    """Return rules that can be run, by name; one that cannot has lost a list or a column."""
    found = {}
    for rule in rules:
        try:
            found[rule.name] = control.rules.check(
                rule.text, name=rule.name, constants=rule.constants, weight=rule.weight
            )
        except RuleError:
            continue
    return found


def model_alerts(rows: HistoryRows, thresholds: Mapping[str, float]) -> Bools:
    """Where the model that decided had a score for an alert, by the threshold it has now."""
    found = np.zeros(len(rows), dtype=bool)
    for digest, threshold in thresholds.items():
        where = (pl.col("model") == digest) & (pl.col("score") >= threshold)
        found |= rows.frame.select(where.fill_null(False).alias("x"))["x"].to_numpy()
    return found


class Others:
    """Counts, for each row, the rules in force that fire there, and knows it until they change.

    Parameters
    ----------
    control : Control
    """

    def __init__(self, control: Control) -> None:
        self._control = control
        self._rules: Any = None
        #: By the first row of some rows: the last one, their number, and what was counted.
        self._known: dict[int, tuple[int, int, Array]] = {}
        self._lock = threading.Lock()

    def now(self, without: str | None = None) -> OthersNow:
        """Return what raises alerts now, leaving out a rule by its name."""
        rules = [rule for rule in self._control.rules.all() if rule.role in RAISING]
        made = readable_rules(self._control, rules)
        thresholds = {model.digest: model.threshold for model in self._control.models.all()}
        return OthersNow(self, made, thresholds, without if without in made else None)

    def counted(self, rows: HistoryRows, made: Mapping[str, Rule]) -> Array:
        """Return how many of the rules fire on each row."""
        if not len(rows):
            return np.empty(0, dtype=np.int16)
        rules = [(rule.name, rule.text, rule.constants, rule.lists) for rule in made.values()]
        first, last = rows.values("sequence")[[0, -1]].tolist()
        with self._lock:
            if self._rules != rules:
                self._rules, self._known = rules, {}
            known = self._known.get(first)
            if known is None or known[:2] != (last, len(rows)):
                known = last, len(rows), _count_firing(rows, list(made.values()))
                self._known[first] = known
            return known[2]


@dataclass(frozen=True)
class OthersNow:
    """The rules and models that raise alerts at a time, but for one rule."""

    others: Others
    made: Mapping[str, Rule]
    thresholds: Mapping[str, float]
    without: str | None

    @property
    def columns(self) -> set[str]:
        """What these rules look at."""
        return {name for rule in self.made.values() for name in rule.columns}

    def raised(self, rows: HistoryRows) -> Bools:
        """Where something raises an alert."""
        counted = self.others.counted(rows, self.made)
        if self.without is not None:
            counted = counted - rows.fires(self.made[self.without])
        return (counted > 0) | model_alerts(rows, self.thresholds)


def _count_firing(rows: HistoryRows, rules: Sequence[Rule]) -> Array:
    """Return how many of the rules fire on each row."""
    found = np.zeros(len(rows), dtype=np.int16)
    for start in range(0, len(rules), _AT_ONCE):
        fires = rows.fires_of(RuleSet(rules[start : start + _AT_ONCE]))
        found += fires.sum(axis=1, dtype=np.int16)
    return found

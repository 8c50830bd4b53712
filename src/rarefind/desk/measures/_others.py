"""Where alerts are raised by what is in force now: rules that deny or score, and models."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rarefind._core.types import Array, Bools
from rarefind.desk.control import Control, DeskRule
from rarefind.desk.measures._history import HistoryRows
from rarefind.rules import Rule, RuleError
from rarefind.rules.rule_set import RuleSet

__all__ = ["RAISING", "Others", "model_alerts", "readable_rules"]

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
        self._known: tuple[Any, Array] | None = None
        self._lock = threading.Lock()

    def raised(self, rows: HistoryRows, without: str | None = None) -> Bools:
        """Where something raises an alert, leaving out a rule by its name."""
        rules = [rule for rule in self._control.rules.all() if rule.role in RAISING]
        made = readable_rules(self._control, rules)
        with self._lock:
            counted = self._counted(rows, made)
        if without in made:
            counted = counted - rows.fires(made[without])
        thresholds = {model.digest: model.threshold for model in self._control.models.all()}
        return (counted > 0) | model_alerts(rows, thresholds)

    def _counted(self, rows: HistoryRows, made: Mapping[str, Rule]) -> Array:
        key = (
            id(rows.frame) if not len(rows) else rows.values("sequence")[[0, -1]].tolist(),
            len(rows),
            rows.missing,
            [(rule.name, rule.text, rule.constants, rule.lists) for rule in made.values()],
        )
        if self._known is None or self._known[0] != key:
            self._known = key, _count_firing(rows, list(made.values()))
        return self._known[1]


def _count_firing(rows: HistoryRows, rules: Sequence[Rule]) -> Array:
    """Return how many of the rules fire on each row."""
    found = np.zeros(len(rows), dtype=np.int16)
    for start in range(0, len(rules), _AT_ONCE):
        fires = rows.fires_of(RuleSet(rules[start : start + _AT_ONCE]))
        found += fires.sum(axis=1, dtype=np.int16)
    return found

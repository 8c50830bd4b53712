"""Watches rules: measures them on the history, and retires those that fail limits of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from rarefind.desk.api.logs import Log
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import THE_DESK, Control, DeskRule
from rarefind.desk.measures._counts import RuleCounts, RuleMeasures, Totals
from rarefind.desk.measures._history import History, HistoryRows
from rarefind.desk.measures._measured import MeasuredRules
from rarefind.desk.measures._others import RAISING, model_alerts, readable_rules
from rarefind.rules import Rule

__all__ = ["RuleWatch", "failed_limit", "judged_since"]

#: Seconds between two measurements where no rule changes.
_EVERY = 3_600.0


@dataclass
class _RuleMeasurement:
    """A measurement on its way through the pieces of the history."""

    rules: list[DeskRule]
    made: dict[str, Rule]
    since: dict[str, int]
    thresholds: dict[str, float]
    pieces: Iterator[HistoryRows]
    totals: Totals = field(default_factory=Totals)
    counts: dict[str, RuleCounts] = field(default_factory=dict)
    #: Of rules that a person has turned on again: what came since then.
    later: dict[str, tuple[Totals, RuleCounts]] = field(default_factory=dict)


class RuleWatch:
    """A job of the worker; each call of ``run`` measures all rules on a piece.

    Parameters
    ----------
    control : Control
    history : History
    measured : MeasuredRules
    zone : str
        Of the days on which rules end.
    clock : DeskClock
    log : Log
    every : float
        Seconds between two measurements where no rule changes.
    """

    def __init__(
        self,
        control: Control,
        history: History,
        measured: MeasuredRules,
        zone: str,
        clock: DeskClock,
        log: Log,
        *,
        every: float = _EVERY,
    ) -> None:
        self._control, self._history, self._measured = control, history, measured
        self._zone, self._clock, self._log, self._every = ZoneInfo(zone), clock, log, every
        self._walk: _RuleMeasurement | None = None
        self._versions: list[tuple[str, int]] = []
        self._due = 0.0

    def run(self) -> bool:
        """Do a piece; True if there are more."""
        if self._walk is None:
            rules = self._control.rules.all()
            if self._sunset(rules):
                rules = self._control.rules.all()
            versions = [(rule.name, rule.version) for rule in rules]
            if versions == self._versions and time.monotonic() < self._due:
                return False
            if self._history.missing():
                return False  # a part of the history would retire what the whole does not
            self._walk = self._begin(rules)
            self._versions, self._due = versions, time.monotonic() + self._every
            return True
        walk = self._walk
        rows = next(walk.pieces, None)
        if rows is None:
            self._walk = None
            self._end(walk)
            return False
        if rows.missing:  # it was damaged, or somebody was erased from it
            self._walk, self._versions = None, []
            return False
        _measure(walk, rows)
        return True

    def _begin(self, rules: list[DeskRule]) -> _RuleMeasurement:
        made = readable_rules(self._control, rules)
        columns = {name for rule in made.values() for name in rule.columns}
        since = {rule.name: judged_since(self._control.rules.history(rule.name)) for rule in rules}
        return _RuleMeasurement(
            rules,
            made,
            {name: at for name, at in since.items() if at},
            {model.digest: model.threshold for model in self._control.models.all()},
            self._history.pieces(columns),
        )

    def _sunset(self, rules: Sequence[DeskRule]) -> bool:
        """Turn off the rules whose day has come."""
        now = datetime.fromtimestamp(self._clock.now() // 10**9, self._zone).date().isoformat()
        past = [r for r in rules if r.role != "off" and r.sunset is not None and r.sunset <= now]
        for rule in past:
            self._retire(rule, f"Its last day was the one before {rule.sunset}.")
        return bool(past)

    def _end(self, walk: _RuleMeasurement) -> None:
        found = {
            rule.name: (rule.version, walk.totals.measures(walk.counts.get(rule.name, _NOTHING)))
            for rule in walk.rules
            if rule.name in walk.made
        }
        self._measured.store(found, self._clock.now())
        for rule in walk.rules:
            if rule.role == "off" or rule.name not in found:
                continue
            measures = found[rule.name][1]
            if rule.name in walk.since:
                totals, counts = walk.later.get(rule.name, (Totals(), _NOTHING))
                measures = totals.measures(counts)
            why = failed_limit(rule, measures)
            if why:
                self._retire(rule, why)

    def _retire(self, rule: DeskRule, why: str) -> None:
        if self._control.rules.retire(rule, why) is not None:
            self._log.warning("rule-retired", rule=rule.name, why=why)


_NOTHING = RuleCounts()


def _measure(walk: _RuleMeasurement, rows: HistoryRows) -> None:
    """Count all rules on a piece."""
    walk.totals.add(rows)
    rules = [rule for rule in walk.rules if rule.name in walk.made]
    fires = {rule.name: rows.fires(walk.made[rule.name]) for rule in rules}
    raising = {rule.name for rule in rules if rule.role in RAISING}
    number = np.zeros(len(rows), dtype=np.int16)
    for name in raising:
        number += fires[name]
    by_model = model_alerts(rows, walk.thresholds)
    for name, own in fires.items():
        others = (number - own > 0 if name in raising else number > 0) | by_model
        counts = walk.counts.get(name, _NOTHING)
        walk.counts[name] = counts + RuleCounts.of(rows, own, others)
        since = walk.since.get(name)
        if since is not None:
            late = rows.values("arrived") >= since
            totals, counts = walk.later.get(name, (Totals(), _NOTHING))
            part = rows.at(late)
            totals.add(part)
            walk.later[name] = totals, counts + RuleCounts.of(part, own[late], others[late])


def judged_since(versions: Sequence[DeskRule]) -> int:
    """Return when a person has turned a rule on that the desk had retired; 0 if never."""
    since, was_retired = 0, False
    for version in versions:
        if version.person == THE_DESK and version.role == "off":
            was_retired = True
        elif was_retired and version.role != "off":
            since, was_retired = version.at, False
    return since


def failed_limit(rule: DeskRule, measures: RuleMeasures) -> str:
    """Return which of its own limits a rule fails, as a sentence; empty if none.

    A share fails only where the whole of its 95 % interval does: few alerts retire nothing.
    """
    checks: dict[str, tuple[str, float | None, Callable[[], tuple[float, float]] | None]] = {
        "min_precision": ("precision", measures.precision, lambda: measures.precision_interval),
        "min_detection_rate": (
            "detection rate",
            measures.detection_rate,
            lambda: measures.detection_interval,
        ),
        "max_false_alert_rate": (
            "false-alert rate",
            measures.false_alert_rate,
            lambda: measures.false_alert_interval,
        ),
        "max_false_alerts_a_day": ("number of false alerts a day", None, None),
    }
    for name, bound in rule.limits.items():
        what, value, interval = checks[name]
        if interval is None:
            value = measures.false_alerts_a_day
            if value is not None and value > bound:
                return f"The {what} is {value:.3g}, above its limit {bound:g}."
        elif value is not None:
            low, high = interval()
            fails = high < bound if name.startswith("min") else low > bound
            if fails:
                side = "below" if name.startswith("min") else "above"
                return (
                    f"The {what} is {value:.3g} (95 % interval {low:.3g} to {high:.3g}), {side} "
                    f"its limit {bound:g}."
                )
    return ""

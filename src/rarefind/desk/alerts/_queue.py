"""The queue is a budget: so many checks a period, always the current top."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from rarefind.data.clock import period_around
from rarefind.desk.alerts._case import Case, CaseError
from rarefind.desk.alerts._cases import Cases
from rarefind.desk.alerts._expected import Expected, expected_hits
from rarefind.desk.clock import DeskClock
from rarefind.desk.schema import Schema
from rarefind.tables.lists import on_list

__all__ = ["Queue", "Today"]


@dataclass(frozen=True, slots=True)
class Today:
    """What there is to check in this period.

    Attributes
    ----------
    begins, ends : int
        The period, such as today in the desk's time zone.
    budget : int
        Checks of the period.
    done : int
        Cases decided in it.
    hits : int
        Those of them that were fraud.
    cases : list of Case
        To check now, the highest priority first, those that others hold among them.
    expected : Expected
        How many of these cases are fraud, by the model's probabilities.
    amount : int
        What is at stake in these cases, in minor units.
    waiting : int
        Cases beyond the budget.
    """

    begins: int
    ends: int
    budget: int
    done: int
    hits: int
    cases: list[Case]
    expected: Expected
    amount: int
    waiting: int


class Queue:
    """The short list that people work.

    A small share of the budget goes to cases that were drawn at random with known probability, so
    that what the model does not find can be estimated too; the rest to the highest priorities.

    Parameters
    ----------
    cases : Cases
    schema : Schema
    clock : DeskClock
    """

    def __init__(self, cases: Cases, schema: Schema, clock: DeskClock) -> None:
        self._cases, self._schema, self._clock = cases, schema, clock

    def today(self) -> Today:
        """Return what there is to check in the current period."""
        alerts = self._schema.alerts
        zone = self._schema.transaction.time_zone
        begins, ends = period_around(self._clock.now(), zone, alerts.per)
        decided = self._cases.decided_since(begins)
        waiting = [case for case in self._cases.unclosed() if case.state != "snoozed"]
        chosen = self._choose(waiting, decided)
        probability, amount = self._cases.at_stake([case.id for case in chosen])
        return Today(
            begins=begins,
            ends=ends,
            budget=alerts.budget,
            done=len(decided),
            hits=sum(case.verdict == "fraud" for case in decided),
            cases=chosen,
            expected=expected_hits(probability),
            amount=amount,
            waiting=len(waiting) - len(chosen),
        )

    def next_for(self, person: str) -> Case | None:
        """Take the case of the highest priority that nobody has; None where there is none left.

        Who has a case already keeps it and gets it again.
        """
        cases = self.today().cases
        own = [case for case in cases if case.holder == person]
        for case in own or [case for case in cases if case.holder is None]:
            try:
                return self._cases.take(case.id, person)
            except CaseError:  # somebody was quicker
                continue
        return None

    def _choose(self, waiting: list[Case], decided: list[Case]) -> list[Case]:
        """The cases for the checks that are left; cases come by priority, and stay so."""
        alerts = self._schema.alerts
        left = max(alerts.budget - len(decided), 0)
        is_random = np.array([case.kind == "random" for case in waiting], dtype=bool)
        share = ceil(alerts.random_share * alerts.budget)
        drawn = max(share - sum(case.kind == "random" for case in decided), 0)
        priority = np.array([case.priority for case in waiting], dtype=np.float64)
        # Of the random ones the first to come, so that their priority does not decide about them.
        age = -np.array([case.opened for case in waiting], dtype=np.float64)
        by_chance = on_list(age, min(drawn, left), among=is_random)
        risky = on_list(priority, left - int(by_chance.sum()), among=~is_random)
        held = np.array([case.state == "taken" for case in waiting], dtype=bool)
        listed = by_chance | risky | held
        return [case for case, kept in zip(waiting, listed, strict=True) if kept]
